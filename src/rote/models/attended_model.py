"""A model whose attention on the contexts of its facts is kept, as edits change W_O and W_U alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from rote.models.forward import unembedded
from rote.models.forward.kept_attention import KeptAttention
from rote.models.model import Model


@dataclass(frozen=True, eq=False)
class AttendedModel(Model):
    """The model, with the same logits bit for bit: kept attention is used on the contexts that it is kept for."""

    attention: KeptAttention | None = None
    """None if what was given is not the attention of these weights."""

    @classmethod
    def of(cls, model: Model, attention: KeptAttention | None) -> AttendedModel:
        return cls(**{field.name: getattr(model, field.name) for field in fields(Model)}, attention=attention)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attention is not None and not self.attention.is_of(self.spec, self.weights):
            object.__setattr__(self, "attention", None)

    @torch.no_grad()
    def logits_in_parts(self, inputs: Any) -> Iterator[Tensor]:
        inputs = self._tensors(inputs)
        if self.attention is not None and torch.equal(inputs, self.attention.contexts):
            yield from unembedded(self.attention.stream(self.weights), self.weights["unembed"])
        else:
            yield from super().logits_in_parts(inputs)
