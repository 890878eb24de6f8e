"""Distribution tasks: each context has a prior and a distribution over the next token.

Rows are kept sparse (`starts`, `tokens`, `probabilities`, as in a CSR matrix): a weighted table of facts names few
answers per key. `dense` gives the rows that a construction needs as a matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from rote.arguments import typed
from rote.errors import InputError, problems
from rote.tasks.association import AssociationTask, in_words
from rote.tasks.origin import Origin, Reading
from rote.tasks.rows import distinct_rows
from rote.tasks.shape import TaskShape
from rote.tasks.task import Task, canonical_ids, digest, entropy_bits
from rote.tasks.token_task import TokenTask
from rote.tasks.vocabulary import Vocabulary, token_ids


class Spread(NamedTuple):
    """One context in words, with the probability of each of its next tokens."""

    key: tuple[str, ...]
    answers: dict[str, float]
    reading: Reading

    def __str__(self) -> str:
        likeliest = sorted(self.answers.items(), key=lambda pair: -pair[1])
        shown = ", ".join(f"{answer} ({share:.3g})" for answer, share in likeliest[:3])
        return str(in_words(self.key, shown + (", ..." if len(likeliest) > 3 else ""), self.reading))


@dataclass(frozen=True, eq=False, repr=False)
class DistributionTask(TokenTask):
    """Contexts, a prior over them, and a distribution over next tokens per context (the papers' pi_t).

    >>> import rote
    >>> rows = [(("the", "cat"), "sat", 3.0), (("the", "cat"), "ran", 1.0)]
    >>> task = rote.DistributionTask.from_weighted_facts(rows)
    >>> task.facts, task.vocab, task.dense(slice(0, 1)).tolist()
    (1, 4, [[0.0, 0.0, 0.75, 0.25]])
    """

    kind: ClassVar = "distributions"
    rows_are: ClassVar = "contexts"

    contexts: np.ndarray
    prior: np.ndarray
    starts: np.ndarray
    tokens: np.ndarray
    probabilities: np.ndarray
    vocabulary: Vocabulary
    origin: Origin = field(default_factory=Origin)

    def __post_init__(self) -> None:
        vocab = len(self.vocabulary)
        object.__setattr__(self, "contexts", token_ids(self.contexts, 2, vocab, "contexts"))
        object.__setattr__(self, "tokens", token_ids(self.tokens, 1, vocab, "tokens"))
        object.__setattr__(self, "starts", np.ascontiguousarray(self.starts, dtype=np.int64))
        wrong = []
        if not len(self.contexts):
            wrong.append("there are no contexts")
        if len(self.starts) != len(self.contexts) + 1 or len(self.tokens) != len(self.probabilities):
            wrong.append("starts, tokens and probabilities do not describe one row per context")
        elif np.any(np.diff(self.starts) < 1):
            wrong.append(f"context {int(np.argmax(np.diff(self.starts) < 1))} has no next token")
        if len(self.prior) != len(self.contexts):
            wrong.append(f"{len(self.contexts)} contexts but a prior over {len(self.prior)}")
        if len(self.contexts) and len(distinct_rows(self.contexts, vocab)[0]) != len(self.contexts):
            wrong.append("a context appears twice; merge its rows")
        for name, values in (("prior", self.prior), ("probabilities", self.probabilities)):
            if not np.all(np.isfinite(values)) or np.any(values < 0):
                wrong.append(f"{name} must be finite and not negative")
        if wrong:
            raise problems("distribution task", wrong)
        totals = np.add.reduceat(np.asarray(self.probabilities, dtype=np.float64), self.starts[:-1])
        if np.any(totals <= 0) or np.sum(self.prior) <= 0:
            raise InputError("distribution task: the prior or a row of probabilities sums to zero")
        normalised = np.asarray(self.probabilities, dtype=np.float64) / np.repeat(totals, np.diff(self.starts))
        object.__setattr__(self, "probabilities", normalised)
        object.__setattr__(self, "prior", np.asarray(self.prior, dtype=np.float64) / np.sum(self.prior))

    @classmethod
    def from_dense(
        cls,
        contexts: np.ndarray,
        rows: np.ndarray,
        prior: np.ndarray | None = None,
        vocabulary: Vocabulary | None = None,
        origin: Origin | None = None,
    ) -> DistributionTask:
        """From a matrix with one row of (unnormalised) probabilities per context; zeros are left out."""
        rows = np.asarray(rows, dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(contexts):
            raise InputError(f"distribution task: {len(contexts)} contexts but probabilities of shape {rows.shape}")
        row, token = np.nonzero(rows)
        return cls(
            contexts=contexts,
            prior=np.ones(len(rows)) if prior is None else prior,
            starts=np.searchsorted(row, np.arange(len(rows) + 1)),
            tokens=token,
            probabilities=rows[row, token],
            vocabulary=vocabulary or Vocabulary.numbered(rows.shape[1]),
            origin=origin or Origin(),
        )

    @classmethod
    @typed
    def from_weighted_facts(
        cls, facts: Sequence[tuple[Sequence[str], str, float]], origin: Origin | None = None
    ) -> DistributionTask:
        """From (key, answer, weight) rows: weights of one key give its distribution, their sum its prior."""
        plain = AssociationTask.from_facts([(key, answer) for key, answer, _ in facts], origin)
        weights = np.array([weight for _, _, weight in facts], dtype=np.float64)
        return cls.from_weighted_ids(plain.contexts, plain.answers, weights, plain.vocabulary, plain.origin)

    @classmethod
    def from_weighted_ids(
        cls,
        contexts: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray,
        vocabulary: Vocabulary,
        origin: Origin | None = None,
    ) -> DistributionTask:
        """From rows of token ids with a weight each: weights of one context give its distribution, their sum its prior.

        Rows of weight zero are dropped; contexts keep their order of appearance.
        """
        if not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise InputError("distribution task: weights must be finite and not negative")
        kept = weights > 0
        if not kept.any():
            raise InputError("distribution task: every weight is zero")
        contexts, answers, weights = contexts[kept], answers[kept], weights[kept]
        vocab = len(vocabulary)
        first, key = distinct_rows(contexts, vocab)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        pairs, where = np.unique(rank[key] * vocab + answers, return_inverse=True)
        mass = np.bincount(where.reshape(-1), weights=weights)
        return cls(
            contexts=contexts[first[order]],
            prior=np.bincount(pairs // vocab, weights=mass, minlength=len(order)),
            starts=np.searchsorted(pairs // vocab, np.arange(len(order) + 1)),
            tokens=pairs % vocab,
            probabilities=mass,
            vocabulary=vocabulary,
            origin=origin or Origin(),
        )

    def __getitem__(self, row: int) -> Spread:
        row = range(self.facts)[row]
        entries = slice(self.starts[row], self.starts[row + 1])
        answers = self.vocabulary.words(self.tokens[entries])
        shares = dict(zip(answers, self.probabilities[entries].tolist(), strict=True))
        return Spread(self.vocabulary.words(self.contexts[row]), shares, self.origin.reading)

    @property
    def used(self) -> np.ndarray:
        return np.union1d(self.contexts, self.tokens)

    def dense(self, rows: slice = slice(None)) -> np.ndarray:
        """Probabilities of these rows as a matrix (contexts x vocab)."""
        places = np.arange(self.facts)[rows]
        starts, entries = self._entries(places)
        matrix = np.zeros((len(places), self.vocab))
        matrix[np.repeat(np.arange(len(places)), np.diff(starts)), self.tokens[entries]] = self.probabilities[entries]
        return matrix

    def _entries(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where these rows start among the entries they have, and the places of those entries."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return starts, np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)

    def take(self, rows: np.ndarray | slice) -> DistributionTask:
        """Some of the contexts, in the order given; their prior is renormalised."""
        rows = np.arange(self.facts)[rows]
        starts, entries = self._entries(rows)
        return replace(
            self,
            contexts=self.contexts[rows],
            prior=self.prior[rows],
            starts=starts,
            tokens=self.tokens[entries],
            probabilities=self.probabilities[entries],
        )

    @cached_property
    def _row_of(self) -> np.ndarray:
        return np.repeat(np.arange(self.facts), np.diff(self.starts))

    @cached_property
    def row_entropies(self) -> np.ndarray:
        """Shannon entropy of each row, in bits."""
        terms = -self.probabilities * np.log2(np.where(self.probabilities > 0, self.probabilities, 1.0))
        return np.bincount(self._row_of, weights=terms, minlength=self.facts)

    @property
    def entropy_bits(self) -> float:
        """Bits to be stored: what the contexts' next tokens share with the contexts, per context, times contexts."""
        marginal = np.bincount(self.tokens, self.prior[self._row_of] * self.probabilities, self.vocab)
        return max(0.0, entropy_bits(marginal) - float(self.prior @ self.row_entropies)) * self.facts

    @property
    def ceiling(self) -> float:
        """Best accuracy of any predictor: it answers each context's likeliest token."""
        return float(self.prior @ np.maximum.reduceat(self.probabilities, self.starts[:-1]))

    def answers_to_recall(self) -> np.ndarray:
        """Each context's likeliest token."""
        return self.likeliest().answers

    @property
    def recall_ceiling(self) -> float:
        """Recall asks for one token per context, and contexts differ: nothing contradicts."""
        return 1.0

    @property
    def answer_bits(self) -> None:
        """None: recalling the likeliest tokens does not store the distribution; divergence measures that."""
        return None

    def lines(self) -> Iterator[str]:
        """Key, tab, next token, tab, joint probability."""
        words = self.vocabulary.tokens
        for row, context in enumerate(self.contexts.tolist()):
            key = " ".join(words[token] for token in context)
            entries = slice(int(self.starts[row]), int(self.starts[row + 1]))
            shares = zip(self.tokens[entries].tolist(), self.probabilities[entries].tolist(), strict=True)
            for token, share in shares:
                yield f"{key}\t{words[token]}\t{share * float(self.prior[row]):.6g}\n"

    def likeliest(self) -> AssociationTask:
        """The look-up table of each context's likeliest next token."""
        # By row, then likeliest first, then smallest token: the head of each row's run is its answer.
        order = np.lexsort((self.tokens, -self.probabilities, self._row_of))
        answers = self.tokens[order][self.starts[:-1]]
        return AssociationTask(self.contexts, answers, self.vocabulary, self.origin)

    def _shape(self) -> TaskShape:
        return self.likeliest().shape.model_copy(update={"bits": self.entropy_bits})

    def _fingerprint(self) -> str:
        names, ids = canonical_ids(self.vocabulary, self.used)
        order = np.lexsort(ids[self.contexts].T[::-1])
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        entries = np.lexsort((ids[self.tokens], rank[self._row_of]))
        # Rounded to ten digits: a table read twice may normalise its weights in another order.
        return digest(
            "distributions",
            names,
            [
                ids[self.contexts][order],
                np.round(self.prior[order], 10),
                ids[self.tokens][entries],
                np.round(self.probabilities[entries], 10),
                np.diff(self.starts)[order],
            ],
        )

    def in_vocabulary(self, vocabulary: Vocabulary) -> DistributionTask:
        if vocabulary == self.vocabulary:
            return self
        places = self.vocabulary.places_in(vocabulary, self.used)
        return replace(self, contexts=places[self.contexts], tokens=places[self.tokens], vocabulary=vocabulary)

    def known_rows(self, vocabulary: Vocabulary) -> np.ndarray:
        known = self.vocabulary.known_to(vocabulary)
        return known[self.contexts].all(1) & np.logical_and.reduceat(known[self.tokens], self.starts[:-1])


def require_associations(task: Task, why: str) -> AssociationTask:
    """The task itself, if it is one of associations; `why` ends the message for any other."""
    if not isinstance(task, AssociationTask):
        raise InputError(f"{task.origin.source}: holds {task.kind}; {why}")
    return task


def require_distributions(task: Task) -> DistributionTask:
    """The task itself, if it is one of distributions."""
    if not isinstance(task, DistributionTask):
        raise InputError(
            f"{task.origin.source}: holds {task.kind}; divergence is from distributions, so give facts with a `weight`"
        )
    return task


def require_tokens(task: Task, why: str) -> TokenTask:
    """The task itself, if its contexts are tokens; `why` ends the message for vectors."""
    if not isinstance(task, TokenTask):
        raise InputError(f"{task.origin.source}: holds {task.kind}; {why}")
    return task
