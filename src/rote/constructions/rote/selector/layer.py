"""Whole-number weights that select a subject's number by its relation: the layer of `rote.selector`.

Every line j is `digits` coordinates of the subjects' embeddings. One head per line compares a code of the relation's
token with the subject's own number; scores are so large that attention is exactly 0 or 1, and the head adds the
subject's number on line j to the first coordinates if and only if the relation reads line j. What heads add otherwise
depends on the relation alone: an offset, which keeps relations that share a line apart. So the stream ends as

    (number on the relation's line + offset of the relation, ..., 1, ...),

a point y with a constant beside it, and the unembedding gives each answer a line in y (`unembedding`).

Three layers do this. Keys of two tokens have a lean one each for the subject last and the subject first, of dimension
max(C, 2) for C lines; longer keys need one coordinate more, for the constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.constructions.rote.selector.relations import Relations

SATURATING = 128
"""A difference of scores at which attention is exactly 0 or 1: exp(-128) is zero in float32 and below the last bit of 1
in float64."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Tensors of the attention layer, in whole numbers, and the coordinate of the stream that is constant."""

    tokens: np.ndarray
    positions: np.ndarray
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    output: np.ndarray
    constant: int
    sign: int = 1
    """What the constant coordinate holds: 1 or -1."""

    def points(self, contexts: np.ndarray, digits: int) -> tuple[np.ndarray, int]:
        """y of every context (contexts x digits), by hard attention in whole numbers; and the largest number that a sum
        over heads may reach on the way, in whatever order."""
        # Heads read and write a few coordinates each: with hundreds of them, all others would take minutes.
        written = np.union1d(np.arange(digits), np.flatnonzero(self.output.any(axis=(0, 2))))
        columns = np.ascontiguousarray(contexts.T)
        last, asked, asking = columns[-1], np.empty(0), None
        stream = self.tokens[:, written][last] + self.positions[-1, written]
        reach = np.abs(stream)
        for query, key, value, output in zip(self.query, self.key, self.value, self.output, strict=True):
            if asking is None or not np.array_equal(query, asking):
                asked, asking = self._along(query)[-1][last], query
            scores = (along[column] for along, column in zip(self._along(key), columns, strict=True))
            best, attended, seen = next(scores) * asked, columns[0].copy(), np.zeros(len(contexts), dtype=np.int64)
            for place, score in enumerate(scores, 1):
                above = (score := score * asked) > best
                for kept, new in ((best, score), (attended, columns[place]), (seen, place)):
                    np.copyto(kept, new, where=above)
            read = np.flatnonzero(value.any(axis=0))
            moved = (output[written] @ value[:, read]).T
            added = (self.tokens[:, read] @ moved)[attended] + (self.positions[:, read] @ moved)[seen]
            stream += added
            reach += np.abs(added)
        untouched = self.tokens[np.unique(last)] + self.positions[-1]
        return stream[:, :digits], max(int(reach.max()), int(np.abs(untouched).max()))

    def _along(self, direction: np.ndarray) -> np.ndarray:
        """The product with an embedded token, for every position and token."""
        read = np.flatnonzero(direction)
        return (self.tokens[:, read] @ direction[read]) + (self.positions[:, read] @ direction[read])[:, None]

    def largest_asked(self) -> int:
        """A bound on what a head's query is of any token at the last position."""
        coordinates = [np.flatnonzero(query) for query in self.query]
        return max(
            int((np.abs(self.tokens[:, read] + self.positions[-1, read]) @ np.abs(query[read])).max())
            for query, read in zip(self.query, coordinates, strict=True)
        )


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers that relations with a line of their own share: digits of each answer, the first one from 0."""

    digits: np.ndarray
    """Vocabulary x digits; zero for tokens that no such relation answers with."""
    size: int
    """Values that the first digit takes."""


def own_numbers(relations: Relations, relation: int, numbers: Numbers, digits: int, low: int) -> np.ndarray:
    """Subjects x digits: the number of each one's answer, the first digit counted from `low`; where there is no fact,
    the lowest."""
    spoken = np.zeros((len(relations.subjects), digits), dtype=np.int64)
    stored = relations.answers[relation] >= 0
    spoken[stored] = numbers.digits[relations.answers[relation][stored]]
    spoken[:, 0] += low
    return spoken


class Heads:
    """Heads one after the other; values of fewer rows than `digits` are filled with zeros."""

    def __init__(self, dim: int, digits: int) -> None:
        self.dim, self.digits = dim, digits
        self.queries: list[np.ndarray] = []
        self.keys: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.outputs: list[np.ndarray] = []

    def add(self, query: np.ndarray, key: np.ndarray, value: np.ndarray, output: np.ndarray) -> None:
        missing = self.digits - len(value)
        self.queries.append(query)
        self.keys.append(key)
        self.values.append(np.pad(value, ((0, missing), (0, 0))))
        self.outputs.append(np.pad(output, ((0, 0), (0, missing))))

    def tensors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return np.stack(self.queries), np.stack(self.keys), np.stack(self.values), np.stack(self.outputs)
