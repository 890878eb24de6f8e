"""Which facts each head is for: what it adds to margins, on average, by the token at one position of the key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.tasks import TokenTask

MOST_TOKENS = 16
"""Most tokens that are distinguished, the commonest first."""


@dataclass(frozen=True)
class Specialisation:
    """What heads add to margins, by a token of the key."""

    position: int
    """Of the key, counted from 0: the one that takes fewest values, so that a group is many facts."""
    tokens: tuple[str, ...]
    facts: tuple[int, ...]
    """Facts of each token."""
    added: np.ndarray
    """Tokens x heads, layer by layer: the mean of what the head adds to these facts' margins."""


def specialisation(task: TokenTask, added: np.ndarray) -> Specialisation | None:
    """From what every head adds to every fact's margin (facts x heads); nothing where no position tells facts apart."""
    distinct = [len(np.unique(column)) for column in task.contexts.T]
    varying = [position for position, count in enumerate(distinct) if count > 1]
    if not varying:
        return None
    position = min(varying, key=lambda place: distinct[place])
    ids, group, counts = np.unique(task.contexts[:, position], return_inverse=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")[:MOST_TOKENS]
    return Specialisation(
        position=position,
        tokens=task.vocabulary.words(ids[common]),
        facts=tuple(counts[common].tolist()),
        added=np.stack([added[group == place].mean(0, dtype=np.float64) for place in common]),
    )
