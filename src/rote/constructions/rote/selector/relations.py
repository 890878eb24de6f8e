"""A table of facts as relations over subjects: which token of a key is the subject, and which relations share a line.

The tokens of a key other than its subject, taken together, are the fact's *relation*; a relation maps subjects to
answers. A *line* is an order of the subjects, kept as one coordinate of their embeddings. A relation that has a line to
itself orders the subjects by the number of their answer. Several relations can share a line if, in one order of the
subjects, those of every answer are consecutive for each of them (`consecutive`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from rote.constructions.rote.selector.consecutive import consecutive_order
from rote.tasks import AssociationTask
from rote.tasks.rows import distinct_rows

Lines = tuple[tuple[int, ...], ...]
"""Relations by line."""

EXHAUSTIVE = 8
"""Relations up to which every way to share lines is looked at; more of them are shared greedily."""
ORDERED_ELEMENTS = 3_000
"""Elements (groups of subjects that no relation tells apart) up to which a common order is looked for."""


@dataclass(frozen=True, eq=False)
class Relations:
    """Facts by relation: `answers[r, s]` is the answer's token, or -1 where the table has no such fact."""

    subject_position: int
    subjects: np.ndarray
    """Token id of each subject."""
    keys: np.ndarray
    """Relations x other positions: the tokens of each relation, in the order of their positions."""
    answers: np.ndarray

    @classmethod
    def of(cls, task: AssociationTask, subject_position: int) -> Relations:
        """The facts of a task whose keys are distinct, with the token at this position as subject."""
        others = np.delete(task.contexts, subject_position, axis=1)
        first, relation = distinct_rows(others, task.vocab)
        subjects, subject = np.unique(task.contexts[:, subject_position], return_inverse=True)
        answers = np.full((len(first), len(subjects)), -1, dtype=np.int64)
        answers[relation, subject] = task.answers
        return cls(subject_position, subjects, others[first], answers)

    @property
    def count(self) -> int:
        return len(self.answers)

    @cached_property
    def answer_sets(self) -> tuple[frozenset[int], ...]:
        return tuple(frozenset(np.unique(row[row >= 0]).tolist()) for row in self.answers)

    @cached_property
    def shareable(self) -> tuple[int, ...]:
        """Relations none of whose answers is an answer of another one, so that each answer has one place on a line."""
        uses: dict[int, int] = {}
        for answers in self.answer_sets:
            for answer in answers:
                uses[answer] = uses.get(answer, 0) + 1
        return tuple(
            relation
            for relation, answers in enumerate(self.answer_sets)
            if all(uses[answer] == 1 for answer in answers)
        )

    def shared_order(self, relations: Sequence[int]) -> np.ndarray | None:
        """The place of every subject in an order that all these relations can read, or None where there is none.

        Subjects that none of them tells apart share a place. A missing fact is never asked for, so it is filled in from
        another subject that agrees elsewhere, where there is one.
        """
        signatures = _filled(self.answers[list(relations)].T)
        distinct, element = np.unique(signatures, axis=0, return_inverse=True)
        element = element.reshape(-1)
        if len(distinct) > ORDERED_ELEMENTS:
            return None
        together = [
            np.flatnonzero(column == answer).tolist()
            for column in distinct.T
            for answer, count in zip(*np.unique(column[column >= 0], return_counts=True), strict=True)
            if count > 1
        ]
        order = consecutive_order(len(distinct), together)
        if order is None:
            return None
        place = np.empty(len(distinct), dtype=np.int64)
        place[order] = np.arange(len(distinct))
        return place[element]

    def places_on(self, line: Sequence[int]) -> np.ndarray:
        """The places of subjects on a line that these relations are known to share."""
        places = self.shared_order(line)
        if places is None:
            raise ValueError("these relations have no common order")
        return places

    @cached_property
    def lines(self) -> Lines:
        """Relations by line, lines of several relations first: as few lines as were found."""
        shareable = self.shareable
        groups = self._fewest_groups(shareable) if len(shareable) <= EXHAUSTIVE else self._greedy_groups(shareable)
        alone = [(relation,) for relation in range(self.count) if relation not in set(shareable)]
        return tuple(sorted([*groups, *alone], key=lambda group: (-len(group), group)))

    def _fewest_groups(self, relations: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The fewest groups with a common order each: over all ways to part the relations."""

        @cache
        def fits(group: tuple[int, ...]) -> bool:
            # A part of a group that fits fits as well, so a group with a part that does not is not tried.
            if len(group) <= 1:
                return True
            return fits(group[:-1]) and fits(group[1:]) and self.shared_order(group) is not None

        @cache
        def best(rest: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
            if not rest:
                return ()
            first, others = rest[0], rest[1:]
            candidates = []
            for mask in range(2 ** len(others)):
                group = (first, *(other for place, other in enumerate(others) if mask >> place & 1))
                if fits(group):
                    left = tuple(other for other in others if other not in group)
                    candidates.append((group, *best(left)))
            return min(candidates, key=len)

        return list(best(relations))

    def _greedy_groups(self, relations: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Each relation joins the first group whose order it can share; the coarsest relations come first."""
        groups: list[tuple[int, ...]] = []
        for relation in sorted(relations, key=lambda relation: (len(self.answer_sets[relation]), relation)):
            for place, group in enumerate(groups):
                if self.shared_order((*group, relation)) is not None:
                    groups[place] = (*group, relation)
                    break
            else:
                groups.append((relation,))
        return groups


def _filled(signatures: np.ndarray) -> np.ndarray:
    """Rows whose missing entries (-1) are those of the first complete row that agrees with them elsewhere."""
    missing = (signatures < 0).any(axis=1)
    complete = np.unique(signatures[~missing], axis=0)
    filled = signatures.copy()
    for row in np.flatnonzero(missing):
        known = signatures[row] >= 0
        agree = (complete[:, known] == signatures[row, known]).all(axis=1)
        if agree.any():
            filled[row] = complete[np.argmax(agree)]
    return filled
