"""Attention features: what W_O reads, centred on the last position.

The centred feature of head h is W_V^h (A^h(t) - x_S) = W_V^h sum_{s<S} a^h_s (x_s - x_S): without the part that every
head shares, which the skip connection carries anyway. Computed in float64 from weights rounded to the saved dtype.
Contexts that begin with a run of one token are told the run as one position (see `rote.models.forward.leading_run`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.random_attention.draw import Embeddings, Heads
from rote.models.forward.leading_run import leading_runs, split_by_run
from rote.models.spec import CACHED_FLOATS, rows_within
from rote.progress import SILENT, Progress

FIRST_FACTS = 256
"""Facts whose rank is taken first."""


class Differences:
    """x_s - x_S of every context, with the embedded last tokens: what all heads' features are made of."""

    def __init__(self, embeddings: Embeddings, contexts: Integer[Tensor, "facts context"]) -> None:
        everywhere = embeddings.everywhere()
        x = everywhere[torch.arange(contexts.shape[1]), contexts]
        self.dtype = embeddings.tokens.dtype
        self.before: Float[Tensor, "facts earlier dim"] = x[:, :-1] - x[:, -1:]
        last, self.last_place = torch.unique(contexts[:, -1], return_inverse=True)
        self.last_tokens: Float[Tensor, "last dim"] = everywhere[-1, last]
        first, self.runs = leading_runs(contexts)
        self.run_tokens: Float[Tensor, "earlier dim"] = everywhere[:-1, first]

    @property
    def facts(self) -> int:
        return self.before.shape[0]

    def last(self) -> Float[Tensor, "facts dim"]:
        """x_S of every context."""
        return self.last_tokens[self.last_place]

    def rank(self, rows: Integer[Tensor, " rows"] | None = None) -> int:
        """Dimension of the span of all x_s - x_S: at most min(d, N + S - 2); no head has more features than this."""
        rows = torch.arange(self.facts) if rows is None else rows
        found, seen = 0, 0
        # A few facts often span all dimensions, and more cannot span more.
        while seen < len(rows) and found < self.before.shape[2]:
            seen = min(len(rows), max(FIRST_FACTS, 16 * seen))
            flat = self.before[rows[:seen]].flatten(0, 1)
            sizes = torch.linalg.eigvalsh(flat.T @ flat)
            # Eigenvalues are squares of singular values: noise is eps, the smallest genuine ones far above its root.
            found = int((sizes > sizes[-1] * 1e-12).sum())
        return found

    def features(
        self,
        heads: Heads,
        width: int,
        out: Float[Tensor, "rows columns"],
        rows: Integer[Tensor, " rows"] | None = None,
        progress: Progress = SILENT,
    ) -> None:
        """Write the first `width` centred features of every head on these rows into `out`, heads side by side."""
        if rows is None:
            rows = torch.arange(self.facts)
        last, place = torch.unique(self.last_place[rows], return_inverse=True)
        parts = split_by_run(self.runs[rows], self.before.shape[1] + 1)
        dim = self.before.shape[2]
        head_step = max(1, min(len(heads), CACHED_FLOATS // (64 * dim)))
        with progress.stage("features", len(rows) * len(heads)) as stage:
            for first in range(0, len(heads), head_step):
                some = slice(first, min(first + head_step, len(heads)))
                part = heads.some(some)
                asking = _Asking.of(self.last_tokens[last], part, width)
                columns = out[:, some.start * width : some.stop * width].view(len(rows), len(part), width)
                for among, run in parts:
                    alike = asking.run_as_one(self.run_tokens[:run]) if run else None
                    fact_step = rows_within(CACHED_FLOATS, head_step * max(dim, self.before.shape[1] - run))
                    for some_rows in among.split(fact_step):
                        difference = self.before[rows[some_rows], run:]
                        columns[some_rows] = asking.features(difference, place[some_rows], alike)
                        stage.advance(len(some_rows) * len(part))


@dataclass(frozen=True)
class _Run:
    """Attention to a run of shared positions, as to one: its score and its mixture of x_s - x_S."""

    score: Float[Tensor, "last heads"]
    mixture: Float[Tensor, "last heads dim"]


@dataclass(frozen=True)
class _Asking:
    """Some heads with their query folded into their key, once per last token."""

    last_tokens: Float[Tensor, "last dim"]
    asked: Float[Tensor, "last heads dim"]
    value: Float[Tensor, "heads width dim"]

    @classmethod
    def of(cls, last_tokens: Float[Tensor, "last dim"], heads: Heads, width: int) -> _Asking:
        asked = torch.einsum("ud,hrd->uhr", last_tokens, heads.query.double())
        asked = torch.einsum("uhr,hrd->uhd", asked, heads.key.double())
        return cls(last_tokens, asked, heads.value[:, :width].double())

    def run_as_one(self, x: Float[Tensor, "run dim"]) -> _Run:
        difference = x - self.last_tokens[:, None]
        scores = self.asked @ difference.transpose(1, 2)
        return _Run(scores.logsumexp(2), scores.softmax(2) @ difference)

    def features(
        self, difference: Float[Tensor, "rows earlier dim"], place: Integer[Tensor, " rows"], run: _Run | None
    ) -> Float[Tensor, "rows heads width"]:
        """W_V^h sum_s a^h_s (x_s - x_S) of contexts whose last tokens are `place`."""
        scores = self.asked[place] @ difference.transpose(1, 2)
        if run is None:
            return _values(attend(scores), difference, self.value)
        attention = attend(torch.cat([scores, run.score[place][:, :, None]], 2))
        mixed = attention[:, :, :-1] @ difference
        mixed.addcmul_(attention[:, :, -1:], run.mixture[place])
        return torch.einsum("thd,hkd->thk", mixed, self.value)


def attend(scores: Float[Tensor, "facts heads earlier"]) -> Float[Tensor, "facts heads earlier"]:
    """Attention to the earlier positions; the last one, whose score is 0 after centring, takes the rest."""
    if scores.shape[-1] == 1:
        return scores.sigmoid()
    largest = scores.amax(-1, keepdim=True).clamp(min=0)
    weights = (scores - largest).exp()
    return weights / (weights.sum(-1, keepdim=True) + (-largest).exp())


def _values(
    attention: Float[Tensor, "facts heads earlier"],
    difference: Float[Tensor, "facts earlier dim"],
    value: Float[Tensor, "heads width dim"],
) -> Float[Tensor, "facts heads width"]:
    """W_V^h sum_s a^h_s (x_s - x_S): values first where few positions are mixed, since one large product is faster
    than many small ones."""
    facts, heads, earlier = attention.shape
    if earlier > 3:
        return torch.einsum("thd,hkd->thk", attention @ difference, value)
    flat = value.flatten(0, 1).T
    values = torch.zeros(facts, heads, value.shape[1], dtype=torch.float64)
    for position in range(earlier):
        each = difference[:, position] @ flat
        values.addcmul_(each.view(values.shape), attention[:, :, position, None])
    return values
