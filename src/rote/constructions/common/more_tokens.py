"""A model with further tokens: answers that its vocabulary did not have."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from rote.models.model import Model
from rote.tasks.vocabulary import Vocabulary


def with_vocabulary(model: Model, vocabulary: Vocabulary, unembedded: Tensor | None = None) -> Model:
    """The model with this vocabulary, whose first tokens are its own.

    Further tokens have embeddings of zero and rows `unembedded` of W_U (default: zero).
    """
    more = len(vocabulary) - len(model.weights["tokens"])
    if not more:
        return replace(model, vocabulary=vocabulary, reader=None)
    weights = dict(model.weights)
    for name in ("tokens", "unembed"):
        weights[name] = torch.nn.functional.pad(weights[name], (0, 0, 0, more))
    if unembedded is not None:
        weights["unembed"][-more:] = unembedded
    return Model(model.spec.model_copy(update={"vocab": len(vocabulary)}), weights, vocabulary)
