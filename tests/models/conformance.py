"""What every architecture must satisfy. A new one adds a `Case` in `cases.py` and inherits every check.

A case gives small specifications of several shapes, inputs for them, a naive evaluator (plain loops in float64, written
from the definition and sharing no code with the forward pass), and combinations that must be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from random_models import random_model
from rote.models.model import Model
from rote.models.spec import Spec

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """One architecture in the suite."""

    specs: list[Spec]
    naive: Callable[[Any, Arrays, Any], np.ndarray]
    """Specification, float64 weights and one input to a vector of logits."""
    refused: list[tuple[dict[str, Any], str]]
    """Changes to the first specification that must be refused, and a word of the message."""
    inputs: Callable[[Any, Model, int, np.random.Generator], Any] = field(default=lambda *given: token_inputs(*given))
    models: Callable[[Any, int], Model] = field(default=lambda spec, seed: lively_model(spec, seed))
    """A model in float64 whose every tensor matters."""
    dtypes: tuple[str, ...] = ("float64", "float32", "bfloat16", "float16")


def lively_model(spec: Spec, seed: int) -> Model:
    """A random model whose biases are not zero, so that forgetting one shows."""
    model = random_model(spec, seed, "float64")
    generator = torch.Generator().manual_seed(seed + 1)
    for tensor in model.weights.values():
        if tensor.is_floating_point() and not bool(tensor.any()):
            tensor.copy_(torch.randn(tensor.shape, generator=generator, dtype=torch.float64))
    return model


def token_inputs(spec: Any, model: Model, count: int, generator: np.random.Generator) -> np.ndarray:
    return generator.integers(spec.vocab, size=(count, spec.context))


def key_inputs(spec: Any, model: Model, count: int, generator: np.random.Generator) -> np.ndarray:
    """Only keys that the model knows, in any order, some of them twice."""
    keys = model.weights["keys"].numpy()
    return keys[generator.integers(len(keys), size=count)]


def vector_inputs(spec: Any, model: Model, count: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return generator.uniform(size=(count, spec.context, spec.dim)), generator.uniform(size=(count, spec.dim))


def one(inputs: Any, row: int) -> Any:
    return tuple(part[row : row + 1] for part in inputs) if isinstance(inputs, tuple) else inputs[row : row + 1]


def arrays(model: Model) -> Arrays:
    return {name: tensor.numpy() for name, tensor in model.weights.items()}


def tolerance(spec: Spec, exact: Tensor, epsilon: float) -> float:
    """Rounding allowed in a result computed with unit roundoff `epsilon`.

    Every sum here has at most `longest` terms and a few sums follow one another; sqrt(longest) is how independent
    roundings add up, and 16 leaves room for the softmax, which multiplies a score's error by the score's size.
    """
    longest = max(max(shape) for shape in spec.shapes().values() if shape)
    return 16 * epsilon * float(np.sqrt(longest)) * max(1.0, float(exact.abs().max()))
