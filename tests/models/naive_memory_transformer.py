"""Transformers with a gated memory layer by plain loops over all groups and slots, and random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from naive import Arrays

from rote.models.model import Model
from rote.testing.architectures import lively_model


def memory_transformer(spec: Any, weights: Arrays, given: Any) -> np.ndarray:
    entered = np.zeros(spec.dim)
    for place, token in enumerate(given):
        if token < spec.key_tokens:
            entered += weights["table"][place if spec.ordered else 0, token]
    folded = _mlp(entered, weights["fold.bias"], weights["fold.output"])
    scores = [a * folded[0] + c for a, c in zip(weights["gate.weight"], weights["gate.bias"], strict=True)]
    read = np.zeros(spec.digits)
    for group in range(spec.groups):
        gate = 1.0 if group == int(np.argmax(scores)) else 0.0
        for head in range(spec.heads):
            query = sum(weights["query"][group, head, j] * folded[j] for j in range(spec.dim))
            distances = [abs(query - key) for key in weights["slots"]]
            for slot in range(spec.slots):
                attention = 1.0 if slot == int(np.argmin(distances)) else 0.0
                read += gate * attention * weights["values"][group, head, slot]
    answer = _mlp(read, weights["answer.bias"], weights["answer.output"])
    return weights["unembed.weight"] @ answer + weights["unembed.bias"]


def _mlp(state: np.ndarray, bias: np.ndarray, output: np.ndarray) -> np.ndarray:
    after = state.copy()
    for j, value in enumerate(state):
        for b, w in zip(bias[j], output[j], strict=True):
            after[j] += w * max(0.0, 1 - max(0.0, b - value))
    return after


def lively(spec: Any, seed: int) -> Model:
    """Every second seed: lines and keys in order, as built models have them, so that both ways to search are run."""
    model = lively_model(spec, seed)
    if seed % 2:
        centred = torch.linspace(-1, 1, spec.groups)
        model.weights["gate.weight"].copy_(centred)
        model.weights["gate.bias"].copy_(-centred.square() / 2)
        model.weights["slots"].copy_(torch.linspace(-2, 2, spec.slots))
    return model
