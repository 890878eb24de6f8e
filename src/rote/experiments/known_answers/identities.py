"""Published numbers and identities, recomputed by the library's own code."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch

from rote.experiments.known_answers.known_answer import KnownAnswer
from rote.measure.divergence import divergence
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.tasks.generators import random_distributions
from rote.theory import bounds
from rote.theory.phi import phi, phi_inverse

PART = "identities"
SPEC = AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20)


def identities() -> Iterator[KnownAnswer]:
    """Numbers that papers or arithmetic determine."""
    promised = next(bound for bound in bounds(SPEC) if bound.id == "dana2025.theorem1")
    # Dana, Pydi and Chevaleyre 2025, Theorem 1: H k + d associations.
    yield KnownAnswer.exactly(
        PART, "associations guaranteed by Theorem 1 (20 heads of 10, dim 10)", 210, promised.associations
    )
    shapes = SPEC.shapes().values()
    yield KnownAnswer.exactly(
        PART,
        "parameters: the formula, and the tensors counted",
        SPEC.parameters(),
        sum(math.prod(shape) for shape in shapes),
    )
    back = phi_inverse(phi(123.0, 2500, 50), 2500, 50)
    yield KnownAnswer.within(PART, "phi (Corollary 2) and its inverse", abs(back / 123 - 1), 1e-12)
    bits = 2.0
    task = random_distributions(8, 2, entropy=bits, seed=1)
    yield KnownAnswer.within(
        PART, "entropy of distributions drawn at 2 bits", float(np.abs(task.row_entropies / bits - 1).max()), 1e-9
    )
    # A model of zeros answers every token alike: log2 N - H bits away from a row of entropy H.
    spec = AttentionOnly(vocab=8, context=2, dim=2, head_dim=2, heads=1)
    silent = Model(spec, {name: torch.zeros(shape) for name, shape in spec.shapes().items()}, task.vocabulary)
    away = divergence(silent, task).expected / math.log(2)
    yield KnownAnswer.within(
        PART, "divergence of a model that says nothing: log2 N - H", abs(away / (3 - bits) - 1), 1e-6
    )
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((200, 200))
    error = float(np.abs(matrix @ np.linalg.solve(matrix, np.eye(200)) - np.eye(200)).max())
    yield KnownAnswer.within(PART, "a linear system of 200 unknowns, solved and put in", error, 1e-9)
