"""A table of text: what every reader gives and every reading starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rote.errors import InputError, listed, problems

LONGEST_CELL = 131_072
"""Characters in a cell beyond which a file is taken to be broken (an unclosed quotation mark swallows the rest)."""

MOST_COLUMNS = 16_384
"""As many as spreadsheets have. Every column of a key is a token, and attention looks at each of them."""

SHOWN = 5
"""How many offending lines, keys or names a message lists."""


@dataclass(frozen=True)
class Table:
    """Columns of text by name, all of one length, with the place each row came from."""

    where: str
    """Names the table in messages."""
    columns: dict[str, list[str]]
    lines: np.ndarray
    """For each row its line in the file (the header is line 1), or its number from 1 on where there are no lines."""
    unit: str = "line"
    notes: tuple[str, ...] = ()
    """What was noticed while reading, for the user."""
    headerless: bool = False
    """Whether the file named no columns."""

    @property
    def rows(self) -> int:
        return len(self.lines)

    def at(self, rows: Sequence[int] | np.ndarray) -> str:
        """These rows in words: `line 7`, or `lines 3, 4, 5 and 17 more`."""
        shown = ", ".join(str(int(self.lines[row])) for row in rows[:SHOWN])
        more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        return f"{self.unit}{'s' if len(rows) > 1 else ''} {shown}{more}"


def checked_table(
    where: str, names: Sequence[str], columns: Sequence[list[str]], lines: np.ndarray, unit: str
) -> Table:
    """A table whose names are usable and whose cells are text of reasonable length."""
    check_names(where, names)
    table = Table(where, dict(zip(names, columns, strict=True)), lines, unit)
    wrong = []
    if not table.rows:
        wrong.append("there are names of columns but no rows below them; add facts, one per row")
    for name, cells in table.columns.items():
        wrong += _unusable_cells(table, name, cells)
    if wrong:
        raise problems(where, wrong)
    return table


def check_width(where: str, columns: int) -> None:
    """Refuse a table of more columns than any table of facts has."""
    if columns > MOST_COLUMNS:
        raise InputError(
            f"{where}: {columns:,} columns are more than the {MOST_COLUMNS:,} of a spreadsheet; give one fact per row, "
            "its key in a few columns and its answer in one"
        )


def check_names(where: str, names: Sequence[str]) -> None:
    """Refuse column names that are empty or occur twice, and too many of them."""
    check_width(where, len(names))
    wrong = []
    twice = [name for name, times in Counter(names).items() if times > 1 and name.strip()]
    if twice:
        wrong.append(
            f"column names must differ, but {listed(list(map(repr, twice)))} occurs more than once; rename one"
        )
    unnamed = [column for column, name in enumerate(names, 1) if not name.strip()]
    if unnamed:
        wrong.append(
            f"column {listed(unnamed)} of {len(names):,} has no name; "
            "the first line names the columns: add a name, or drop the column"
        )
    if wrong:
        raise problems(where, wrong)


def _unusable_cells(table: Table, name: str, cells: list[str]) -> list[str]:
    """Cells that no reader should pass on: too long, or not text."""
    wrong = []
    if cells and max(map(len, cells)) > LONGEST_CELL:
        long = [row for row, cell in enumerate(cells) if len(cell) > LONGEST_CELL]
        wrong.append(
            f"{table.at(long)}: a cell of column {name!r} holds more than {LONGEST_CELL:,} characters; "
            "look for a quotation mark that is never closed"
        )
    whole = "".join(cells)
    if "\0" in whole:
        zero = [row for row, cell in enumerate(cells) if "\0" in cell]
        wrong.append(f"{table.at(zero)}: column {name!r} contains a NUL character; is this a text file?")
    try:
        whole.encode()
    except UnicodeEncodeError:
        lone = [row for row, cell in enumerate(cells) if any("\ud800" <= letter <= "\udfff" for letter in cell)]
        wrong.append(f"{table.at(lone)}: column {name!r} contains half of a surrogate pair, which is not text")
    return wrong
