"""Changes of a table of facts: answers that are set, facts that are added, facts that are forgotten.

A model folder records the changes that were made to its model, so that its facts can be read again: those of the
source, then the changes in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from rote.errors import InputError
from rote.tasks.association import AssociationTask
from rote.tasks.change import Change
from rote.tasks.vocabulary import Vocabulary

FEW_KEYS = 16
"""Keys up to which each is searched for, instead of a dictionary being made."""


def final(changes: Iterable[Change]) -> dict[tuple[str, ...], Change]:
    """The last change of every key, in the order in which keys were first changed."""
    last: dict[tuple[str, ...], Change] = {}
    for change in changes:
        last[change.key] = change
    return last


def changed(task: AssociationTask, changes: Iterable[Change]) -> AssociationTask:
    """The facts after these changes: answers replaced in place, forgotten facts left out, added facts at the end.

    The task has one fact per key. Answers that are new to its vocabulary are appended to it in order.
    """
    changes = list(changes)
    if not changes:
        return task
    pending = final(changes)
    index, tokens = dict(task.vocabulary.index), list(task.vocabulary.tokens)
    for change in changes:
        if change.answer is not None and change.answer not in index:
            index[change.answer] = len(tokens)
            tokens.append(change.answer)
    answers, kept = task.answers.copy(), np.ones(task.facts, dtype=bool)
    row_of = rows_by_key(task)
    added: list[tuple[list[int], int]] = []
    for key, change in pending.items():
        row = row_of.get(_ids(key, index, task.context))
        if change.answer is None:
            if row is not None:
                kept[row] = False
        elif row is None:
            added.append((list(_ids(key, index, task.context)), index[change.answer]))
        else:
            answers[row] = index[change.answer]
    contexts = task.contexts
    vocabulary = task.vocabulary if len(tokens) == len(task.vocabulary) else Vocabulary(tokens)
    if kept.all() and not added:
        return task.answering(answers, vocabulary)
    if not kept.all():
        contexts, answers = contexts[kept], answers[kept]
    if added:
        contexts = np.concatenate([contexts, np.array([key for key, _ in added], dtype=contexts.dtype)])
        answers = np.concatenate([answers, np.array([answer for _, answer in added], dtype=answers.dtype)])
    return replace(task, contexts=contexts, answers=answers, vocabulary=vocabulary)


def changed_further(
    task: AssociationTask, history: Iterable[Change], before: AssociationTask, changes: Iterable[Change]
) -> AssociationTask:
    """`changed(task, (*history, *changes))`, where `before` is `changed(task, history)`.

    Answers of keys that are stored are set in `before`. Anything else may give another order of rows there.
    """
    changes = list(changes)
    rows, index = rows_by_key(before), before.vocabulary.index
    if all(
        change.answer is not None and rows.get(_ids(change.key, index, task.context)) is not None for change in changes
    ):
        return changed(before, changes)
    return changed(task, (*history, *changes))


class RowsByKey:
    """The row of every key of a task, by its token ids.

    The first few keys are searched for in the array of contexts. A dictionary of all keys, which takes as long to make
    as the change of a model's weights, is made where more are asked for.
    """

    def __init__(self, contexts: np.ndarray) -> None:
        self._contexts, self._searched = contexts, 0

    @cached_property
    def _rows(self) -> dict[tuple[int, ...], int]:
        return {tuple(key): row for row, key in enumerate(self._contexts.tolist())}

    def get(self, key: tuple[int, ...]) -> int | None:
        """The row of a key; None if no fact has it."""
        self._searched += 1
        if self._searched > FEW_KEYS:
            return self._rows.get(key)
        found = np.flatnonzero((self._contexts == np.array(key)).all(1))
        return int(found[-1]) if len(found) else None

    def __contains__(self, key: tuple[int, ...]) -> bool:
        return self.get(key) is not None


def rows_by_key(task: AssociationTask) -> RowsByKey:
    """The row of every key, by its token ids."""
    return RowsByKey(task.contexts)


def _ids(key: tuple[str, ...], index: dict[str, int], context: int) -> tuple[int, ...]:
    if len(key) != context or any(token not in index for token in key):
        raise InputError(f"a change of the key {' '.join(key)!r}: it is not made of the tokens of these facts")
    return tuple(index[token] for token in key)
