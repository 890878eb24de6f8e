"""Whether a table's first row names its columns, or is a fact already.

It is taken for a fact when one of these holds:

- its answer is the answer of another row, too;
- one of its cells is a number, and so are nearly all cells below it;
- one of its cells with a digit in it is made like most cells below it (`AB-12` like `XY-77`).

A table whose columns are asked for by names that stand in its first row has a header, whatever it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rote.errors import listed
from rote.tasks.origin import Reading

NEARLY_ALL = 0.9
MOST = 0.5
LOOKED_AT = 1000
"""Rows that are looked at; more of them change nothing."""

_KINDS = ((re.compile(r"[^\W\d_]+"), "a"), (re.compile(r"\d+"), "9"))


def column_names(
    first: Sequence[str], below: Sequence[Sequence[str]], reading: Reading
) -> tuple[list[str], bool, list[str]]:
    """Names of the columns, whether the first row gave them, and a note where that was noticed."""
    if reading.header is not None:
        headed = reading.header == "yes"
    else:
        asked = {*(reading.key or ()), *filter(None, (reading.answer, reading.weight))}
        headed = bool(asked & {cell.strip() for cell in first}) or not first_row_is_a_fact(first, below)
    if headed:
        return [name.strip() for name in first], True, []
    names = [f"column {number}" for number in range(1, len(first) + 1)]
    if reading.header is not None:
        return names, False, []
    note = f"the first line is a fact, so the columns are called {listed(names)} (`header=yes` if not)"
    return names, False, [note]


def first_row_is_a_fact(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a table's first row is a fact like those below it."""
    below = [row for row in below[:LOOKED_AT] if len(row) == len(first)]
    if not below:
        return False
    if len(first) > 1 and first[-1].strip() and any(row[-1].strip() == first[-1].strip() for row in below):
        return True
    return any(_alike(cell.strip(), [row[column].strip() for row in below]) for column, cell in enumerate(first))


def _alike(cell: str, others: list[str]) -> bool:
    if not any(character.isdigit() for character in cell):
        return False
    if _is_number(cell):
        return sum(map(_is_number, others)) >= NEARLY_ALL * len(others)
    return sum(_made_of(other) == _made_of(cell) for other in others) > MOST * len(others)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _made_of(cell: str) -> str:
    """The kinds of characters in a cell, runs of letters and of digits as one each."""
    for pattern, sign in _KINDS:
        cell = pattern.sub(sign, cell)
    return cell
