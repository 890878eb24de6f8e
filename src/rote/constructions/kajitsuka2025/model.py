"""An exact Transformer as a rote model in floating point, where every value is exact.

Labels 0..C-1 become logits by logits_j = 2 a_j y - a_j^2, which is y^2 - (y - a_j)^2 and so largest at a_j = y, by at
least 1; outputs that are no label get weight 0 and bias -1. All are whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rote.constructions.kajitsuka2025.transformer import Facts, Transformer
from rote.constructions.vardi2022.floating import LayerStack, peak, stacked
from rote.constructions.vardi2022.memorizer import WordsTooLong
from rote.errors import CheckFailed
from rote.models.deep_relu import ATTENDED, MANTISSA_BITS, DeepRelu
from rote.models.model import Model, dtype_named
from rote.tasks.vocabulary import Vocabulary


@dataclass(frozen=True)
class Entrance:
    """How tokens enter a model: part of its specification, and the tensors."""

    fields: dict
    """Fields of the specification: input, dim, ordered, context, vocab."""
    weights: dict[str, np.ndarray]
    whole_from: int = 0
    """Layers of F1 before values are whole."""
    values: np.ndarray | None = None
    """What enters F1 for every token value of the facts, ascending, where that is not the value itself."""


def floating_model(
    transformer: Transformer,
    facts: Facts,
    entrance: Entrance,
    answers: np.ndarray,
    dtype: str,
    vocabulary: Vocabulary | None = None,
    every_position: bool = False,
) -> Model:
    """The model in this dtype, rejected if a sum over these facts does not fit it.

    `answers[label]` is the output (token) that label y stands for.
    """
    kind = dtype_named(dtype)
    width = max(transformer.width, ATTENDED + 1)
    columns = {"x": ATTENDED, "token": 1} if transformer.asked else {"x": ATTENDED}
    first = None if transformer.first is None else stacked(transformer.first, width, kind)
    second = stacked(transformer.second, width, kind, columns)
    unembedding = unembed(answers, entrance.fields["vocab"])
    bits = _word_bits(transformer, facts, entrance, first, second, len(answers))
    if bits > MANTISSA_BITS[dtype]:
        raise WordsTooLong(
            f"dtype {dtype}: the network computes with whole numbers of {bits} bits, and {dtype} holds "
            f"{MANTISSA_BITS[dtype]}; use `dtype=float64` (53), another `storage`, or exact arithmetic"
        )
    weights = {name: torch.from_numpy(array).to(kind) for name, array in {**entrance.weights, **unembedding}.items()}
    if first is not None:
        weights |= {"before.weight": first.weight, "before.bias": first.bias}
    weights |= {**_attention(transformer, width, kind), "after.weight": second.weight, "after.bias": second.bias}
    spec = DeepRelu(
        width=width,
        layers_before=0 if first is None else len(first.weight),
        layers_after=len(second.weight),
        word_bits=bits,
        mixing=transformer.mixing,
        every_position=every_position,
        **entrance.fields,
    )
    return Model(spec, weights, vocabulary)


def unembed(answers: np.ndarray, vocab: int) -> dict[str, np.ndarray]:
    """Weights 2 a_j and biases -a_j^2, with a_j the label that output j stands for."""
    labels = np.arange(len(answers), dtype=np.float64)
    weight, bias = np.zeros(vocab), np.full(vocab, -1.0)
    # 0 - 0 is a plain zero; -0 would be a signed one, which packed weights do not have.
    weight[answers], bias[answers] = 2 * labels, 0 - labels * labels
    return {"unembed.weight": weight, "unembed.bias": bias}


def logit_bits(labels: int) -> int:
    """Bits of the largest sum 2 a y + a^2."""
    return (3 * (labels - 1) ** 2 + 1).bit_length()


def _attention(transformer: Transformer, width: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """Zero queries and keys, so that all scores are 0; values are n times the code, so that averages are sums."""
    value, output = torch.zeros(1, width, dtype=dtype), torch.zeros(width, 1, dtype=dtype)
    value[0, 0] = transformer.length if transformer.mixing == "softmax" else 1
    output[ATTENDED, 0] = 1
    tensors = {"attention.value": value, "attention.output": output}
    if transformer.mixing == "softmax":
        tensors |= {f"attention.{name}": torch.zeros(1, width, dtype=dtype) for name in ("query", "key")}
    return tensors


def _word_bits(
    transformer: Transformer,
    facts: Facts,
    entrance: Entrance,
    first: LayerStack | None,
    second: LayerStack,
    labels: int,
) -> int:
    """Bits of the largest sum of magnitudes anywhere in the model over these facts."""
    values, index = np.unique(facts.attended, return_inverse=True)
    codes = transformer.codes.of(values)
    ids = codes[index.reshape(facts.attended.shape)].sum(1)
    largest = max(int(values.max()), int(codes.max()) * transformer.length, int(ids.max()))
    if first is not None:
        entering = torch.from_numpy(values if entrance.values is None else entrance.values)
        largest = max(largest, peak(first, {"x": entering}, entrance.whole_from))
        given = first.evaluate({"x": entering})["y"]
        if not torch.equal(given.double(), torch.from_numpy(codes).double()):
            raise CheckFailed("F1 does not give every token its code in this dtype")
    asked, rows = np.unique(np.stack([ids, facts.attended[:, -1]], 1), axis=0), {}
    rows["x"] = torch.from_numpy(asked[:, 0].copy())
    if transformer.asked:
        rows["token"] = torch.from_numpy(asked[:, 1].copy())
    return max(max(largest, peak(second, rows)).bit_length(), logit_bits(labels))
