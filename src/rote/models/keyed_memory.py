"""What linear and bilinear memories share: a table with one given vector per distinct key, and an unembedding."""

from __future__ import annotations

from abc import abstractmethod

from rote.models.sequence_encoder import too_many_keys
from rote.models.spec import Count, Spec, size_of


class KeyedMemory(Spec, frozen=True):
    """A map between a table of input vectors and an unembedding: d(N + inputs) parameters beside the map's own.

    `keys` (inputs x context) are the keys' tokens, all distinct; a key may be one token. They are look-up structure,
    not parameters. Notation: `dim` is d, `vocab` N, `inputs` the number of distinct keys.
    """

    vocab: Count
    context: Count = 1
    inputs: Count
    dim: Count

    @abstractmethod
    def map_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of the tensors of the map."""

    @property
    def free_parameters(self) -> int:
        """Those of the map, the only ones that depend on what is stored when embeddings are given."""
        return size_of(self.map_shapes())

    def refusals(self) -> list[str]:
        return too_many_keys("inputs", self.inputs, self.vocab, self.context)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"inputs": (self.inputs, self.dim), **self.map_shapes(), "unembed": (self.vocab, self.dim)}

    def index_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"keys": (self.inputs, self.context)}
