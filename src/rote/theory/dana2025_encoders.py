"""Dana, Pydi and Chevaleyre 2025, what is said about sequence encoders: a table row per context and an unembedding.

Every Transformer of dim d is a sequence encoder of rank d (Proposition 1), so what no encoder does no Transformer does.
At d = 2 an encoder stores any look-up table (Proposition 3), so that the dim alone forbids no association.
"""

from __future__ import annotations

from rote.models import SequenceEncoder, Spec
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import sequences_up_to
from rote.theory.result import result
from rote.theory.rote_rank import AT_DIM_1
from rote.theory.smallest import SmallestModel

READS_VECTORS = "the result is about sequences of tokens, and this model reads vectors"

MOST_CONTEXTS_WRITTEN = 2**63
"""More contexts than this are not counted out: the number may have millions of digits."""


@result(
    "dana2025.proposition1",
    where="Propositions 1 and 3",
    kind="upper",
    about=Spec,
    statement="T = N^S: at d >= 2 the embedding dimension alone forbids nothing",
)
def proposition1(spec: Spec) -> Value | Refusal:
    """A Transformer is a sequence encoder of rank d, and at d = 2 one of these answers any look-up table.

    Logits that are affine in one number, as those of a deep ReLU network, have rank 2.
    """
    if spec.vocab is None or spec.reads == "vectors":
        return Refusal(READS_VECTORS)
    dim = spec.dim or 2
    if dim < 2:
        return Refusal(AT_DIM_1)
    contexts = sequences_up_to(MOST_CONTEXTS_WRITTEN, spec)
    if contexts > MOST_CONTEXTS_WRITTEN:
        return Value(None, None, f"all {spec.vocab}^{spec.context} contexts, more than can be written down")
    return Value(
        contexts,
        spec.parameters(),
        f"there are {contexts:,} contexts; at dim >= 2 the embedding dimension forbids none of them",
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
    about=SequenceEncoder,
    statement="a sequence encoder stores any T associations at d >= 2, in d(N + T) parameters",
    smallest=(smallest_proposition3,),
)
def proposition3(spec: SequenceEncoder) -> Value | Refusal:
    """The unembedding's rows lie on a circle, and a context's row is that of its answer."""
    if spec.dim < 2:
        return Refusal(AT_DIM_1)
    return Value(
        spec.contexts,
        spec.parameters(),
        f"{spec.contexts} rows, one per context; a row is found by the context's exact tokens, which are no parameters",
    )
