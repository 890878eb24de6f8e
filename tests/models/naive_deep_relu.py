"""Deep ReLU networks by plain loops, and random ones in which every tensor matters."""

from __future__ import annotations

from typing import Any

import numpy as np
from naive import Arrays, softmax

from rote.models.model import Model
from rote.testing.architectures import lively_model


def deep_relu(spec: Any, weights: Arrays, given: Any) -> np.ndarray:
    states = [_layers(weights, "before", _column(spec, value)) for value in _entering(spec, weights, given)]
    found = []
    for place in range(len(states)) if spec.every_position else [len(states) - 1]:
        values = [float(weights["attention.value"][0] @ state) for state in states]
        if spec.mixing == "sum":
            mixed = sum(values)
        else:
            query = float(weights["attention.query"][0] @ states[place])
            scores = [query * float(weights["attention.key"][0] @ state) for state in states]
            mixed = sum(a * value for a, value in zip(softmax(scores), values, strict=True))
        state = _layers(weights, "after", states[place] + mixed * weights["attention.output"][:, 0])
        found.append(weights["unembed.weight"] * state[0] + weights["unembed.bias"])
    return np.array(found) if spec.every_position else found[0]


def _entering(spec: Any, weights: Arrays, given: Any) -> list[float]:
    if spec.input == "vectors":
        contexts, query = given
        return [float(weights["project"] @ vector + weights["shift"][0]) for vector in [*contexts, query]]
    if spec.input == "table":
        return [float(weights["table"][place if spec.ordered else 0, token]) for place, token in enumerate(given)]
    entering = [float(weights["tokens"][token]) for token in given]
    return [x + float(weights["positions"][s]) for s, x in enumerate(entering)] if spec.ordered else entering


def _column(spec: Any, value: float) -> np.ndarray:
    state = np.zeros(spec.width)
    state[0] = value
    return state


def _layers(weights: Arrays, name: str, state: np.ndarray) -> np.ndarray:
    for matrix, bias in zip(weights.get(f"{name}.weight", []), weights.get(f"{name}.bias", []), strict=True):
        state = np.maximum(matrix @ state + bias, 0)
    return state


def lively(spec: Any, seed: int) -> Model:
    """Nothing negative in and around the first row of every layer, so that no label is 0 on all inputs."""
    model = lively_model(spec, seed)
    for name, tensor in model.weights.items():
        if name.endswith("bias") or name.startswith(("tokens", "positions", "table", "attention.value")):
            tensor.abs_()
        elif name in ("before.weight", "after.weight"):
            tensor[:, 0].abs_()
    model.weights["attention.output"].abs_()
    return model
