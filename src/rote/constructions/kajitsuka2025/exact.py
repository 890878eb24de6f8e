"""Theorem 4.1 in exact arithmetic, from fact tables: words of any length, so about sqrt(N) parameters.

No float holds these words, so there is no model folder of it.

Fact tables as sequences of integers: a token and its position make one value, so that order counts.

Short keys are padded to the context's length by a token of their own, so that length is carried too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.constructions.kajitsuka2025.codes import Codes
from rote.constructions.kajitsuka2025.model import Entrance
from rote.constructions.kajitsuka2025.transformer import Facts, Transformer, assemble
from rote.constructions.vardi2022.memorizer import Storage
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, Vocabulary


@dataclass(frozen=True)
class TokenValues:
    """value(t, s) = tokens[t] + positions[s]: tokens that occur in keys count from 1, positions are as far apart."""

    tokens: np.ndarray
    positions: np.ndarray
    ordered: bool

    def of(self, contexts: np.ndarray) -> np.ndarray:
        return self.tokens[contexts] + (self.positions if self.ordered else 0)

    def entrance(self) -> Entrance:
        fields = {"input": "tokens", "ordered": self.ordered, "vocab": len(self.tokens), "context": len(self.positions)}
        weights = {"tokens": self.tokens.astype(np.float64)}
        if self.ordered:
            weights["positions"] = self.positions.astype(np.float64)
        return Entrance(fields, weights)

    def table(self, codes: Codes) -> Entrance:
        """Codes straight from a table over positions and tokens, in place of F1."""
        values = self.tokens[None] + (self.positions[:, None] if self.ordered else np.zeros((1, 1), dtype=np.int64))
        fields = {"input": "table", "ordered": self.ordered, "vocab": len(self.tokens), "context": len(self.positions)}
        # Tokens that occur in no key have no value of their own, and so no code.
        table = np.where(self.tokens[None] > 0, codes.of(values), 0)
        return Entrance(fields, {"table": table.astype(np.float64)})


def token_values(task: AssociationTask, ordered: bool = True) -> TokenValues:
    """Values as small as distinctness allows; tokens that occur in no key share 0."""
    used = np.unique(task.contexts)
    tokens = np.zeros(task.vocab, dtype=np.int64)
    tokens[used] = np.arange(1, len(used) + 1)
    return TokenValues(tokens, np.arange(task.context, dtype=np.int64) * (len(used) + 1), ordered)


@dataclass(frozen=True)
class ExactMemorizer:
    """An exact Transformer, the values of its tokens, and the tokens its labels stand for."""

    transformer: Transformer
    values: TokenValues
    answers: np.ndarray
    vocabulary: Vocabulary

    def answer(self, task: AssociationTask) -> np.ndarray:
        """The answers to every fact's key, by exact evaluation, as tokens of this memorizer's vocabulary."""
        labels = self.transformer.labels(self.values.of(task.in_vocabulary(self.vocabulary).contexts))
        return self.answers[labels]

    def recalled(self, task: AssociationTask) -> int:
        return int((self.answer(task) == task.in_vocabulary(self.vocabulary).answers).sum())


def exact_memorizer(
    task: AssociationTask,
    storage: Storage = "faithful",
    ordered: bool = True,
    seed: int = 0,
    progress: Progress = SILENT,
) -> ExactMemorizer:
    """Memorize a fact table; contradictory keys keep their commonest answer."""
    values, kept = token_values(task, ordered), task.majority()
    answers, labels = np.unique(kept.answers, return_inverse=True)
    facts = Facts(values.of(kept.contexts), labels, task.context)
    transformer = assemble(facts, storage, seed=seed, progress=progress)
    return ExactMemorizer(transformer, values, answers, task.vocabulary)
