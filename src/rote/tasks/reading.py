"""From a table of text to a task: which columns are the key, which the answer, which the weight, and how keys are read.

Rows that repeat a fact (same key, same answer) are one fact. A key with several answers is refused, unless a weight
column makes it a distribution, or contradictions are kept: then every row counts as it stands, repeated or not, and
the task's ceiling says which share of them any model can recall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rote.errors import InputError, nearest, problems
from rote.tasks.association import AssociationTask
from rote.tasks.distribution import DistributionTask
from rote.tasks.keys import Tokenised, as_letters, as_words, numbered
from rote.tasks.origin import Origin, Reading
from rote.tasks.rows import distinct_rows
from rote.tasks.table import SHOWN, Table
from rote.tasks.vocabulary import PAD, SEPARATOR, Vocabulary

WEIGHT = "weight"
"""A column of this name holds weights unless it is asked for as something else."""


@dataclass(frozen=True)
class Roles:
    """Which column does what."""

    key: tuple[str, ...]
    answer: str
    weight: str | None


def task_from_table(table: Table, origin: Origin) -> AssociationTask | DistributionTask:
    """The task a table holds when it is read as `origin.reading` says; every problem is reported at once."""
    reading = origin.reading
    roles = _roles(table, reading)
    flaws = _empty_cells(table, [*roles.key, roles.answer])
    if reading.keys == "letters":
        flaws += _reserved_cells(table, roles.answer)
    weights = None
    if roles.weight is not None:
        weights, wrong = _weights(table, roles.weight)
        flaws += wrong
    key_cells = [table.columns[name] for name in roles.key]
    try:
        keys = _tokenised(key_cells, reading)
    except InputError as error:
        raise problems(table.where, [*flaws, str(error)]) from None
    known = {token: place for place, token in enumerate(keys.tokens)}
    answers = numbered(table.columns[roles.answer], known)
    rows = np.arange(table.rows)
    if weights is None and reading.contradictions == "refuse":
        rows, wrong = _one_answer_each(table, roles, keys.contexts, answers, len(known))
        flaws += wrong
    if flaws:
        raise problems(table.where, flaws)
    vocabulary = Vocabulary(known)
    if weights is not None:
        return DistributionTask.from_weighted_ids(keys.contexts, answers, weights, vocabulary, origin)
    return AssociationTask(keys.contexts[rows], answers[rows], vocabulary, origin)


def _roles(table: Table, reading: Reading) -> Roles:
    """The columns a reading names, or those it leaves to custom: the last one answers, the others are the key."""
    names = list(table.columns)
    asked = [*(reading.key or ()), *filter(None, (reading.answer, reading.weight))]
    flaws = [
        f"there is no column {name!r}{nearest(name, names)}; columns: {', '.join(names)}"
        for name in dict.fromkeys(asked)
        if name not in names
    ]
    flaws += [f"column {name!r} cannot be two things at once" for name in dict.fromkeys(asked) if asked.count(name) > 1]
    if reading.key is not None and not reading.key:
        flaws.append("key: name at least one column")
    if flaws:
        raise problems(table.where, flaws)
    weight = reading.weight
    if weight is None and WEIGHT in names and WEIGHT not in asked:
        weight = WEIGHT
    rest = [name for name in names if name != weight and name not in (reading.key or ())]
    answer = reading.answer or (rest[-1] if rest else None)
    key = reading.key or tuple(name for name in rest if name != answer)
    if answer is None or not key:
        raise InputError(
            f"{table.where}: a fact needs a key and an answer, but the columns are only {', '.join(names)}; "
            "is the file divided by another character than its name says?"
        )
    return Roles(key, answer, weight)


def _empty_cells(table: Table, names: list[str]) -> list[str]:
    flaws = []
    for name in names:
        cells = table.columns[name]
        if "" in cells:
            rows = [row for row, cell in enumerate(cells) if not cell]
            flaws.append(f"column {name!r} is empty in {table.at(rows)}; fill the cell or drop the row")
    return flaws


def _reserved_cells(table: Table, answer: str) -> list[str]:
    flaws = []
    for token in (PAD, SEPARATOR):
        if token in (cells := table.columns[answer]):
            flaws.append(
                f"column {answer!r} contains {token!r} in {table.at([cells.index(token)])}, which spelled keys use "
                "for themselves; rename that answer"
            )
    return flaws


def _weights(table: Table, name: str) -> tuple[np.ndarray, list[str]]:
    """The weights, and what is wrong with them."""
    cells = table.columns[name]
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        values = np.array([_number(cell) for cell in cells])
    unusable = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(unusable):
        shown = ", ".join(f"{cells[row]!r} in {table.at([row])}" for row in unusable[:SHOWN])
        more = f" and {len(unusable) - SHOWN} more" if len(unusable) > SHOWN else ""
        return values, [f"column {name!r}: weights are finite numbers that are not negative, found {shown}{more}"]
    if not values.any():
        return values, [f"column {name!r}: every weight is zero; give at least one fact a positive weight"]
    return values, []


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _one_answer_each(
    table: Table, roles: Roles, contexts: np.ndarray, answers: np.ndarray, vocab: int
) -> tuple[np.ndarray, list[str]]:
    """First row of each distinct fact, and the keys that have several answers."""
    _, keys = distinct_rows(contexts, vocab)
    _, first = np.unique(keys.astype(np.int64) * vocab + answers, return_index=True)
    first.sort()
    counts = np.bincount(keys[first])
    torn = np.flatnonzero(counts > 1)
    if not len(torn):
        return first, []
    by_key = first[np.argsort(keys[first], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)])
    torn = torn[np.argsort(by_key[starts[torn]])]
    shown = []
    for key in torn[:SHOWN]:
        rows = by_key[starts[key] : starts[key + 1]]
        name = " ".join(table.columns[part][rows[0]] for part in roles.key)
        said = ", ".join(
            f"{table.columns[roles.answer][row]!r} ({table.unit} {table.lines[row]})" for row in rows[:SHOWN]
        )
        more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        shown.append(f"{name!r} has {len(rows)} answers: {said}{more}")
    if len(torn) > SHOWN:
        shown.append(f"and {len(torn) - SHOWN} more keys")
    return first, [
        f"{len(torn)} contradictory key{'s' if len(torn) > 1 else ''}: {'; '.join(shown)}. "
        "Add a weight column to make a distribution, or keep them with `contradictions=keep`, which lowers the "
        "ceiling of recall"
    ]


def _tokenised(key_cells: list[list[str]], reading: Reading) -> Tokenised:
    if reading.keys == "letters":
        return as_letters(key_cells, reading.context)
    if reading.context not in (None, len(key_cells)):
        raise InputError(
            f"`context={reading.context}`: keys of whole words have one token per key column, here {len(key_cells)}; "
            "only keys in letters are padded (`keys=letters`)"
        )
    return as_words(key_cells)
