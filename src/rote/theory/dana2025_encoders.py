"""Dana, Pydi and Chevaleyre 2025, what is said about sequence encoders: a table row per context and an unembedding.

Every Transformer of dim d is a sequence encoder of rank d (Proposition 1), so what no encoder does no Transformer does.
At d = 2 an encoder stores any look-up table (Proposition 3), so that the dim alone forbids no association.
"""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.models.sequence_encoder import SequenceEncoder
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import contexts_up_to
from rote.theory.result import result
from rote.theory.smallest import SmallestModel

AT_DIM_1 = "needs dim >= 2: at dim 1 only the two tokens at the ends of a line can be the maximum"

MOST_CONTEXTS_WRITTEN = 2**63
"""More contexts than this are not counted out: the number may have millions of digits."""


@result(
    "dana2025.proposition1",
    where="Propositions 1 and 3",
    kind="upper",
    statement="T = N^S: at d >= 2 the embedding dimension alone forbids nothing",
)
def proposition1(spec: AttentionOnly) -> Value | Refusal:
    """A Transformer is a sequence encoder of rank d, and at d = 2 one of these answers any look-up table."""
    if spec.dim < 2:
        return Refusal(AT_DIM_1)
    contexts = contexts_up_to(MOST_CONTEXTS_WRITTEN, spec)
    if contexts > MOST_CONTEXTS_WRITTEN:
        return Value(None, None, f"all {spec.vocab}^{spec.context} contexts, more than can be written down")
    return Value(
        contexts, spec.dim * (spec.vocab + contexts), "a sequence encoder with one row per context holds them all"
    )


def smallest_proposition3(shape: TaskShape) -> SmallestModel:
    """A row of two numbers per context: the floor under every Transformer, and itself a table."""
    return SmallestModel(
        "a row per context, found by exact match; keys counted",
        SequenceEncoder(vocab=shape.vocab, context=shape.context, contexts=shape.associations, dim=2),
    )


@result(
    "dana2025.proposition3",
    where="Proposition 3",
    kind="lower",
    statement="a sequence encoder stores any T associations at d >= 2, in d(N + T) parameters",
    smallest=(smallest_proposition3,),
)
def proposition3(spec: AttentionOnly) -> Value | Refusal:
    """The unembedding's rows lie on a circle, and a context's row is that of its answer."""
    if spec.dim < 2:
        return Refusal(AT_DIM_1)
    rows = spec.parameters() // spec.dim - spec.vocab
    return Value(
        rows,
        spec.dim * (spec.vocab + rows),
        f"a sequence encoder of the same dim in the same parameters, with {rows} rows, one per context; it finds a row "
        "by the context's exact tokens, which are no parameters",
    )
