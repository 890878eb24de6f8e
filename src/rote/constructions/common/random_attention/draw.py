"""Random attention: everything of a one-layer attention-only model but its output maps and its unembedding.

Theorem 1 of Dana, Pydi and Chevaleyre 2025 needs attention in general position, so it is drawn at random. The weights
are rounded to the dtype that will be saved as they are drawn: features computed from them are then the saved model's
own, up to the rounding of its forward pass.

How large attention scores are drawn: one place for the choices of all constructions with random attention.

Large scores make attention switch sharply between positions, which keeps features of different heads apart; too large
ones make a head look at one and the same position whatever the context, so that its features vanish.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.models.attention_only import AttentionOnly

FOR_FITS = (5.0, 10.0, 2.5)
"""Standard deviations for readouts that are fitted, tried in this order until the features have the rank they should:
sharp enough to tell contexts apart, then sharper, then softer."""

AROUND = (1.0, 0.5, 2.0, 0.7)
"""Factors on the usual size for one draw after another: the usual one, then others around it."""


SOFTEST = 0.15
"""Factor below which scores are not made smaller again: attention is then nearly uniform."""


@dataclass(frozen=True)
class ScoreSize:
    """The scores' standard deviation: one that is given, or a factor times what suits the number of heads.

    Sharp attention keeps many heads apart, but with few heads it leaves facts on which none of them looks back. The
    rules lie where condition numbers were smallest.
    """

    given: float | None = None
    factor: float = 1.0

    def plain(self, heads: int) -> float:
        """For heads that read every context: 1.6 times the root of their number, within 2 and 30."""
        return self._or_given(min(30.0, max(2.0, 1.6 * heads**0.5)))

    def gated(self, heads: int) -> float:
        """For the heads of one group, whose query is the same for all its facts: a sixth of their number, 2 to 20."""
        return self._or_given(min(20.0, max(2.0, heads / 6)))

    @property
    def may_soften(self) -> bool:
        """Whether smaller scores may be tried: not where a size was given, and not without end."""
        return self.given is None and self.factor > SOFTEST

    def softer(self) -> ScoreSize:
        return ScoreSize(self.given, self.factor / 2)

    def _or_given(self, usual: float) -> float:
        return usual * self.factor if self.given is None else self.given


def score_sizes(given: float | None, redraws: int) -> list[ScoreSize]:
    """One per random initialization: the given size, or the usual one and others around it."""
    return [ScoreSize(given, AROUND[draw % len(AROUND)]) for draw in range(redraws + 1)]


@dataclass(frozen=True)
class Heads:
    """Query, key and value maps of some heads, in the dtype that is saved."""

    query: Float[Tensor, "heads rank dim"]
    key: Float[Tensor, "heads rank dim"]
    value: Float[Tensor, "heads head_dim dim"]

    def __len__(self) -> int:
        return len(self.query)

    def some(self, span: slice) -> Heads:
        return Heads(self.query[span], self.key[span], self.value[span])

    @staticmethod
    def together(parts: list[Heads]) -> Heads:
        return Heads(
            torch.cat([part.query for part in parts]),
            torch.cat([part.key for part in parts]),
            torch.cat([part.value for part in parts]),
        )


@dataclass(frozen=True)
class Embeddings:
    """Token and position vectors in the dtype that is saved."""

    tokens: Float[Tensor, "vocab dim"]
    positions: Float[Tensor, "context dim"]

    def everywhere(self) -> Float[Tensor, "context vocab dim"]:
        """x for every position and token, added in the saved dtype as the forward pass does, then widened."""
        return (self.positions[:, None] + self.tokens).double()


def model_weights(
    embeddings: Embeddings, heads: Heads, output: Float[Tensor, "heads dim head_dim"], unembed: Tensor
) -> dict[str, Tensor]:
    """All tensors of a one-layer model, in the dtype of its embeddings."""
    dtype = embeddings.tokens.dtype
    return {
        "tokens": embeddings.tokens,
        "positions": embeddings.positions,
        "layers.0.query": heads.query,
        "layers.0.key": heads.key,
        "layers.0.value": heads.value,
        "layers.0.output": output.to(dtype).contiguous(),
        "unembed": unembed.to(dtype).contiguous(),
    }


def draw_embeddings(spec: AttentionOnly, dtype: torch.dtype, generator: torch.Generator) -> Embeddings:
    """Gaussian tokens and positions of one size: larger positions would drown what tells contexts apart."""
    return Embeddings(
        tokens=gaussian((spec.vocab, spec.dim), generator).to(dtype),
        positions=gaussian((spec.context, spec.dim), generator).to(dtype),
    )


def draw_heads(
    heads: int, spec: AttentionOnly, score_std: float, dtype: torch.dtype, generator: torch.Generator
) -> Heads:
    """Gaussian scores of a chosen size and orthonormal value maps.

    Scores x_S^T W_Q^T W_K x_s have standard deviation `score_std`: with entries of variance v in W_Q and W_K and
    coordinates of variance 2 in x (token plus position) it is sqrt(r) 2 d v. Large scores make attention switch
    sharply between positions, which is what keeps features of different heads apart.
    """
    v = score_std / (math.sqrt(spec.rank) * 2 * spec.dim)
    shape = (heads, spec.rank, spec.dim)
    return Heads(
        query=(gaussian(shape, generator) * math.sqrt(v)).to(dtype),
        key=(gaussian(shape, generator) * math.sqrt(v)).to(dtype),
        value=orthonormal_rows(heads, spec.head_dim, spec.dim, generator).to(dtype),
    )


def gaussian(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def orthonormal_rows(heads: int, rows: int, dim: int, generator: torch.Generator) -> Float[Tensor, "heads rows dim"]:
    """Value maps with orthonormal rows: Gaussian ones lose a factor of the condition number per head.

    More rows than dimensions (wide heads) cannot be orthonormal; those beyond `dim` are Gaussian.
    """
    square = min(rows, dim)
    basis = torch.linalg.qr(gaussian((heads, dim, square), generator))[0].transpose(1, 2)
    if rows == square:
        return basis.contiguous()
    spare = gaussian((heads, rows - square, dim), generator) / math.sqrt(dim)
    return torch.cat([basis, spare], 1)
