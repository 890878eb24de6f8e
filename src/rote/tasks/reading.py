"""From a table of text to a task: which columns are the key, which the answer, which the weight, and how keys are read.

Rows that repeat a fact (same key, same answer) are one fact. `contradictions` says what happens to a key
with several answers; a weight column makes them a distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rote.errors import InputError, listed, nearest, problems
from rote.tasks.association import AssociationTask
from rote.tasks.cleaning import one_answer_each, stripped, without_blanks
from rote.tasks.distribution import DistributionTask
from rote.tasks.folding import folded_columns
from rote.tasks.origin import Origin, Reading
from rote.tasks.table import SHOWN, Table
from rote.tasks.token_task import TokenTask
from rote.tasks.vocabulary import PAD, SEPARATOR, Vocabulary

JOINED = "\0"
"""Stands between the cells of a key while they are spelled; no cell contains it."""

SHORTEST = 2
"""Fewest tokens of a padded key: with one, attention could only look at itself."""

MOST_IDS = 2**30
"""Most token ids of one task: 4 GiB."""


@dataclass(frozen=True)
class Tokenised:
    """Keys as token ids, with the tokens they use in the order of their ids."""

    contexts: np.ndarray
    tokens: list[str]


def numbered(cells: Sequence[str], known: dict[str, int]) -> np.ndarray:
    """The number of each cell in `known`, which grows by the cells it lacks in order of appearance."""
    for cell in dict.fromkeys(cells):
        known.setdefault(cell, len(known))
    return np.fromiter(map(known.__getitem__, cells), dtype=np.int32, count=len(cells))


def as_words(columns: Sequence[Sequence[str]]) -> Tokenised:
    """Each cell is one token; equal cells are equal tokens, whatever their column."""
    known: dict[str, int] = {}
    contexts = np.stack([numbered(cells, known) for cells in columns], axis=1)
    return Tokenised(contexts, list(known))


def as_spaces(columns: Sequence[Sequence[str]], context: int | None = None) -> Tokenised:
    """Cells split at their spaces, padded on the left to `context` tokens. Default: those of the longest key."""
    split = [" ".join(cells).split() for cells in zip(*columns, strict=True)]
    longest = max(map(len, split))
    if context is not None and context < longest:
        key = " ".join(max(split, key=len))
        raise InputError(
            f"`context={context}`: the key {key!r} alone has {longest} words; give at least {longest}, "
            "or leave `context` out"
        )
    width = context or max(SHORTEST, longest)
    if width * len(split) > MOST_IDS:
        raise InputError(f"keys split at spaces: {len(split)} keys padded to {width} words are too many tokens to hold")
    padded = any(len(words) < width for words in split)
    known: dict[str, int] = {PAD: 0} if padded else {}
    contexts = np.zeros((len(split), width), dtype=np.int32)
    for row, words in enumerate(split):
        contexts[row, width - len(words) :] = numbered(words, known)
    return Tokenised(contexts, list(known))


def as_letters(columns: Sequence[Sequence[str]], context: int | None = None) -> Tokenised:
    """Cells spelled in letters (code points), padded on the left so that the last token is the key's own last letter.

    Several cells of one key stand in one spelling with a separator token between them. `context` is the number of
    tokens to pad to, at least two. Default: the longest key's letters.
    """
    spelled = list(columns[0]) if len(columns) == 1 else [JOINED.join(cells) for cells in zip(*columns, strict=True)]
    lengths = np.fromiter(map(len, spelled), dtype=np.int64, count=len(spelled))
    longest = int(lengths.max())
    if context is not None and context < longest:
        key = spelled[int(lengths.argmax())].replace(JOINED, " ")
        raise InputError(
            f"`context={context}`: the key {key!r} alone has {longest} letters; give at least {longest}, "
            "or leave `context` out"
        )
    width = context or max(SHORTEST, longest)
    if width * len(spelled) > MOST_IDS:
        raise InputError(
            f"keys in letters: {len(spelled)} keys padded to {width} letters are too many tokens to hold; "
            "shorten the longest keys, or read keys as words (`keys=words`)"
        )
    points, letters = np.unique(np.frombuffer("".join(spelled).encode("utf-32-le"), dtype="<u4"), return_inverse=True)
    tokens = [SEPARATOR if point == 0 else chr(point) for point in points]
    padded = bool((lengths < width).any())
    contexts = np.zeros((len(spelled), width), dtype=np.int32)
    # A row's letters end at its last place: its first letter stands `length` places before the row's end.
    within = np.arange(len(letters)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    row = np.repeat(np.arange(len(spelled)), lengths)
    contexts[row, width - np.repeat(lengths, lengths) + within] = letters + padded
    return Tokenised(contexts, [PAD, *tokens] if padded else tokens)


LONGEST_SPELLED = 80
"""Longest key, in letters, that is spelled by default: attention looks at every letter."""

SENTENCE = 4
"""Words per key, on average, from which keys are sentences."""

ANSWER = "answer"
"""A column of this name is the answer by default."""

WEIGHT = "weight"
"""A column of this name holds weights unless it is asked for as something else."""


@dataclass(frozen=True)
class Roles:
    key: tuple[str, ...]
    answer: str
    weight: str | None


def task_from_table(table: Table, origin: Origin) -> TokenTask:
    """The task a table holds when it is read as `origin.reading` says; every problem is reported at once.

    The task's origin says how it was read, with every default filled in and notes on what was detected.
    """
    reading = origin.reading
    roles = _roles(table, reading)
    used = [*roles.key, roles.answer]
    table = stripped(table, used)
    if reading.blanks == "skip":
        table = without_blanks(table, used)
        if not table.rows:
            raise InputError(f"{table.where}: every row has a blank cell; there are no facts left")
    flaws = _empty_cells(table, used)
    weights = None
    if roles.weight is not None:
        weights, wrong = _weights(table, roles.weight)
        flaws += wrong
    key_cells = [table.columns[name] for name in roles.key]
    reading, note = _chosen_keys(reading, key_cells)
    key_cells, same = folded_columns(key_cells, reading)
    if reading.keys != "words":
        flaws += _reserved_cells(table, roles.answer)
    try:
        keys = _tokenised(key_cells, reading)
    except InputError as error:
        raise problems(table.where, [*flaws, str(error)]) from None
    known = {token: id for id, token in enumerate(keys.tokens)}
    answers = numbered(table.columns[roles.answer], known)
    rows, notes = np.arange(table.rows), [*table.notes, *_chosen_columns(origin.reading, roles), *note, *same]
    if weights is None and reading.contradictions != "keep":
        rows, wrong, said = one_answer_each(
            table, roles.key, roles.answer, keys.contexts, answers, len(known), reading.contradictions
        )  # fmt: skip
        flaws += wrong
        notes += said
    if flaws:
        raise problems(table.where, flaws)
    vocabulary = Vocabulary(known)
    if reading.keys != "words":
        reading = reading.model_copy(update={"context": keys.contexts.shape[1]})
    if table.headerless:
        reading = reading.model_copy(update={"header": "no"})
    origin = origin.model_copy(
        update={
            "reading": reading,
            "key_columns": roles.key,
            "answer_column": roles.answer,
            "notes": (*origin.notes, *notes),
        }
    )
    if weights is not None:
        return DistributionTask.from_weighted_ids(keys.contexts, answers, weights, vocabulary, origin)
    return AssociationTask(keys.contexts[rows], answers[rows], vocabulary, origin)


def _chosen_columns(reading: Reading, roles: Roles) -> list[str]:
    """A note on which columns are key and answer, where a table has more than two and neither the user nor a column's
    name said so."""
    if reading.key is not None or reading.answer is not None or len(roles.key) < 2 or roles.answer == ANSWER:
        return []
    return [f"keys are the columns {listed(roles.key)}, answers {roles.answer} (`key` and `answer` choose others)"]


def _chosen_keys(reading: Reading, key_cells: list[list[str]]) -> tuple[Reading, list[str]]:
    """The reading with a choice of words or letters, and a note about it where the user made none.

    Keys of several cells have something to attend to as they are. A key of one cell would be a single token, so it is
    spelled, or split at its spaces where it is a sentence or longer than `LONGEST_SPELLED` letters.
    """
    if reading.keys is not None:
        return reading, []
    if len(key_cells) > 1:
        return reading.model_copy(update={"keys": "words"}), []
    longest = max(map(len, key_cells[0]))
    if sum(len(cell.split()) for cell in key_cells[0]) >= SENTENCE * len(key_cells[0]):
        text = "keys are sentences, so they are read as the words that spaces divide (`keys=letters` spells them)"
        return reading.model_copy(update={"keys": "spaces"}), [text]
    if longest > LONGEST_SPELLED and all(" " in cell for cell in key_cells[0] if len(cell) > LONGEST_SPELLED):
        text = "keys are long, so they are read as the words that spaces divide (`keys=letters` spells them)"
        return reading.model_copy(update={"keys": "spaces"}), [text]
    text = "keys are one cell each, so they are read in letters (`keys=words` takes each as one token)"
    return reading.model_copy(update={"keys": "letters"}), [text]


def _roles(table: Table, reading: Reading) -> Roles:
    """The columns that a reading names. Default: the last one is the answer, the others are the key."""
    names = list(table.columns)
    asked = [*(reading.key or ()), *(name for name in (reading.answer, reading.weight) if name is not None)]
    flaws = [
        f"there is no column {name!r}{nearest(name, names)}; columns: {listed(names)}"
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
            f"{table.where}: a fact needs a key and an answer, but the columns are only {listed(names)}; "
            "is the file divided by another character than its name says?"
        )
    return Roles(key, answer, weight)


def _empty_cells(table: Table, names: list[str]) -> list[str]:
    flaws = []
    for name in names:
        cells = table.columns[name]
        if "" in cells:
            rows = [row for row, cell in enumerate(cells) if not cell]
            flaws.append(
                f"column {name!r} is empty in {table.at(rows)}; fill the cell, or leave such rows out (`blanks=skip`)"
            )
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


def _tokenised(key_cells: list[list[str]], reading: Reading) -> Tokenised:
    if reading.keys == "letters":
        return as_letters(key_cells, reading.context)
    if reading.keys == "spaces":
        return as_spaces(key_cells, reading.context)
    if reading.context not in (None, len(key_cells)):
        raise InputError(
            f"`context={reading.context}`: keys of whole words have one token per key column, here {len(key_cells)}; "
            "only keys in letters or split at spaces are padded (`keys=letters`, `keys=spaces`)"
        )
    return as_words(key_cells)
