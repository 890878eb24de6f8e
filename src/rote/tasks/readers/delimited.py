"""CSV and TSV files, and text from standard input.

Cells may be quoted ("...", with "" for a quotation mark) and may then hold line breaks. Blank lines are skipped. Rows
are read by the standard library's reader, which tells the line each came from.

The first line names the columns, unless it is a fact already. It is taken for a fact when one of these holds:

- its answer is the answer of another line, too;
- one of its cells is a number, and so are nearly all cells below it;
- one of its cells with a digit in it is made like most cells below it (`AB-12` like `XY-77`).

A table whose columns are asked for by names that stand in its first line has a header, whatever it looks like.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rote.errors import InputError, listed, problems
from rote.tasks.origin import Reading
from rote.tasks.readers.text import read_text
from rote.tasks.table import SHOWN, Table, check_names, check_width, checked_table

OTHERS = (";", "\t", "|")
"""Characters that divide the cells of files that are called .csv all the same."""

_AT_ONCE = 4096
"""Rows turned into columns at a time: millions of live row lists would keep the garbage collector busy."""


def read_delimited(path: Path, separator: str, reading: Reading | None = None) -> Table:
    """A table from a file whose cells are divided by `separator`, unless the reading names another delimiter."""
    return table_from_text(read_text(path), str(path), separator, reading)


def table_from_text(text: str, where: str, separator: str, reading: Reading | None = None) -> Table:
    """A table from the text of a file; `where` names it in messages."""
    reading = reading or Reading()
    notes = []
    if reading.delimiter is not None:
        separator = reading.delimiter
    elif (other := _other_delimiter(text, separator)) is not None:
        notes.append(f"cells are divided by {_spoken(other)}, not by {_spoken(separator)}")
        separator = other
    start, first, width = _first_line(text, where, separator, reading)
    check_width(where, width)
    if first is None:
        names = [f"column {number}" for number in range(1, width + 1)]
        if reading.header is None:
            notes.append(f"the first line is a fact, so the columns are called {listed(names)} (`header=yes` if not)")
    else:
        names = [name.strip() for name in first]
        check_names(where, names)
    columns, lines = _cells(text, where, separator, names, 0 if first is None else start)
    table = checked_table(where, names, columns, np.array(lines, dtype=np.int64), "line")
    return replace(table, notes=tuple(notes), headerless=first is None)


def _other_delimiter(text: str, separator: str) -> str | None:
    """Another character that divides the first line, where the one the file's name promises is not in it."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    if separator in line:
        return None
    return next((other for other in OTHERS if other != separator and other in line), None)


def _first_line(text: str, where: str, separator: str, reading: Reading) -> tuple[int, list[str] | None, int]:
    """Line that ends the header, the names in it (none where there is no header), and how many cells it has."""
    reader = _rows(text, separator)
    rows, ends = [], 0
    try:
        for row in reader:
            if row:
                ends = ends or reader.line_num
                rows.append(row)
            if len(rows) > LOOKED_AT or (rows and reading.header is not None):
                break
    except csv.Error as error:
        # A line further down is read again, and complained about, with all the others.
        if not rows:
            raise InputError(f"{where}: line 1: {_cause(error)}") from None
    if not rows:
        raise InputError(f"{where}: there are no rows; give one fact per line")
    first, *below = rows
    if reading.header is not None:
        headed = reading.header == "yes"
    else:
        asked = {*(reading.key or ()), *filter(None, (reading.answer, reading.weight))}
        headed = bool(asked & {cell.strip() for cell in first}) or not first_line_is_a_fact(first, below)
    return ends, first if headed else None, len(first)


def _cells(text: str, where: str, separator: str, names: list[str], skip: int) -> tuple[list[list[str]], list[int]]:
    """Columns of cells and the line of each row, from behind line `skip` on."""
    reader = _rows(text, separator)
    columns: list[list[str]] = [[] for _ in names]
    rows: list[list[str]] = []
    lines: list[int] = []
    ragged: list[tuple[int, int]] = []
    start = 1
    try:
        for row in reader:
            if start > skip:
                if len(row) == len(names):
                    rows.append(row)
                    lines.append(start)
                    if len(rows) == _AT_ONCE:
                        _move(rows, columns)
                elif row:
                    ragged.append((start, len(row)))
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{where}: line {start}: {_cause(error)}") from None
    if ragged:
        shown = ", ".join(f"line {line} has {cells}" for line, cells in ragged[:SHOWN])
        more = f" and {len(ragged) - SHOWN} more lines differ" if len(ragged) > SHOWN else ""
        flaw = (
            f"the first line {'names' if skip else 'has'} {len(names)} columns but {shown}{more}; "
            f"give every row {len(names)} cells, and quote cells that contain {_spoken(separator)}"
        )
        raise problems(where, [flaw])
    _move(rows, columns)
    return columns, lines


def _rows(text: str, separator: str):
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def _move(rows: list[list[str]], columns: list[list[str]]) -> None:
    for column, cells in zip(columns, zip(*rows, strict=True), strict=False):
        column.extend(cells)
    rows.clear()


def _cause(error: csv.Error) -> str:
    text = str(error)
    if "field larger" in text:
        return (
            f"a cell that begins here is too large ({text.split('(')[-1].rstrip(')')} characters at most); "
            "look for a quotation mark that is never closed"
        )
    if "unexpected end" in text:
        return "a quotation mark that is opened here is never closed"
    if "expected after" in text:
        return 'text follows a closing quotation mark; write "" for a quotation mark inside a quoted cell'
    return text


def _spoken(separator: str) -> str:
    return {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}.get(separator, repr(separator))


NEARLY_ALL = 0.9
MOST = 0.5
LOOKED_AT = 1000
"""Lines that are looked at; more of them change nothing."""

_KINDS = ((re.compile(r"[^\W\d_]+"), "a"), (re.compile(r"\d+"), "9"))


def first_line_is_a_fact(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a table's first line is a fact like those below it."""
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
