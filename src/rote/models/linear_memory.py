"""Linear associative memories: logits = W_U W e_i, one input vector e_i per distinct key.

With the embeddings fixed at random, W = sum_i u_{g(i)} e_i^T stores about d associations (Bietti et al. 2023, Cabannes
et al. 2024) and a trained W about d^2 / (2 ln T) (Nichani, Lee and Bietti 2024). Notation: `dim` is d, `vocab` N,
`inputs` the number of distinct keys.
"""

from __future__ import annotations

from typing import ClassVar

from rote.models.sequence_encoder import too_many_keys
from rote.models.spec import Count, Spec


class LinearMemory(Spec, frozen=True):
    """A d x d matrix between a table of input vectors and an unembedding: d^2 + d(N + inputs) parameters.

    `keys` (inputs x context) are the keys' tokens, all distinct; a key may be one token. They are look-up structure,
    not parameters.

    >>> import rote
    >>> rote.LinearMemory(vocab=10, inputs=6, dim=4).parameters()
    80
    """

    architecture: ClassVar[str] = "linear-memory"

    vocab: Count
    context: Count = 1
    inputs: Count
    dim: Count

    @property
    def free_parameters(self) -> int:
        """d^2: those of W, the only ones that depend on what is stored when embeddings are drawn at random."""
        return self.dim**2

    def refusals(self) -> list[str]:
        return too_many_keys("inputs", self.inputs, self.vocab, self.context)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            "inputs": (self.inputs, self.dim),
            "memory": (self.dim, self.dim),
            "unembed": (self.vocab, self.dim),
        }

    def index_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"keys": (self.inputs, self.context)}

    def parameters(self) -> int:
        return self.free_parameters + self.dim * (self.vocab + self.inputs)

    def floats_per_input(self) -> int:
        return 3 * self.dim + 2 * self.vocab + 2 * self.context
