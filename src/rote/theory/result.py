"""Results: what a paper states, its value for a specification, and the smallest model it gives for a task.

A result is registered once, in its paper's file, by `result` above its evaluator; the functions that turn it around
are given there too. So an id, a kind or a statement is said in one place.

A result about another architecture than the one given is evaluated for a match in the same parameters. It keeps vocab,
context, dim and, where both have heads, their number and width. What is left of the parameters goes where the result
wants them: into heads, neurons or rows. Specifications are constructed unchecked: only their sizes are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from rote.errors import InputError
from rote.models import AttentionOnly, LinearMemory, MlpTransformer, QueryAttention, SequenceEncoder, Spec, Transformer
from rote.models.spec import in_words
from rote.theory.bound import Bound, Kind, Refusal, Value
from rote.theory.contexts import contexts_up_to, not_one_layer, sequences_up_to
from rote.theory.papers import PAPERS, Paper
from rote.theory.smallest import Smallest

SpecT = TypeVar("SpecT", bound=Spec)
SMALLEST_DIM = 2
"""Dim of a match with a model that has none: the fewest dimensions in which any answer can be the maximum."""


def matched(spec: Spec, about: type[SpecT]) -> SpecT | Refusal:
    """A specification of the class `about` that is matched with one of another class, or why there is none."""
    match = MATCHES.get(about)
    if match is None:
        return Refusal(f"the result is about {about.__name__} models, given {spec.architecture}")
    return cast(SpecT | Refusal, match(spec))


def as_attention(spec: Spec) -> AttentionOnly | Refusal:
    """The attention of a Transformer (a lower bound on it holds for the whole, with MLPs that add nothing), else one
    layer of heads of full width in the same parameters."""
    if isinstance(spec, Transformer):
        return spec.attention
    vocab = _tokens(spec)
    if isinstance(vocab, Refusal):
        return vocab
    if spec.context < 2:
        return Refusal("the result is about attention, which a key of one token leaves nothing to do")
    dim = spec.dim or SMALLEST_DIM
    bare = AttentionOnly.model_construct(
        vocab=vocab, context=spec.context, dim=dim, head_dim=min(dim, vocab + spec.context - 2) or 1, heads=0
    )
    heads = (spec.parameters() - bare.parameters()) // (4 * dim * bare.head_dim)
    if heads < 0:
        return Refusal(
            f"{spec.parameters()} parameters do not reach the {bare.parameters()} of the embeddings of an "
            f"attention-only model of dim {dim}",
            bare.parameters(),
        )
    return bare.model_copy(update={"heads": heads})


def with_neurons(spec: Spec) -> MlpTransformer | Refusal:
    """One head and as many MLP neurons as fit in the parameters of the other heads. A neuron takes 2d + 1 parameters:
    two vectors and a bias."""
    attention = as_attention(spec)
    if isinstance(attention, Refusal):
        return attention
    if broken := not_one_layer(attention):
        return Refusal(broken)
    bare = MlpTransformer.model_construct(
        vocab=attention.vocab, context=attention.context, dim=attention.dim, head_dim=attention.head_dim, heads=1,
        width=0,
    )  # fmt: skip
    neurons = (attention.parameters() - bare.parameters()) // (2 * bare.dim + 1)
    if neurons < 1:
        return Refusal("the heads beyond the first hold too few parameters for a single MLP neuron")
    return bare.model_copy(update={"width": neurons})


def with_query(spec: Spec) -> QueryAttention | Refusal:
    """Query attention of the same dim, head_dim and heads, with value dimension 1 and one real target; of a model
    without heads, as many heads of full width as its parameters hold."""
    if isinstance(spec, Transformer):
        dim, head_dim, heads = spec.dim, spec.head_dim, spec.heads
    else:
        dim = spec.dim or spec.context + 1
        head_dim = min(dim, spec.context)
        heads = (spec.parameters() - dim) // (2 * dim * (head_dim + 1))
    if heads < 1:
        return Refusal("the result is about heads that read a query, and there are parameters for none")
    model = QueryAttention.model_construct(
        context=spec.context, dim=dim, head_dim=head_dim, heads=heads, value_dim=1, outputs=1
    )
    if isinstance(spec, Transformer) and (broken := not_one_layer(spec.attention)):
        return Refusal(broken, model.parameters())
    return model


def with_rows(spec: Spec) -> SequenceEncoder | Refusal:
    """A sequence encoder of the same dim, with as many rows as the parameters hold."""
    vocab = _tokens(spec)
    if isinstance(vocab, Refusal):
        return vocab
    dim = spec.dim or SMALLEST_DIM
    rows = spec.parameters() // dim - vocab
    if rows < 1:
        return Refusal(f"{spec.parameters()} parameters hold no row beside an unembedding of {vocab} tokens")
    return SequenceEncoder.model_construct(vocab=vocab, context=spec.context, contexts=rows, dim=dim)


def as_matrix(spec: Spec) -> LinearMemory | Refusal:
    """A linear memory of the same dim, one random vector per context."""
    dim = spec.dim or math.isqrt(spec.parameters())
    keys = spec.parameters()
    return LinearMemory.model_construct(vocab=spec.vocab, context=spec.context, inputs=keys, dim=dim)


def _tokens(spec: Spec) -> int | Refusal:
    if spec.vocab is None or spec.reads == "vectors":
        return Refusal(f"the result is about tokens, and this {spec.architecture} model reads vectors")
    return spec.vocab


MATCHES: dict[type[Spec], Callable[[Spec], Spec | Refusal]] = {
    AttentionOnly: as_attention,
    MlpTransformer: with_neurons,
    QueryAttention: with_query,
    SequenceEncoder: with_rows,
    LinearMemory: as_matrix,
}
"""By the architecture that a result is about."""


Evaluator = Callable[[Any], Value | Refusal]
"""The value of a result for a specification of the class that the result is about."""

ANY = "any"
"""The subject of a result that holds for every architecture."""


@dataclass(frozen=True)
class Result:
    """A theorem, or a law that was measured."""

    id: str
    paper: Paper
    where: str
    """The place in the paper, such as "Theorem 1"; empty for the paper as a whole."""
    kind: Kind
    statement: str
    """In the notation N vocab, S context, d dim, k head_dim, H heads, T associations, P parameters."""
    about: type[Spec]
    """What the evaluator takes. `Spec`: any specification, of which it reads the sizes that all of them have."""
    subject: str
    """What the result is about: an architecture's name, words for one that rote has none of, or "any"."""
    evaluate: Evaluator
    smallest: tuple[Smallest, ...] = ()
    """The smallest models that hold a task's facts by this result; none where it cannot be turned around."""

    @property
    def source(self) -> str:
        """The paper and the place in it."""
        return self.paper.source(self.where)

    def bound(self, spec: Spec) -> Bound:
        """The result for one specification, with no more associations than the model can tell contexts apart.

        A result about another architecture is evaluated for a model of that one with matched sizes, and says so.
        """
        subject = spec if isinstance(spec, self.about) else matched(spec, self.about)
        value = subject if isinstance(subject, Refusal) else self.evaluate(subject)
        other = subject is not spec or self.subject not in (ANY, spec.architecture)
        associations, bits, reason, capped = None, None, value.reason, False
        if isinstance(subject, Spec) and subject is not spec:
            reason = f"{in_words(subject)}: {reason}"
        if isinstance(value, Value) and isinstance(subject, Spec):
            associations, bits = value.associations, value.bits
            contexts = sequences_up_to if other else contexts_up_to
            if associations is not None and contexts(associations, spec) < associations:
                associations, capped = contexts(associations, spec), True
                reason += f"; no more than the {associations} contexts there are"
        return Bound(
            id=self.id,
            kind=self.kind,
            associations=associations,
            parameters=value.parameters,
            about=self.subject,
            matched=other,
            bits=bits,
            applies=isinstance(value, Value),
            reason=reason,
            source=self.source,
            statement=self.statement,
            capped=capped,
        )


RESULTS: dict[str, Result] = {}
"""Every result by its id, registered when `rote.theory` is imported."""


def result(
    id: str,
    *,
    kind: Kind,
    statement: str,
    about: type[SpecT] = AttentionOnly,
    subject: str | None = None,
    where: str = "",
    smallest: tuple[Smallest, ...] = (),
) -> Callable[[Callable[[SpecT], Value | Refusal]], Result]:
    """Register the evaluator below as a result; its id begins with that of its paper.

    `about` is the class of specification that the evaluator takes. Other architectures are matched with it first
    (`rote.theory.result`). `subject` names what the result is about where that is not `about`: an evaluator that takes
    any `Spec` as a budget may speak of a network that rote has no class for.
    """

    def register(evaluate: Callable[[SpecT], Value | Refusal]) -> Result:
        paper = PAPERS.get(id.partition(".")[0])
        if paper is None:
            raise InputError(f"result {id}: {id.partition('.')[0]!r} is no known paper; register it first")
        if id in RESULTS:
            raise InputError(f"result {id}: this id is registered already; give another")
        named = subject or getattr(about, "architecture", ANY)
        RESULTS[id] = Result(id, paper, where, kind, statement, about, named, evaluate, smallest)
        return RESULTS[id]

    return register
