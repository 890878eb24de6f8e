"""Naive evaluators: plain loops over float64 numbers, written from each architecture's definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


def softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    return [weight / sum(weights) for weight in weights]


def attention_stream(spec: Any, weights: Arrays, tokens: np.ndarray, mlp: Any = None) -> np.ndarray:
    """Equations (1) and (2) layer by layer, every position, causal; returns the last position's stream."""
    compressed = getattr(spec, "variant", "per-head") == "shared" and spec.dim != spec.head_dim
    stream = [weights["tokens"][token].copy() for token in tokens]
    for layer in range(spec.layers):
        name = f"layers.{layer}."
        read = [weights["compress"] @ x for x in stream] if compressed else stream
        if spec.positions == "attention":  # read beside the stream, from one table
            read = [x + weights["positions"][s] for s, x in enumerate(read)]
        elif compressed:
            read = [x + weights[name + "positions"][s] for s, x in enumerate(read)]
        elif layer == 0 or spec.positions == "every-layer":
            table = weights["positions" if layer == 0 else name + "positions"]
            read = stream = [x + table[s] for s, x in enumerate(stream)]
        written = []
        for s in range(len(stream)):
            total = np.zeros_like(read[s])
            for h in range(spec.heads):
                query = weights[name + "query"][h] @ read[s]
                scores = [float(query @ (weights[name + "key"][h] @ read[r])) for r in range(s + 1)]
                if spec.scale_scores:
                    scores = [score / math.sqrt(spec.head_dim) for score in scores]
                mixed = sum(a * read[r] for r, a in enumerate(softmax(scores)))
                total = total + weights[name + "output"][h] @ (weights[name + "value"][h] @ mixed)
            written.append(weights["decompress"] @ total if compressed else total)
        stream = [x + y for x, y in zip(stream, written, strict=True)]
        if mlp is not None:
            stream = [x + mlp(layer, x) for x in stream]
    return stream[-1]


def attention_only(spec: Any, weights: Arrays, tokens: np.ndarray) -> np.ndarray:
    return weights["unembed"] @ attention_stream(spec, weights, tokens)


def reduced_attention(spec: Any, weights: Arrays, tokens: np.ndarray) -> np.ndarray:
    """The same with the numbers that are not stored: unit vectors of the first tokens, and so on."""

    def behind_identity(rows: np.ndarray) -> np.ndarray:
        return np.array([[float(i == j) for j in range(len(rows))] + list(row) for i, row in enumerate(rows)])

    zero = [0.0] * spec.dim
    units = [[float(i == j) for j in range(spec.dim)] for i in range(spec.dim)]
    whole = dict(weights)
    whole["tokens"] = np.array([*units, *weights["tokens"]])
    whole["positions"], whole["unembed"] = (np.array([zero, *weights[name]]) for name in ("positions", "unembed"))
    for name in ("layers.0.query", "layers.0.value"):
        whole[name] = np.array([behind_identity(head) for head in weights[name]])
    return attention_only(spec.full, whole, tokens)


def mlp_transformer(spec: Any, weights: Arrays, tokens: np.ndarray) -> np.ndarray:
    def activation(value: float) -> float:
        if spec.activation == "relu":
            return max(value, 0.0)
        return value * (1 + math.erf(value / math.sqrt(2))) / 2

    def mlp(layer: int, x: np.ndarray) -> np.ndarray:
        name = f"layers.{layer}."
        total = np.zeros(spec.dim)
        for neuron in range(spec.width):
            before = float(weights[name + "mlp_in"][neuron] @ x) + float(weights[name + "mlp_bias"][neuron])
            total += weights[name + "mlp_out"][:, neuron] * activation(before)
        return total

    return weights["unembed"] @ attention_stream(spec, weights, tokens, mlp)


def row_of(keys: np.ndarray, tokens: np.ndarray) -> int:
    (row,) = [row for row, key in enumerate(keys) if list(key) == list(tokens)]
    return row


def sequence_encoder(spec: Any, weights: Arrays, tokens: np.ndarray) -> np.ndarray:
    return weights["unembed"] @ weights["encodings"][row_of(weights["keys"], tokens)]


def linear_memory(spec: Any, weights: Arrays, tokens: np.ndarray) -> np.ndarray:
    return weights["unembed"] @ (weights["memory"] @ weights["inputs"][row_of(weights["keys"], tokens)])


def bilinear_memory(spec: Any, weights: Arrays, tokens: np.ndarray) -> np.ndarray:
    key = weights["inputs"][row_of(weights["keys"], tokens)]
    written = sum(
        weights["output"][:, j] * float(weights["left"][j] @ key) * float(weights["right"][j] @ key)
        for j in range(spec.width)
    )
    return weights["unembed"] @ written


def query_attention(spec: Any, weights: Arrays, given: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """z_h = E^T softmax(E W_K^hT W_Q^h e); the query is token 0 of the sequence and never a key."""
    context, query = given
    sequence = [query, *context]
    if spec.embed:
        sequence = [weights["embed"] @ x + weights["embed_bias"] for x in sequence]
    if spec.sinusoids:
        sequence = [x + sinusoid(place, spec.dim) for place, x in enumerate(sequence)]
    query, context = sequence[0], sequence[1:]
    concatenated, columns = [], []
    for h in range(spec.heads):
        asked = weights["query"][h] @ query
        scores = [float(asked @ (weights["key"][h] @ x)) for x in context]
        if spec.scale_scores:
            scores = [score / math.sqrt(spec.dim) for score in scores]
        z = sum(a * x for a, x in zip(softmax(scores), context, strict=True))
        concatenated += list(weights["value"][h] @ z)
        columns.append(weights["output"][h])
    outputs = weights["readout"] @ (np.concatenate(columns, 1) @ np.array(concatenated))
    return outputs + weights["readout_bias"] if spec.readout_bias else outputs


def sinusoid(place: int, dim: int) -> np.ndarray:
    values = []
    for index in range(dim):
        angle = place / 10_000 ** (2 * (index // 2) / dim)
        values.append(math.sin(angle) if index % 2 == 0 else math.cos(angle))
    return np.array(values)
