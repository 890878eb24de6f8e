"""Random distribution tasks with a chosen entropy, rank or prior.

Row t is softmax(beta_t g_t). The logits g are independent normal, or of rank r: g = A B^T with normal A (contexts x r)
and B (vocab x r). The inverse temperature beta_t is 1, or the root of H(softmax(beta g_t)) = entropy. Scaling rows
changes no rank, so that entropy and rank can be chosen together.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from rote.errors import InputError, problems
from rote.tasks.distribution import DistributionTask
from rote.tasks.generators.associations import AssociationOptions, draw_answers, draw_contexts
from rote.tasks.grammar import checked, written
from rote.tasks.origin import Origin
from rote.tasks.vocabulary import Vocabulary

_ROWS_AT_ONCE = 2**22
"""Numbers worked on at once."""

_STEPS = 200
_CLOSE = 1e-12
"""Bits of error at which the search ends, the resolution of a sum of float64 numbers."""


def rows_of_entropy(logits: np.ndarray, bits: float) -> np.ndarray:
    """softmax(beta_t g_t) for each row, with beta_t > 0 such that its Shannon entropy is `bits`.

    Entropy falls from log2(vocab) at beta = 0 to 0 at infinity (a row's largest logit is unique), with derivative
    -beta Var(g) under the row's own probabilities: Newton steps, kept inside a bracket that halves when they leave it.
    """
    vocab = logits.shape[1]
    if bits >= np.log2(vocab):
        return np.full(logits.shape, 1 / vocab)
    step = max(1, _ROWS_AT_ONCE // vocab)
    return np.concatenate([_solve(logits[at : at + step], bits) for at in range(0, len(logits), step)])


def _solve(logits: np.ndarray, bits: float) -> np.ndarray:
    g = logits - logits.max(1, keepdims=True)
    low, high = np.zeros(len(g)), np.full(len(g), 1.0)
    while np.any(above := _entropy(g, high)[0] > bits):
        low = np.where(above, high, low)
        high = np.where(above, 2 * high, high)
    beta = (low + high) / 2
    for _ in range(_STEPS):
        entropy, slope = _entropy(g, beta)
        if np.max(np.abs(entropy - bits)) < _CLOSE:
            break
        low, high = np.where(entropy > bits, beta, low), np.where(entropy > bits, high, beta)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = beta - (entropy - bits) / slope
        inside = (newton > low) & (newton < high)
        beta = np.where(inside, newton, (low + high) / 2)
    return _softmax(g, beta)


def _softmax(g: np.ndarray, beta: np.ndarray) -> np.ndarray:
    weights = np.exp(beta[:, None] * g)
    return weights / weights.sum(1, keepdims=True)


def _entropy(g: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Entropy of each row in bits, and its derivative in beta."""
    weights = np.exp(beta[:, None] * g)
    total = weights.sum(1)
    mean = (weights * g).sum(1) / total
    variance = (weights * g * g).sum(1) / total - mean**2
    nats = np.log(total) - beta * mean
    return nats / np.log(2), -beta * variance / np.log(2)


MOST_NUMBERS = 2**27
"""Most probabilities that a generator makes: 1 GiB."""


class DistributionOptions(AssociationOptions):
    """Random distributions over next tokens, with a prior over contexts."""

    entropy: float | None = Field(None, ge=0, allow_inf_nan=False)
    """Bits of Shannon entropy of every row. Default: what the logits give with a rank, 0 without one."""
    rank: int | None = Field(None, ge=1)
    """Rank of the centred log-probability matrix (contexts x vocab)."""
    prior: Literal["uniform", "zipf"] = "uniform"
    exponent: float = Field(1.0, ge=0, le=100, allow_inf_nan=False)
    """Zipf: the i-th likeliest context has probability proportional to i^-exponent."""

    @property
    def numbers(self) -> int:
        return self.rows * (self.context + self.vocab)


def random_distributions(
    vocab: int,
    context: int,
    facts: int | None = None,
    *,
    entropy: float | None = None,
    rank: int | None = None,
    prior: Literal["uniform", "zipf"] = "uniform",
    exponent: float = 1.0,
    answers: int | None = None,
    seed: int = 0,
) -> DistributionTask:
    """Distributions of a chosen entropy (bits per row) or rank; a look-up table with a prior when neither is given."""
    given = {
        "vocab": vocab, "context": context, "facts": facts, "entropy": entropy, "rank": rank, "prior": prior,
        "exponent": exponent, "answers": answers, "seed": seed,
    }  # fmt: skip
    options = checked(DistributionOptions, given, "random distributions")
    return distributions_from(options, Origin(source=written("random", options, kind="distributions")))


def distributions_from(options: DistributionOptions, origin: Origin) -> DistributionTask:
    rng = np.random.default_rng(options.seed)
    contexts = draw_contexts(options.vocab, options.context, options.facts, rng)
    _refuse(options, len(contexts), origin.source)
    vocabulary = Vocabulary.numbered(options.vocab)
    prior = draw_prior(options, len(contexts), rng)
    if options.rank is None and not options.entropy:
        return DistributionTask(
            contexts=contexts,
            prior=prior,
            starts=np.arange(len(contexts) + 1),
            tokens=draw_answers(options, len(contexts), rng),
            probabilities=np.ones(len(contexts)),
            vocabulary=vocabulary,
            origin=origin,
        )
    logits = draw_logits(len(contexts), options.answers or options.vocab, options.rank, rng)
    if options.entropy is None:
        rows = np.exp(logits - logits.max(1, keepdims=True))
    else:
        rows = rows_of_entropy(logits, options.entropy)
    return DistributionTask.from_dense(contexts, rows, prior, vocabulary, origin)


def draw_logits(facts: int, vocab: int, rank: int | None, rng: np.random.Generator) -> np.ndarray:
    """Normal logits with unit variance, of full rank or of the given rank."""
    if rank is None:
        return rng.standard_normal((facts, vocab))
    left, right = rng.standard_normal((facts, rank)), rng.standard_normal((vocab, rank))
    return left @ right.T / np.sqrt(rank)


def draw_prior(options: DistributionOptions, facts: int, rng: np.random.Generator) -> np.ndarray:
    """Probabilities of the contexts; which context is the likeliest says nothing about its tokens."""
    if options.prior == "uniform":
        return np.full(facts, 1 / facts)
    weights = np.arange(1, facts + 1, dtype=np.float64) ** -options.exponent
    return rng.permutation(weights / weights.sum())


def _refuse(options: DistributionOptions, facts: int, source: str) -> None:
    wrong = []
    choices = options.vocab if options.answers is None else options.answers
    if options.entropy is not None and options.entropy > np.log2(choices):
        wrong.append(
            f"entropy={options.entropy}: {choices} tokens have at most {np.log2(choices):.4g} bits; lower it, or raise "
            "vocab"
        )
    if options.rank is not None and options.rank > min(facts, choices - 1):
        wrong.append(
            f"rank={options.rank}: a centred matrix of {facts} contexts and {choices} tokens has rank at most "
            f"{min(facts, choices - 1)}"
        )
    if options.rank is not None and options.entropy is not None and not 0 < options.entropy < np.log2(choices):
        wrong.append(f"rank={options.rank}: rows of entropy {options.entropy} bits have no rank; choose one between")
    if options.prior == "uniform" and "exponent" in options.model_fields_set and options.exponent != 1.0:
        wrong.append(f"exponent={options.exponent}: a uniform prior has none; add prior=zipf")
    dense = options.rank is not None or bool(options.entropy)
    if options.answers is not None and options.answers > options.vocab:
        wrong.append(f"answers={choices}: answers are tokens and vocab={options.vocab}; raise vocab or lower answers")
    elif dense and facts * choices > MOST_NUMBERS:
        wrong.append(f"{facts} contexts times {choices} tokens are too many probabilities; lower facts or vocab")
    if wrong:
        raise problems(source, wrong)
    if dense and choices < 2:
        raise InputError(f"{source}: a distribution needs at least two tokens to choose from")
