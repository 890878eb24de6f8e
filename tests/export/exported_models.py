"""What the tests of exports share: libraries that may be missing, models whose facts are known by definition."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import rote
from rote.constructions.build import Built
from rote.export import TARGETS
from rote.measure.recall import margins
from rote.models.model import Model
from rote.models.spec import Spec
from rote.tasks import AssociationTask, Vocabulary
from rote.testing.random_models import random_model


def need(target: str) -> None:
    """Skip, saying why, where a target's libraries are not installed; load them without their warnings."""
    for requirement in TARGETS[target].requirements:
        if requirement.problem() is not None:
            pytest.skip(f"{target}: {requirement.problem()}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(requirement.module)


@dataclass(frozen=True)
class Example:
    task: AssociationTask
    built: Built


def example(task: AssociationTask) -> Example:
    return Example(task, rote.build(task, "dana2025.theorem1"))


def known_by_definition(spec: Spec, seed: int = 0, dtype: str = "float32") -> tuple[Model, AssociationTask]:
    """A random model and the facts that it holds by some margin: its own answers."""
    vocab, context = spec.vocab, spec.context  # pyright: ignore[reportAttributeAccessIssue]
    vocabulary = Vocabulary(f"w{token}" for token in range(vocab))
    model = random_model(spec, seed, dtype, vocabulary)
    generator = torch.Generator().manual_seed(seed + 1)
    for tensor in model.weights.values():
        if tensor.is_floating_point() and not bool(tensor.any()):
            tensor.copy_(torch.randn(tensor.shape, generator=generator))
    if "keys" in model.weights:
        contexts = model.weights["keys"].numpy()
    else:
        every = np.stack(np.meshgrid(*[np.arange(vocab)] * context, indexing="ij"), -1).reshape(-1, context)
        contexts = every[np.random.default_rng(seed).permutation(len(every))[:40]]
    logits = model.to("float64").logits(contexts)
    answers = logits.argmax(1)
    clear = (margins(logits, answers) > 0.02).numpy()
    return model, AssociationTask(contexts[clear], answers.numpy()[clear], vocabulary)
