"""Linear associative memories: logits = W_U W e_i, one input vector e_i per distinct key.

With the embeddings fixed at random, W = sum_i u_{g(i)} e_i^T stores about d associations (Bietti et al. 2023, Cabannes
et al. 2024) and a trained W about d^2 / (2 ln T) (Nichani, Lee and Bietti 2024).
"""

from __future__ import annotations

from typing import ClassVar

from rote.models.keyed_memory import KeyedMemory


class LinearMemory(KeyedMemory, frozen=True):
    """A d x d matrix between a table of input vectors and an unembedding: d^2 + d(N + inputs) parameters.

    >>> import rote
    >>> rote.LinearMemory(vocab=10, inputs=6, dim=4).parameters()
    80
    """

    architecture: ClassVar[str] = "linear-memory"

    def map_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"memory": (self.dim, self.dim)}

    def parameters(self) -> int:
        return self.dim**2 + self.dim * (self.vocab + self.inputs)

    def floats_per_input(self) -> int:
        return 3 * self.dim + 2 * self.vocab + 2 * self.context
