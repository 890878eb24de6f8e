"""Computations with known answers: constructions, published identities, and arithmetic of the device.

Constructions recall every guaranteed fact, and their certificates verify. Published numbers and identities are
recomputed by the library's own code. Products of integers below 2^24 are exact in float32, below 2^53 in float64,
whatever the order of summation. A device that rounds its inputs to fewer bits (TF32 keeps eleven, bfloat16 eight) gives
wrong entries. Exponentials and their sums are compared with the C library's in float64.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rote.constructions.build import build
from rote.errors import RoteError
from rote.folders import verify, write_folder
from rote.measure import divergence, recall
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.tasks.facts import facts
from rote.tasks.generators import random_distributions
from rote.theory import bounds
from rote.theory.phi import phi, phi_inverse


@dataclass(frozen=True)
class KnownAnswer:
    """A computation, its known answer, and the answer of this machine."""

    part: str
    """What is asked: arithmetic, an engine, building, identities, threads."""
    question: str
    known: str
    given: str
    holds: bool | None
    """None if it cannot run on this machine, for example for a vector width that the CPU lacks."""

    @classmethod
    def within(cls, part: str, question: str, error: float, tolerance: float) -> KnownAnswer:
        """An answer that is known up to a relative error. One that is not a number does not hold."""
        return cls(part, question, f"error up to {tolerance:.0e}", f"{error:.1e}", bool(error <= tolerance))

    @classmethod
    def exactly(cls, part: str, question: str, known: Any, given: Any) -> KnownAnswer:
        """An answer that is known to the last digit."""
        return cls(part, question, str(known), str(given), known == given)

    @classmethod
    def not_here(cls, part: str, question: str, why: str) -> KnownAnswer:
        """A computation that cannot run on this machine."""
        return cls(part, question, "-", why, None)


BUILDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("dana2025.theorem1", "countries:facts=300,seed=1", {}),
    ("dana2025.theorem1", "random:vocab=50,context=2,facts=210,seed=1", {"dim": 10, "head_dim": 10, "heads": 20}),
    ("rote.readout", "random:vocab=30,context=3,facts=400,seed=1", {}),
    ("huben2023", "random:vocab=12,context=2,facts=60,seed=1", {}),
    ("kajitsuka2025.theorem4_1", "random:vocab=9,context=2,facts=20,seed=1", {}),
    ("cabannes2024.least_squares", "random:vocab=40,context=1,facts=40,seed=1", {}),
)
"""Method, facts and sizes. The second is the paper's own example, at exactly the guarantee of Theorem 1."""


def building() -> Iterator[KnownAnswer]:
    """Build, write and read each model, and evaluate it on every fact."""
    for method, source, sizes in BUILDS:
        task = facts(source)
        question = f"{method} on {task.facts:,} facts: recalled, and verified from its folder"
        known = f"{task.facts:,}, verified"
        try:
            built = build(task, method, **sizes)
            with tempfile.TemporaryDirectory() as place:
                folder = write_folder(
                    Path(place) / "model", built.model, task.origin, built.provenance, built.certificate
                )
                held = verify(folder, task).holds
            given = f"{recall(built.model, task).recalled:,}, {'verified' if held else 'not verified'}"
        except RoteError as error:
            given = str(error)
        yield KnownAnswer.exactly("building", question, known, given)


PUBLISHED = AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20)


def identities() -> Iterator[KnownAnswer]:
    """Numbers that papers or arithmetic determine."""
    guaranteed = next(bound for bound in bounds(PUBLISHED) if bound.id == "dana2025.theorem1")
    # Dana, Pydi and Chevaleyre 2025, Theorem 1: H k + d associations.
    yield KnownAnswer.exactly(
        "identities", "associations guaranteed by Theorem 1 (20 heads of 10, dim 10)", 210, guaranteed.associations
    )
    shapes = PUBLISHED.shapes().values()
    yield KnownAnswer.exactly(
        "identities",
        "parameters: the formula, and the tensors counted",
        PUBLISHED.parameters(),
        sum(math.prod(shape) for shape in shapes),
    )
    back = phi_inverse(phi(123.0, 2500, 50), 2500, 50)
    yield KnownAnswer.within("identities", "phi (Corollary 2) and its inverse", abs(back / 123 - 1), 1e-12)
    bits = 2.0
    task = random_distributions(8, 2, entropy=bits, seed=1)
    yield KnownAnswer.within(
        "identities",
        "entropy of distributions drawn at 2 bits",
        float(np.abs(task.row_entropies / bits - 1).max()),
        1e-9,
    )
    # A model of zeros answers every token alike: log2 N - H bits away from a row of entropy H.
    spec = AttentionOnly(vocab=8, context=2, dim=2, head_dim=2, heads=1)
    silent = Model(spec, {name: torch.zeros(shape) for name, shape in spec.shapes().items()}, task.vocabulary)
    away = divergence(silent, task).expected / math.log(2)
    yield KnownAnswer.within(
        "identities", "divergence of a model that says nothing: log2 N - H", abs(away / (3 - bits) - 1), 1e-6
    )
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((200, 200))
    error = float(np.abs(matrix @ np.linalg.solve(matrix, np.eye(200)) - np.eye(200)).max())
    yield KnownAnswer.within("identities", "a linear system of 200 unknowns, solved and put in", error, 1e-9)


ORDER = 64
EXACT = {"float32": 2**24, "float64": 2**53}
"""Integers below these are exact."""
TOLERANCES = {"float32": 1e-6, "float64": 1e-14}


def arithmetic(device: str) -> Iterator[KnownAnswer]:
    """Products, exponentials and a log-softmax in both dtypes."""
    rng = np.random.default_rng(0)
    for name, limit in EXACT.items():
        dtype = getattr(torch, name)
        if not _has(dtype, device):
            yield KnownAnswer.not_here("arithmetic", f"anything in {name}", f"{device} has no {name}")
            continue
        # Each product and all partial sums stay below the limit.
        largest = math.isqrt(limit // ORDER)
        left, right = (rng.integers(-largest + 1, largest, size=(ORDER, ORDER)) for _ in range(2))
        product = (
            torch.tensor(left, dtype=dtype, device=device) @ torch.tensor(right, dtype=dtype, device=device)
        ).cpu()
        wrong = int((product.numpy().astype(np.int64) != left @ right).sum())
        yield KnownAnswer.exactly(
            "arithmetic", f"entries of a product of whole numbers that are wrong in {name}", 0, wrong
        )
        points = np.linspace(-20, 20, 401)
        powers = torch.tensor(points, dtype=dtype, device=device).exp().double().cpu().numpy()
        exact = np.array([math.exp(float(point)) for point in torch.tensor(points, dtype=dtype).double()])
        error = float(np.abs(powers / exact - 1).max())
        yield KnownAnswer.within("arithmetic", f"exponentials in {name}", error, TOLERANCES[name])
        logits = torch.arange(1000, dtype=dtype, device=device) / 100
        error = abs(float(logits.log_softmax(0).exp().sum()) - 1)
        yield KnownAnswer.within(
            "arithmetic", f"probabilities of a softmax add up to 1 in {name}", error, 20 * TOLERANCES[name]
        )


def _has(dtype: torch.dtype, device: str) -> bool:
    """True if the device supports a dtype; some have no float64."""
    try:
        torch.ones(1, dtype=dtype, device=device)
    except (TypeError, RuntimeError):
        return False
    return True
