"""A bilinear (gated) MLP between given embeddings: logits = W_U W ((A e_i) * (B e_i)), one vector e_i per distinct key.

Embeddings are given, here drawn at random; only the MLP, A, B and W, depends on what is stored. Notation: `dim` is d,
`vocab` N, `width` the neurons m, `inputs` the number of distinct keys.
"""

from __future__ import annotations

from typing import ClassVar

from rote.models.sequence_encoder import too_many_keys
from rote.models.spec import Count, Spec


class BilinearMemory(Spec, frozen=True):
    """An MLP of m bilinear neurons between a table of input vectors and an unembedding: 3dm + d(N + inputs) parameters.

    `keys` (inputs x context) are the keys' tokens, all distinct: look-up structure, not parameters.

    >>> import rote
    >>> spec = rote.BilinearMemory(vocab=10, inputs=6, dim=4, width=5)
    >>> spec.parameters(), spec.free_parameters
    (124, 60)
    """

    architecture: ClassVar[str] = "bilinear-memory"

    vocab: Count
    context: Count = 1
    inputs: Count
    dim: Count
    width: Count

    @property
    def free_parameters(self) -> int:
        """3dm: those of the MLP, the only ones that depend on what is stored when embeddings are given."""
        return 3 * self.dim * self.width

    def refusals(self) -> list[str]:
        return too_many_keys("inputs", self.inputs, self.vocab, self.context)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            "inputs": (self.inputs, self.dim),
            "left": (self.width, self.dim),
            "right": (self.width, self.dim),
            "output": (self.dim, self.width),
            "unembed": (self.vocab, self.dim),
        }

    def index_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"keys": (self.inputs, self.context)}

    def parameters(self) -> int:
        return self.free_parameters + self.dim * (self.vocab + self.inputs)

    def floats_per_input(self) -> int:
        return 3 * self.dim + 3 * self.width + 2 * self.vocab + 2 * self.context
