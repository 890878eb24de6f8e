"""The MLP-based Transformer that Dana, Pydi and Chevaleyre 2025 compare with (experiment 5):

    logits(t) = W_U (W_2 sigma(W_1 . + b) + I) ( x_S + sum_h W_O^h W_V^h A^h(t) ).

Notation: `width` is w, the MLP's hidden neurons; `vocab` N, `context` S, `dim` d, `head_dim` k, `heads` H.
"""

from __future__ import annotations

from typing import ClassVar

from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.spec import Count, CountOrZero


class MlpTransformer(Transformer, frozen=True):
    """Attention as in `AttentionOnly` (variant per-head), each layer followed by an MLP with its own skip connection.

    Parameters, one layer: d(S + 2N + 4kH) + 2dw + w. Only the MLP's first matrix has a bias, as in the paper's
    released experiments. Width 0 is allowed: their grids start there, with attention alone.

    >>> import rote
    >>> rote.MlpTransformer(vocab=50, context=2, dim=10, head_dim=10, heads=1, width=100).parameters()
    3520
    """

    architecture: ClassVar[str] = "mlp-transformer"

    heads: Count = 1
    width: CountOrZero

    @property
    def attention(self) -> AttentionOnly:
        """The same model without its MLPs; the shared fields mean what they mean there."""
        return AttentionOnly.model_construct(**self.model_dump(exclude={"width", "activation"}))

    def refusals(self) -> list[str]:
        return self.attention.refusals()

    def shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = self.attention.shapes()
        unembed = shapes.pop("unembed")
        for layer in range(self.layers):
            shapes[f"layers.{layer}.mlp_in"] = (self.width, self.dim)
            shapes[f"layers.{layer}.mlp_bias"] = (self.width,)
            shapes[f"layers.{layer}.mlp_out"] = (self.dim, self.width)
        return shapes | {"unembed": unembed}

    def head_axes(self) -> dict[str, int]:
        return self.attention.head_axes()

    def parameters(self) -> int:
        return self.attention.parameters() + self.layers * (2 * self.dim * self.width + self.width)

    def floats_per_input(self) -> int:
        positions = 1 if self.layers == 1 else self.context
        return self.attention.floats_per_input() + 2 * positions * self.width

    def floats_held(self, inputs: int) -> int:
        positions = 1 if self.layers == 1 else self.context
        return self.attention.floats_held(inputs) + 2 * inputs * positions * self.width
