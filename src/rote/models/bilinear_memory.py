"""A bilinear (gated) MLP between given embeddings: logits = W_U W ((A e_i) * (B e_i)), one vector e_i per distinct key.

Embeddings are given, here drawn at random; only the MLP, A, B and W, depends on what is stored. Notation: `width` is
the number of neurons m.
"""

from __future__ import annotations

from typing import ClassVar

from rote.models.keyed_memory import KeyedMemory
from rote.models.spec import Count


class BilinearMemory(KeyedMemory, frozen=True):
    """An MLP of m bilinear neurons between a table of input vectors and an unembedding: 3dm + d(N + inputs) parameters.

    >>> import rote
    >>> spec = rote.BilinearMemory(vocab=10, inputs=6, dim=4, width=5)
    >>> spec.parameters(), spec.free_parameters
    (124, 60)
    """

    architecture: ClassVar[str] = "bilinear-memory"

    width: Count

    def map_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"left": (self.width, self.dim), "right": (self.width, self.dim), "output": (self.dim, self.width)}

    def parameters(self) -> int:
        return 3 * self.dim * self.width + self.dim * (self.vocab + self.inputs)

    def floats_per_input(self) -> int:
        return 3 * self.dim + 3 * self.width + 2 * self.vocab + 2 * self.context
