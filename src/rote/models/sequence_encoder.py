"""Sequence encoders: logits(t) = W E(t), one row of E per context (Dana, Pydi and Chevaleyre 2025, Propositions 1-3).

Every Transformer of embedding dimension d is one of these of rank d, so none comes closer to a distribution than the
best sequence encoder does. Notation: `vocab` is N, `contexts` T, `dim` d.
"""

from __future__ import annotations

from typing import ClassVar

from rote.models.spec import Count, Spec


class SequenceEncoder(Spec, frozen=True):
    """A table row per context, found by its exact tokens, and an unembedding: d(N + T) parameters.

    `keys` (contexts x context) are the contexts' tokens, all distinct; they are look-up structure, not parameters.

    >>> import rote
    >>> rote.SequenceEncoder(vocab=10, context=2, contexts=30, dim=4).parameters()
    160
    """

    architecture: ClassVar[str] = "sequence-encoder"

    vocab: Count
    contexts: Count
    dim: Count

    def refusals(self) -> list[str]:
        return too_many_keys("contexts", self.contexts, self.vocab, self.context)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"encodings": (self.contexts, self.dim), "unembed": (self.vocab, self.dim)}

    def index_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"keys": (self.contexts, self.context)}

    def parameters(self) -> int:
        return self.dim * (self.vocab + self.contexts)

    def floats_per_input(self) -> int:
        return 2 * self.dim + 2 * self.vocab + 2 * self.context


def too_many_keys(name: str, keys: int, vocab: int, context: int) -> list[str]:
    """Refuse more keys than there are sequences of tokens."""
    # Sizes stop at 2^40, so that two tokens or more give enough sequences from 41 places on.
    sequences = vocab ** min(context, 41)
    return [f"{name} {keys} exceeds the {sequences} sequences of {context} tokens out of {vocab}"] * (keys > sequences)
