"""The shape of a task counts groups of positions that share no tokens: each costs rank (see test_feature_rank)."""

from __future__ import annotations

import numpy as np

from rote.tasks import AssociationTask, Vocabulary


def groups(*columns: range) -> int:
    """Of the table with every combination of one token from each column."""
    contexts = np.stack(np.meshgrid(*map(np.asarray, columns), indexing="ij"), -1).reshape(-1, len(columns))
    task = AssociationTask(contexts, np.zeros(len(contexts), dtype=int), Vocabulary.numbered(8))
    return task.shape.groups


def test_groups_are_counted():
    assert groups(range(3), range(3, 7)) == 2
    assert groups(range(5), range(4, 7)) == 1
    assert groups(range(2), range(2, 4), range(4, 6)) == 3
    # The first and the last position share nothing but are joined through the middle one.
    assert groups(range(3), range(2, 5), range(4, 6)) == 1
