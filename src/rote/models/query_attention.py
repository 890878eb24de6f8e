"""One attention layer that reads a separate query: Mahdavi, Liao and Thrampoulidis 2024 (ICLR).

For a context E (n x d) and a query e (d), head h gives

    z_h = E^T softmax( E W_K^hT W_Q^h e ),     output = W ( W_O [W_V^1 z_1; ...; W_V^H z_H] ) (+ bias),

without a skip connection, an MLP or a normalisation. Notation: `context` is n, `dim` d, `head_dim` k, `value_dim` d_v,
`heads` H, `outputs` the classes, or the length of a real target.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from rote.models.spec import Count, Spec


class QueryAttention(Spec, frozen=True):
    """The theorem's model by default; `experiment` gives the one the paper trains.

    Parameters: 2dkH + 2d d_v H + d outputs, plus d(d + 1) with `embed` and `outputs` with `readout_bias`.

    >>> import rote
    >>> rote.QueryAttention(context=3, dim=4, head_dim=2, heads=5, outputs=2).parameters()
    128
    """

    architecture: ClassVar[str] = "query-attention"

    vocab: None = Field(default=None, exclude=True, repr=False)
    dim: Count
    head_dim: Count
    heads: Count
    value_dim: Count = 1
    outputs: Count
    embed: bool = False
    """One affine map d -> d on the query and on every token of the context first."""
    sinusoids: bool = False
    """Add fixed sinusoidal positions after it, the query first, then the context."""
    scale_scores: bool = False
    """Divide scores by sqrt(dim); the published experiments do so even when head_dim differs."""
    readout_bias: bool = False

    @classmethod
    def experiment(
        cls, context: int, outputs: int, heads: int = 20, head_dim: int = 64, dim: int = 64
    ) -> QueryAttention:
        """The model of the paper's experiments: 177,060 parameters for 100 classes, 170,625 for one real target."""
        return cls(
            context=context, dim=dim, head_dim=head_dim, heads=heads, value_dim=1, outputs=outputs,
            embed=True, sinusoids=True, scale_scores=True, readout_bias=True,
        )  # fmt: skip

    @property
    def reads(self) -> Literal["tokens", "vectors"]:
        return "vectors"

    @property
    def answers(self) -> int | None:
        return self.outputs if self.outputs > 1 else None

    def refusals(self) -> list[str]:
        return [
            f"`{name}` {size} exceeds `dim` {self.dim}: a head cannot carry more dimensions than it reads; "
            f"lower {name} to {self.dim} or add heads"
            for name, size in (("head_dim", self.head_dim), ("value_dim", self.value_dim))
            if size > self.dim
        ]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        heads, dim = self.heads, self.dim
        shapes: dict[str, tuple[int, ...]] = {}
        if self.embed:
            shapes |= {"embed": (dim, dim), "embed_bias": (dim,)}
        shapes |= {
            "query": (heads, self.head_dim, dim),
            "key": (heads, self.head_dim, dim),
            "value": (heads, self.value_dim, dim),
            "output": (heads, dim, self.value_dim),
            "readout": (self.outputs, dim),
        }
        if self.readout_bias:
            shapes["readout_bias"] = (self.outputs,)
        return shapes

    def head_axes(self) -> dict[str, int]:
        return dict.fromkeys(("query", "key", "value", "output"), 0)

    def parameters(self) -> int:
        d, k, d_v, H = self.dim, self.head_dim, self.value_dim, self.heads
        embed = d * (d + 1) if self.embed else 0
        return embed + 2 * d * (k + d_v) * H + self.outputs * (d + self.readout_bias)

    def floats_per_input(self) -> int:
        per_head = self.head_dim + 2 * self.dim + 2 * self.context + self.value_dim
        return self.heads * per_head + 2 * self.context * self.dim + 3 * self.dim + 2 * self.outputs
