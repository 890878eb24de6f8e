"""Candidates for the densest shape: attention-only models that use up a budget of parameters.

Of d(S + 2N + 4kH) parameters (Dana, Pydi and Chevaleyre 2025, equation (2)) the vocabulary N, the dimension d and the
head dimension k are chosen, and H is as large as the budget allows. The table of all contexts has N^S log2 N bits; the
*load* is the bits of that table divided by the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rote.errors import InputError, problems
from rote.models.attention_only import AttentionOnly

LOADS = (2.4, 2.8, 3.2, 3.6)
"""Loads that decide which vocabularies are tried, about what the densest trained models hold."""
DIMS = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100)
HEAD_DIMS = (1, 2, 3, 5, 8, 13, 20, 32)
MOST_IN_TOKENS = 0.75
"""Largest share of the parameters for embedding and unembedding, if dimensions are not given."""


def candidates(
    parameters: int,
    *,
    vocabs: Iterable[int] | None = None,
    dims: Iterable[int] | None = None,
    head_dims: Iterable[int] | None = None,
    context: int = 2,
) -> list[AttentionOnly]:
    """Every shape of at most `parameters` parameters, each with as many heads as fit and at least one.

    Sizes that are not given come from a geometric grid, which includes k = d (the advice of Dana et al.) and
    vocabularies whose tables are 2.4 to 3.6 times the budget. Head dimensions above d are left out.
    """
    _check(parameters, context, vocabs=vocabs, dims=dims, head_dims=head_dims)
    shapes = []
    for vocab in sorted(set(vocabs or (vocab_of_load(load, parameters, context) for load in LOADS))):
        for dim in sorted(set(dims or _affordable(parameters, vocab, context))):
            for head_dim in sorted({k for k in head_dims or (*HEAD_DIMS, dim) if k <= dim}):
                heads = (parameters - dim * (context + 2 * vocab)) // (4 * dim * head_dim)
                if heads >= 1:
                    shapes.append(
                        AttentionOnly(
                            vocab=vocab, context=context, dim=dim, head_dim=head_dim, heads=heads, scale_scores=True
                        )
                    )
    if not shapes:
        raise InputError(
            f"`parameters={parameters}`: too few for any shape of these sizes; raise them, or lower vocabularies or "
            "dimensions"
        )
    return shapes


def load_of(spec: AttentionOnly) -> float:
    """Bits in a random table of all contexts, per parameter."""
    return spec.vocab**spec.context * math.log2(spec.vocab) / spec.parameters()


def vocab_of_load(load: float, parameters: int, context: int = 2) -> int:
    """The vocabulary, at least 3, whose table of all contexts is nearest to `load` bits per parameter."""
    bits = load * parameters
    vocab = 3
    while (vocab + 1) ** context * math.log2(vocab + 1) <= bits:
        vocab += 1
    below, above = (n**context * math.log2(n) for n in (vocab, vocab + 1))
    return vocab + 1 if above - bits < bits - below else vocab


def _affordable(parameters: int, vocab: int, context: int) -> list[int]:
    return [dim for dim in DIMS if dim * (context + 2 * vocab) <= MOST_IN_TOKENS * parameters]


def _check(parameters: int, context: int, **sizes: Iterable[int] | None) -> None:
    refused = []
    if parameters < 1:
        refused.append(f"`parameters={parameters}`: must be at least 1")
    if context < 2:
        refused.append(f"`context={context}`: leaves attention nothing to do; must be at least 2")
    least = {"vocabs": 2, "dims": 1, "head_dims": 1}
    for name, values in sizes.items():
        given: Sequence[int] = [] if values is None else list(values)
        refused += [f"`{name}`: {value} must be at least {least[name]}" for value in given if value < least[name]]
    if refused:
        raise problems("shapes", refused)
