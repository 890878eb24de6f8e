"""Kajitsuka and Sato 2025: about sqrt T parameters, of as many bits each, memorize T sequences.

A Transformer of width 14 with one uniform attention layer memorizes T sequences of n tokens with labels in [C] at
depth about sqrt(T log T) + sqrt(T / log T) max(log R, log C): O~(d + sqrt T) parameters of O~(sqrt T) bits each.
Here n is `context`, d `dim`, C `vocab`; R is polynomial in T, n and the separation of tokens, taken as T^2 S N.
Every result is an order: constants are taken as one, for a network that is given as many parameters as the
specification has.
"""

from __future__ import annotations

import math

from rote.models.spec import Spec
from rote.tasks.shape import TaskShape
from rote.theory.bound import Refusal, Value
from rote.theory.contexts import at_most_contexts, largest
from rote.theory.result import result
from rote.theory.rote_counting import FLOAT32_BITS
from rote.theory.smallest import SmallestSize

NO_LABELS = "the result is about labels, given real targets"

WORD_LENGTH = "sqrt(T/log T) max(log R, log C)"


def depth(associations: int, context: int, vocab: int) -> float:
    """sqrt(T log T) + sqrt(T / log T) max(log R, log C), natural logarithms, constants one."""
    T = max(2, associations)
    return math.sqrt(T * math.log(T)) + word_length(T, context, vocab)


def word_length(associations: int, context: int, vocab: int) -> float:
    """sqrt(T / log T) max(log R, log C): how long the words grow that one group of labels is packed into."""
    T = max(2, associations)
    return math.sqrt(T / math.log(T)) * label_size(T, context, vocab)


def label_size(associations: int, context: int, vocab: int) -> float:
    """max(log R, log C) with R = T^2 S N and C = N: what one packed key or label takes, in natural units."""
    T = max(2, associations)
    return max(2 * math.log(T) + math.log(context) + math.log(vocab), math.log(vocab))


def short_words(associations: int, context: int, vocab: int) -> float:
    """T max(log2 R, log2 C) / B: parameters that hold every packed key or label in words of B = 32 bits."""
    return associations * label_size(associations, context, vocab) / math.log(2) / FLOAT32_BITS


def smallest_theorem4_1(shape: TaskShape) -> SmallestSize:
    """O~(sqrt T) parameters of O~(sqrt T) bits, a token being one number."""
    T, S, N = shape.associations, shape.context, shape.vocab
    return SmallestSize(
        "few parameters of very many bits each; constants taken as one",
        description=f"width 14, one uniform attention layer, depth ~ {math.ceil(depth(T, S, N))}",
        parameters=math.ceil(1 + depth(T, S, N)),
        bits_per_parameter=max(1.0, word_length(T, S, N) / math.log(2)),
    )


def _memorizer(spec: Spec, entrance: int, entrance_bits: float, network: str) -> Value | Refusal:
    """The sequences that a memorizer holds beside `entrance` parameters that give tokens their codes.

    These take `entrance_bits` more than the words that follow.
    """
    budget, labels = spec.parameters(), spec.answers
    if labels is None:
        return Refusal(NO_LABELS, budget)

    def needed(T: int) -> float:
        return entrance + depth(T, spec.context, labels)

    reached = largest(lambda T: needed(T) <= budget, budget**2)
    T = at_most_contexts(reached, spec)
    parameters = math.ceil(needed(T))
    bits_each = entrance_bits + word_length(T, spec.context, labels) / math.log(2)
    return Value(
        reached,
        parameters,
        f"{network} in at most the same {budget} parameters, constants taken as one; each takes about "
        f"{bits_each:.3g} bits{'' if bits_each <= FLOAT32_BITS else ', more than any float has'}",
        bits=parameters * bits_each,
    )


@result(
    "kajitsuka2025.theorem4_1",
    where="Theorem 4.1",
    kind="order",
    about=Spec,
    subject="deep-relu",
    statement=f"parameters ~ d + sqrt(T log T) + {WORD_LENGTH}, each of O~(sqrt T) bits",
    smallest=(smallest_theorem4_1,),
)
def theorem4_1(spec: Spec) -> Value | Refusal:
    """Next-token prediction takes O~(d + sqrt T) parameters, in words far longer than any float."""
    dim = spec.dim or 1
    return _memorizer(spec, dim, math.log2(dim), "a width-14 network")


