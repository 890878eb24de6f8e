"""Attention features: what W_O reads, centred on the last position.

The centred feature of head h is W_V^h (A^h(t) - x_S) = W_V^h sum_{s<S} a^h_s (x_s - x_S): without the part that every
head shares, which the skip connection carries anyway. Computed in float64 from weights rounded to the saved dtype.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.random_attention.draw import Embeddings, Heads
from rote.progress import SILENT, Progress

WORKING_FLOATS = 2**20
"""Numbers in flight per tensor: 8 MiB, so that the passes over one chunk stay near the cache."""


class Differences:
    """x_s - x_S of every context, with the embedded last tokens: what all heads' features are made of."""

    def __init__(self, embeddings: Embeddings, contexts: Integer[Tensor, "facts context"]) -> None:
        everywhere = embeddings.everywhere()
        x = everywhere[torch.arange(contexts.shape[1]), contexts]
        self.dtype = embeddings.tokens.dtype
        self.before: Float[Tensor, "facts earlier dim"] = x[:, :-1] - x[:, -1:]
        last, self.last_place = torch.unique(contexts[:, -1], return_inverse=True)
        self.last_tokens: Float[Tensor, "last dim"] = everywhere[-1, last]

    @property
    def facts(self) -> int:
        return self.before.shape[0]

    def last(self) -> Float[Tensor, "facts dim"]:
        """x_S of every context."""
        return self.last_tokens[self.last_place]

    def rank(self, rows: Integer[Tensor, " rows"] | None = None) -> int:
        """Dimension of the span of all x_s - x_S: at most min(d, N + S - 2); no head has more features than this."""
        flat = (self.before if rows is None else self.before[rows]).flatten(0, 1)
        sizes = torch.linalg.eigvalsh(flat.T @ flat)
        # Eigenvalues are squares of singular values: noise is eps, the smallest genuine ones far above its root.
        return int((sizes > sizes[-1] * 1e-12).sum())

    def features(
        self,
        heads: Heads,
        width: int,
        out: Float[Tensor, "rows columns"],
        rows: Integer[Tensor, " rows"] | None = None,
        progress: Progress = SILENT,
    ) -> None:
        """Write the first `width` centred features of every head on these rows into `out`, heads side by side."""
        before = self.before if rows is None else self.before[rows]
        last, place = torch.unique(self.last_place if rows is None else self.last_place[rows], return_inverse=True)
        last_tokens = self.last_tokens[last]
        facts, earlier, dim = before.shape
        head_step = max(1, min(len(heads), WORKING_FLOATS // (64 * dim)))
        fact_step = max(1, WORKING_FLOATS // (head_step * max(dim, earlier)))
        with progress.stage("features", facts * len(heads)) as stage:
            for first in range(0, len(heads), head_step):
                some = slice(first, min(first + head_step, len(heads)))
                part = heads.some(some)
                value = part.value[:, :width].double()
                # The key map is folded into the query, once per last token.
                asked = torch.einsum("ud,hrd->uhr", last_tokens, part.query.double())
                asked = torch.einsum("uhr,hrd->uhd", asked, part.key.double())
                columns = out[:, some.start * width : some.stop * width].view(facts, len(part), width)
                for start in range(0, facts, fact_step):
                    span = slice(start, min(start + fact_step, facts))
                    difference = before[span]
                    scores = asked[place[span]] @ difference.transpose(1, 2)
                    columns[span] = _values(attend(scores), difference, value)
                    stage.advance((span.stop - span.start) * len(part))


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
    flat = value.flatten(0, 1).T.numpy()
    found = torch.zeros(facts, heads, value.shape[1], dtype=torch.float64)
    for place in range(earlier):
        each = torch.from_numpy(difference[:, place].contiguous().numpy() @ flat)
        found.addcmul_(each.view(found.shape), attention[:, :, place, None])
    return found
