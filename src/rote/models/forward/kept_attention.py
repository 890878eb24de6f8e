"""One layer's attention on fixed contexts, kept for weights that differ in W_O and W_U alone.

Attention depends on neither, and most of a forward pass is attention. In the dtype of the weights, what is kept goes
through the same operations in the same order as in the forward pass, so that streams are the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.attention_only import AttentionOnly, heads_at_once
from rote.models.forward.attention_only import (
    FEW_POSITIONS,
    Attended,
    Slab,
    attended,
    head_values,
    score_scale,
    slices,
    summed_apart,
    table_pays,
)
from rote.models.forward.leading_run import leading_runs, split_by_run
from rote.models.spec import Spec

MOST_FLOATS = 2**24
"""Numbers of attention that are kept at most: 64 MiB in float32."""
MOST_ROWS = 1024
"""Facts whose features are kept in float64 at most."""
ATTENTION = ("tokens", "positions", "layers.0.query", "layers.0.key", "layers.0.value")


class KeptAttention:
    """The attention of these weights on these contexts."""

    def __init__(
        self, spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "facts context"]
    ) -> None:
        self.spec, self.contexts = spec, contexts.clone()
        self._weights = {name: weights[name].clone() for name in ATTENTION}
        self._parts = list(_parts(spec, self._weights, self.contexts))
        self._last: tuple[Tensor, Tensor] | None = None
        self._features = _Features(spec, self._weights, self.contexts)

    @staticmethod
    def pays(spec: AttentionOnly, contexts: Integer[Tensor, "facts context"]) -> bool:
        """Whether this is one plain layer, and its attention takes little memory."""
        if spec.layers > 1 or spec.compressed or spec.positions != "stream" or not spec.heads or len(contexts) < 2:
            return False
        each = spec.context if spec.context <= FEW_POSITIONS and table_pays(contexts) else spec.dim
        return len(contexts) * spec.heads * each <= MOST_FLOATS

    def is_of(self, spec: Spec, weights: dict[str, Tensor]) -> bool:
        """Whether these weights have this attention."""
        return spec == self.spec and all(
            weights[name].dtype == kept.dtype and torch.equal(weights[name], kept)
            for name, kept in self._weights.items()
        )

    def stream(self, weights: dict[str, Tensor]) -> Float[Tensor, "facts dim"]:
        """The residual stream at the last position for weights that fit."""
        output = weights["layers.0.output"]
        if self._last is None or not torch.equal(output, self._last[0]):
            self._last = output.clone(), self._stream(weights)
        return self._last[1]

    def _stream(self, weights: dict[str, Tensor]) -> Tensor:
        if len(self._parts) == 1:
            return self._parts[0].attended.stream(weights)
        stream = weights["tokens"].new_empty(len(self.contexts), self.spec.dim)
        for part in self._parts:
            stream[part.rows] = part.attended.stream(weights)
        return stream

    def exact_stream(self, weights: dict[str, Tensor], rows: Integer[Tensor, " rows"]) -> Float[Tensor, "rows dim"]:
        """The residual stream of some facts in float64, for weights that fit but for their dtype."""
        output = weights["layers.0.output"].double().transpose(0, 1).reshape(self.spec.dim, -1)
        last = self._weights["tokens"][self.contexts[rows, -1]].double() + self._weights["positions"][-1].double()
        return last + self._features.of(rows) @ output.T


class _Features:
    """W_V^h A^h of all heads on some facts in float64: what W_O reads. The facts asked for last are kept."""

    def __init__(self, spec: AttentionOnly, weights: dict[str, Tensor], contexts: Tensor) -> None:
        self._spec, self._contexts = spec, contexts
        self._weights = {name: tensor.double() for name, tensor in weights.items()}
        self._kept = torch.empty(min(MOST_ROWS, len(contexts)), spec.heads * spec.head_dim, dtype=torch.float64)
        self._place, self._count = torch.full((len(contexts),), -1), 0

    def of(self, rows: Integer[Tensor, " rows"]) -> Float[Tensor, "rows features"]:
        if len(rows) > len(self._kept):
            return self._computed(rows)
        new = rows[self._place[rows] < 0]
        if self._count + len(new) > len(self._kept):
            self._place.fill_(-1)
            self._count, new = 0, rows
        if len(new):
            places = torch.arange(self._count, self._count + len(new))
            self._kept[places], self._place[new] = self._computed(new), places
            self._count += len(new)
        return self._kept[self._place[rows]]

    def _computed(self, rows: Tensor) -> Tensor:
        x = self._weights["tokens"][self._contexts[rows]] + self._weights["positions"]
        part = _attending(self._weights)
        return head_values(part, x[:, -1:], x, score_scale(self._spec)).flatten(1)


@dataclass(frozen=True)
class _Part:
    """Contexts that begin alike."""

    rows: Integer[Tensor, " rows"]
    attended: Attended


def _parts(spec: AttentionOnly, weights: dict[str, Tensor], contexts: Tensor) -> Iterator[_Part]:
    """The parts of these contexts that the forward pass takes one by one."""
    for rows, run in split_by_run(leading_runs(contexts)[1], spec.context):
        own = contexts[rows]
        part = attended(spec, weights, own, run) if table_pays(own, run) else _untabled(spec, weights, own)
        yield _Part(rows, replace(part, slabs=tuple(list(slabs) for slabs in part.slabs)))


def _attending(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: weights[f"layers.0.{name}"] for name in ("query", "key", "value")}


def _untabled(spec: AttentionOnly, weights: dict[str, Tensor], contexts: Tensor) -> Attended:
    """The attention of one layer where tables do not pay."""
    x = weights["tokens"][contexts] + weights["positions"]
    parts = summed_apart(spec, _attending(weights))
    return Attended(spec, x[:, -1], tuple(_untabled_slabs(part, x, score_scale(spec)) for part in parts))


def _untabled_slabs(part: dict[str, Tensor], x: Float[Tensor, "batch context dim"], scale: float) -> Iterator[Slab]:
    asking = x[:, -1:]
    for heads in slices(len(part["query"]), heads_at_once(x.shape[0] * x.shape[1], asking.numel())):
        some = {name: tensor[heads] for name, tensor in part.items()}
        yield Slab(heads, partial(_through, head_values(some, asking, x, scale).flatten(2)))


def _through(values: Float[Tensor, "batch one features"], output: Tensor) -> Iterator[Tensor]:
    yield (values @ output.permute(0, 2, 1).reshape(values.shape[2], -1))[:, 0]