@result(
    "kajitsuka2025.theoremD_1",
    where="Remark 4.1 and Theorem D.1",
    kind="order",
    about=Spec,
    subject="deep-relu",
    statement=f"deep sets: parameters ~ d + sqrt(T log T) + {WORD_LENGTH} with a plain sum in place of attention",
)
def theorem_d1(spec: Spec) -> Value | Refusal:
    """As Theorem 4.1: uniform attention does no more than add up the tokens' codes, and a sum does that too."""
    dim = spec.dim or 1
    return _memorizer(spec, dim, math.log2(dim), "a width-14 network that adds up its tokens' codes without attention,")


@result(
    "kajitsuka2025.remarkE_1",
    where="Remark 4.2 and appendix E",
    kind="order",
    about=Spec,
    subject="deep-relu",
    statement=f"an embedding table: parameters ~ N + sqrt(T log T) + {WORD_LENGTH}, one number a token in place of F1",
)
def remark_e1(spec: Spec) -> Value | Refusal:
    """As Theorem 4.1 without its first network F1: a table gives each of the N tokens its code."""
    budget, tokens = spec.parameters(), spec.vocab
    if tokens is None or spec.reads == "vectors":
        return Refusal("the result is about a table of tokens, and this model reads vectors", budget)
    least = tokens + depth(1, spec.context, tokens)
    if least > budget:
        return Refusal(
            f"{budget} parameters do not reach a table of {tokens} codes and the {math.ceil(least) - tokens} "
            "of a memorizer of one sequence",
            budget,
        )
    return _memorizer(spec, tokens, 0.0, "a table of codes and a width-14 network")


@result(
    "kajitsuka2025.theorem4_2",
    where="Theorem 4.2",
    kind="order",
    about=Spec,
    statement="an upper bound: T associations need Omega(sqrt T) parameters",
)
def theorem4_2(spec: Spec) -> Value:
    """No Transformer memorizes every labelling of T sequences with fewer than Omega(sqrt T) parameters."""
    budget = spec.parameters()
    return Value(
        budget**2, budget, "no more than P^2 up to a constant, with parameters of any length; see rote.counting"
    )


@result(
    "kajitsuka2025.corollary4_1",
    where="Corollary 4.1",
    kind="order",
    about=Spec,
    subject="deep-relu",
    statement="parameters ~ d + sqrt(n T) for a label at every one of n positions",
)
def corollary4_1(spec: Spec) -> Value | Refusal:
    """Sequence to sequence: n labels per sequence."""
    budget = spec.parameters()
    T = (budget - (spec.dim or 1)) ** 2 // spec.context
    if T < 1:
        return Refusal("the parameters do not reach one sequence with a label at every position", budget)
    return Value(T, budget, "sequences with a label at every position, in the same parameters, without logarithms")


@result(
    "kajitsuka2025.theorem4_3",
    where="Theorem 4.3",
    kind="order",
    about=Spec,
    statement="an upper bound: a label at each of n positions needs Omega(sqrt(nT/log(nT))) parameters with hardmax",
)
def theorem4_3(spec: Spec) -> Value:
    """The bound that matches Corollary 4.1, under hardmax attention."""
    budget, n = spec.parameters(), spec.context

    def holds(T: int) -> bool:
        return n * T / math.log(max(3, n * T)) <= budget**2

    T = largest(holds, 200 * budget**2)
    return Value(T, budget, "no more sequences with a label at every position, for hardmax attention, up to a constant")


def smallest_theorem_f1(shape: TaskShape) -> SmallestSize:
    """O~(T / B) parameters of B = 32 bits each."""
    return SmallestSize(
        "as theorem4_1 with words of 32 bits; constants taken as one",
        description="width 14, one uniform attention layer, many short words",
        parameters=math.ceil(1 + short_words(shape.associations, shape.context, shape.vocab)),
        bits_per_parameter=float(FLOAT32_BITS),
    )


@result(
    "kajitsuka2025.theoremF_1",
    where="Theorem F.1",
    kind="order",
    about=Spec,
    subject="deep-relu",
    statement="parameters ~ d + T max(log R, log C)/B with B bits each, B <= sqrt T; here B = 32",
    smallest=(smallest_theorem_f1,),
)
def theorem_f1(spec: Spec) -> Value | Refusal:
    """Limited precision: B bits per parameter give O~(T / B) parameters, so the bits stay of order T."""
    budget, dim, labels = spec.parameters(), spec.dim or 1, spec.answers
    if labels is None:
        return Refusal(NO_LABELS, budget)
    T = largest(lambda T: dim + short_words(T, spec.context, labels) <= budget, FLOAT32_BITS * budget)
    return Value(
        T,
        budget,
        f"the same parameters at {FLOAT32_BITS} bits each; constants taken as one",
        bits=float(FLOAT32_BITS * budget),
    )
