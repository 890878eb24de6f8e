"""Kajitsuka and Sato 2025, "On the Optimal Memorization Capacity of Transformers" (ICLR).

A Transformer of width 14 with one uniform attention layer memorizes T sequences of n tokens with labels in [C] at
depth about sqrt(T log T) + sqrt(T / log T) max(log R, log C): O~(d + sqrt T) parameters of O~(sqrt T) bits each.
Here n is `context`, d `dim`, C `vocab`; R is polynomial in T, n and the separation of tokens, taken as T^2 S N.
Every result is an order: constants are taken as one, for a network that is given as many parameters as the
specification has.
"""

from __future__ import annotations

import math

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Refusal, Value, at_most_contexts, bound, largest
from rote.theory.rote_counting import FLOAT32_BITS

PAPER = "Kajitsuka, Sato 2025"
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


@bound(
    "kajitsuka2025.theorem4_1",
    kind="order",
    source=f"{PAPER}, Theorem 4.1",
    statement=f"parameters ~ d + sqrt(T log T) + {WORD_LENGTH}, each of O~(sqrt T) bits",
)
def theorem4_1(spec: AttentionOnly) -> Value:
    """Next-token prediction with O~(d + sqrt T) parameters, in words far longer than any float."""
    budget = spec.parameters()

    def needed(T: int) -> float:
        return spec.dim + depth(T, spec.context, spec.vocab)

    reached = largest(lambda T: needed(T) <= budget, budget**2)
    T = at_most_contexts(reached, spec)
    parameters = math.ceil(needed(T))
    bits_each = math.log2(spec.dim) + word_length(T, spec.context, spec.vocab) / math.log(2)
    return Value(
        reached,
        parameters,
        f"a width-14 network in at most the same {budget} parameters, constants taken as one; each takes about "
        f"{bits_each:.3g} bits{'' if bits_each <= FLOAT32_BITS else ', more than any float has'}",
        bits=parameters * bits_each,
    )


@bound(
    "kajitsuka2025.theorem4_2",
    kind="order",
    source=f"{PAPER}, Theorem 4.2",
    statement="an upper bound: T associations need Omega(sqrt T) parameters",
)
def theorem4_2(spec: AttentionOnly) -> Value:
    """No Transformer memorizes every labelling of T sequences with fewer than Omega(sqrt T) parameters."""
    budget = spec.parameters()
    return Value(
        budget**2, budget, "no more than P^2 up to a constant, with parameters of any length; see rote.counting"
    )


@bound(
    "kajitsuka2025.corollary4_1",
    kind="order",
    source=f"{PAPER}, Corollary 4.1",
    statement="parameters ~ d + sqrt(n T) for a label at every one of n positions",
)
def corollary4_1(spec: AttentionOnly) -> Value | Refusal:
    """Sequence to sequence: n labels per sequence."""
    budget = spec.parameters()
    T = (budget - spec.dim) ** 2 // spec.context
    if T < 1:
        return Refusal("the parameters do not reach one sequence with a label at every position", budget)
    return Value(T, budget, "sequences with a label at every position, in the same parameters, without logarithms")


@bound(
    "kajitsuka2025.theorem4_3",
    kind="order",
    source=f"{PAPER}, Theorem 4.3",
    statement="an upper bound: a label at each of n positions needs Omega(sqrt(nT/log(nT))) parameters with hardmax",
)
def theorem4_3(spec: AttentionOnly) -> Value:
    """The bound that matches Corollary 4.1, under hardmax attention."""
    budget, n = spec.parameters(), spec.context

    def holds(T: int) -> bool:
        return n * T / math.log(max(3, n * T)) <= budget**2

    T = largest(holds, 200 * budget**2)
    return Value(T, budget, "no more sequences with a label at every position, for hardmax attention, up to a constant")


@bound(
    "kajitsuka2025.theoremF_1",
    kind="order",
    source=f"{PAPER}, Theorem F.1",
    statement="parameters ~ d + T max(log R, log C)/B with B bits each, B <= sqrt T; here B = 32",
)
def theorem_f1(spec: AttentionOnly) -> Value:
    """Limited precision: B bits a parameter give O~(T / B) parameters, so the bits stay of order T."""
    budget = spec.parameters()
    T = largest(lambda T: spec.dim + short_words(T, spec.context, spec.vocab) <= budget, FLOAT32_BITS * budget)
    return Value(
        T,
        budget,
        f"the same parameters at {FLOAT32_BITS} bits each; constants taken as one",
        bits=float(FLOAT32_BITS * budget),
    )
