"""Theorem 4.1 in exact arithmetic, from fact tables: words of any length, so about sqrt(N) parameters.

No float holds these words, so there is no model folder of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.constructions.kajitsuka2025.token_values import TokenValues, token_values
from rote.constructions.kajitsuka2025.transformer import Facts, Transformer, assemble
from rote.constructions.vardi2022.memorizer import Storage
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, Vocabulary


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
        """Facts answered rightly."""
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
