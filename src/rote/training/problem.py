"""The training problem: distinct contexts, each with a weight and a distribution over next tokens.

Rows of an association task that share a key become one context whose next-token distribution is their answers'
frequencies: its cross-entropy, up to a constant, is the sum of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rote.errors import InputError
from rote.tasks import AssociationTask, DistributionTask, Task


@dataclass(frozen=True, eq=False)
class TrainingProblem:
    """Next-token distributions in sparse rows: `tokens[starts[c]:starts[c + 1]]` with their `probabilities`."""

    contexts: np.ndarray
    """Distinct contexts (contexts x context length), int32, in lexicographic order."""
    prior: np.ndarray
    """How often each context occurs; sums to one."""
    starts: np.ndarray
    tokens: np.ndarray
    probabilities: np.ndarray
    vocab: int
    counts_share: bool
    """True if a prediction scores the share of rows it answers (associations), else 1 for the likeliest token."""

    @classmethod
    def of(cls, task: Task) -> TrainingProblem:
        if isinstance(task, AssociationTask):
            return cls._of_associations(task)
        if isinstance(task, DistributionTask):
            return cls._of_distributions(task)
        raise InputError(
            f"training takes associations or distributions over tokens, not a {type(task).__name__}; "
            "models of vector tasks are built, not trained"
        )

    @classmethod
    def _of_associations(cls, task: AssociationTask) -> TrainingProblem:
        contexts, key = np.unique(task.contexts, axis=0, return_inverse=True)
        pair = key.reshape(-1).astype(np.int64) * task.vocab + task.answers
        pairs, counts = np.unique(pair, return_counts=True)
        row = pairs // task.vocab
        occurrences = np.bincount(row, weights=counts, minlength=len(contexts))
        return cls(
            contexts=np.ascontiguousarray(contexts, dtype=np.int32),
            prior=occurrences / task.facts,
            starts=np.searchsorted(row, np.arange(len(contexts) + 1)).astype(np.int64),
            tokens=(pairs % task.vocab).astype(np.int32),
            probabilities=(counts / occurrences[row]).astype(np.float32),
            vocab=task.vocab,
            counts_share=True,
        )

    @classmethod
    def _of_distributions(cls, task: DistributionTask) -> TrainingProblem:
        order = np.lexsort(task.contexts.T[::-1])
        lengths = np.diff(task.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.repeat(task.starts[:-1][order] - starts[:-1], lengths) + np.arange(starts[-1])
        return cls(
            contexts=np.ascontiguousarray(task.contexts[order]),
            prior=task.prior[order],
            starts=starts,
            tokens=task.tokens[entries],
            probabilities=task.probabilities[entries].astype(np.float32),
            vocab=task.vocab,
            counts_share=False,
        )

    def __len__(self) -> int:
        return len(self.contexts)

    @property
    def context(self) -> int:
        return self.contexts.shape[1]

    @cached_property
    def rows(self) -> np.ndarray:
        """Context of each sparse entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def answers(self) -> np.ndarray:
        """Each context's likeliest next token (the first of equals)."""
        order = np.lexsort((np.arange(len(self.tokens)), -self.probabilities, self.rows))
        return self.tokens[order[self.starts[:-1]]]

    @cached_property
    def grid(self) -> bool:
        """True if the contexts are all pairs of tokens, which form a matrix and need no look-ups."""
        return self.context == 2 and len(self) == self.vocab**2

    @cached_property
    def uniform(self) -> np.ndarray:
        """Weights of the plain accuracy: every row of a table alike, every context of a distribution task alike."""
        return self.prior if self.counts_share else np.full(len(self), 1 / len(self))

    @cached_property
    def entropy(self) -> float:
        """Least cross-entropy (nats) any model can reach under the prior."""
        terms = self.probabilities.astype(np.float64) * np.log(np.maximum(self.probabilities, 1e-38))
        return -float(np.bincount(self.rows, terms, len(self)) @ self.prior)

    def scores(self, predicted: np.ndarray) -> np.ndarray:
        """Share of each context's rows that a predicted token (-1: none) answers, or whether it is the likeliest."""
        if not self.counts_share:
            return (predicted == self.answers).astype(np.float64)
        right = np.where(self.tokens == predicted[self.rows], self.probabilities.astype(np.float64), 0.0)
        return np.bincount(self.rows, right, len(self))

    def draw(self, samples: int, rng: np.random.Generator) -> np.ndarray:
        """Contexts sampled with replacement from the prior."""
        if np.ptp(self.prior) <= 1e-12 * self.prior.max():
            return rng.integers(len(self), size=samples, dtype=np.int32)
        return rng.choice(len(self), size=samples, p=self.prior).astype(np.int32)
