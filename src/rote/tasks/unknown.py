"""Keys that were not stored, as facts whose answer is `unknown`: abstention that is stored in the weights.

The space of keys is the product of the tokens that stand at each position; of keys that are filled on the left, those
of every length that occurs. Where it can be enumerated, all keys that are not stored are added, and a check of every
fact is one of every key. Where it cannot, `unknown` is an answer that no key has, and a construction gives it a
threshold: a logit just below those of stored answers. Or some keys are sampled and stored. Either way others are made
up to measure how often a key that was never stored is called unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rote.errors import InputError
from rote.tasks.association import AssociationTask
from rote.tasks.rows import distinct_rows
from rote.tasks.task import Task
from rote.tasks.vocabulary import PAD, Vocabulary

UNKNOWN = "unknown"
"""The answer to a key that was not stored."""
MOST_KEYS = 200_000
"""Keys of a space that is enumerated."""
SAMPLE_SEED, TRIES = 20_240_607, 50
"""Seed of the sampled keys that are stored, and how often sampling is repeated for keys that are stored already."""


@dataclass(frozen=True, eq=False)
class KeySpace:
    """The tokens that stand at each position, by the number of positions that are filled."""

    parts: tuple[tuple[np.ndarray, ...], ...]
    """For each length that occurs, the tokens at every position; the filling token alone at those before."""

    @classmethod
    def of(cls, task: AssociationTask) -> KeySpace:
        contexts, fill = task.contexts, task.vocabulary.index.get(PAD)
        filled = np.zeros(len(contexts), np.int64) if fill is None else np.cumprod(contexts == fill, axis=1).sum(axis=1)
        columns = [np.setdiff1d(np.unique(column), [-1 if fill is None else fill]) for column in contexts.T]
        parts = []
        for length in np.unique(filled):
            before = [np.array([fill])] * int(length)
            parts.append((*before, *columns[int(length) :]))
        return cls(tuple(parts))

    @property
    def size(self) -> int:
        """How many keys there are."""
        return sum(math.prod(len(tokens) for tokens in part) for part in self.parts)

    def keys(self) -> np.ndarray:
        """All of them."""
        grids = (np.stack(np.meshgrid(*part, indexing="ij"), -1).reshape(-1, len(part)) for part in self.parts)
        return np.concatenate(list(grids))

    def sampled(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Keys at random, with replacement, all equally likely."""
        sizes = np.array([math.prod(len(tokens) for tokens in part) for part in self.parts], dtype=np.float64)
        chosen = rng.choice(len(self.parts), size=count, p=sizes / sizes.sum())
        drawn = np.empty((count, len(self.parts[0])), np.int64)
        for number, part in enumerate(self.parts):
            rows = np.flatnonzero(chosen == number)
            for position, tokens in enumerate(part):
                drawn[rows, position] = tokens[rng.integers(0, len(tokens), len(rows))]
        return drawn


def with_unknown(task: AssociationTask, sampled: int | None = None) -> AssociationTask:
    """The task with the keys that it does not store, each answered `unknown`: all of them, or so many sampled ones.

    With none of them (0, the default where there are too many) `unknown` is a word of its vocabulary alone.
    """
    if UNKNOWN in task.vocabulary.index:
        raise InputError(
            f"`unknown=True`: {UNKNOWN!r} is a word of these facts and would have two meanings; rename it there"
        )
    space = KeySpace.of(task)
    if sampled is None and space.size > MOST_KEYS:
        sampled = 0
    others = _without_stored(space.keys(), task) if sampled is None else made_up_keys(task, sampled, SAMPLE_SEED)
    vocabulary = Vocabulary([*task.vocabulary.tokens, UNKNOWN])
    contexts = np.concatenate([task.contexts, others.astype(task.contexts.dtype)])
    answers = np.concatenate([task.answers, np.full(len(others), len(vocabulary) - 1, task.answers.dtype)])
    reading = task.origin.reading.model_copy(update={"unknown": True, "unknown_keys": sampled})
    origin = task.origin.model_copy(update={"reading": reading})
    return replace(task, contexts=contexts, answers=answers, vocabulary=vocabulary, origin=origin)


def by_threshold(task: AssociationTask) -> bool:
    """Whether `unknown` is to win by a threshold, since no unknown key is stored."""
    return task.origin.reading.unknown and task.origin.reading.unknown_keys == 0


def require_unknown_keys(task: Task) -> None:
    """An error where `unknown` is to win by a threshold, which only a build on a grid sets."""
    if isinstance(task, AssociationTask) and by_threshold(task):
        raise InputError(
            f"`unknown=True`: {KeySpace.of(task).size:,} keys could be asked, more than the {MOST_KEYS:,} that are "
            "enumerated; build with `dtype=int8`, which gives unknown a threshold, or sample some of them, for example "
            f"`unknown_keys={3 * task.facts}`"
        )


def made_up_keys(task: AssociationTask, count: int, seed: int) -> np.ndarray:
    """Different keys that are not stored, at random."""
    space, rng = KeySpace.of(task), np.random.default_rng(seed)
    if count > 0.5 * (space.size - task.distinct_keys):
        raise InputError(
            f"{count:,} made-up keys: only {space.size - task.distinct_keys:,} keys are not stored, and half of them "
            "are sampled at most"
        )
    found = np.empty((0, task.context), np.int64)
    for _ in range(TRIES):
        drawn = np.concatenate([found, _without_stored(space.sampled(count, rng), task)])
        first, _ = distinct_rows(drawn, task.vocab)
        found = drawn[np.sort(first)]
        if len(found) >= count:
            break
    return found[:count]


def stored_part(task: AssociationTask) -> AssociationTask:
    """The facts that were stored, without the unknown keys."""
    unknown = task.vocabulary.index.get(UNKNOWN, -1)
    return task.take(np.flatnonzero(task.answers != unknown))


def _without_stored(keys: np.ndarray, task: AssociationTask) -> np.ndarray:
    stored = set(_texts(task.contexts.astype(np.int64)))
    return keys[[key not in stored for key in _texts(keys.astype(np.int64))]]


def _texts(keys: np.ndarray) -> Iterator[bytes]:
    return (row.tobytes() for row in np.ascontiguousarray(keys))
