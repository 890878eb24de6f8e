"""CSV and TSV files, and text from standard input.

Cells may be quoted ("...", with "" for a quotation mark) and may then hold line breaks. Blank lines are skipped. Rows
are read by the standard library's reader, which tells the line each came from.

Cells may be divided by another character than the file's name says: the one that a first line `sep=;` states, or one
that divides all the first rows into as many cells where the expected one does not, or does so only inside of numbers
(`1,50`).
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np

from rote.errors import InputError, problems
from rote.tasks.origin import Reading
from rote.tasks.readers.header import LOOKED_AT, column_names
from rote.tasks.table import SHOWN, Table, check_names, check_width, checked_table

OTHERS = (";", "\t", "|")
"""Characters that divide the cells of files that are called .csv all the same."""

_STATED = re.compile(r'"?sep=([^\n"])"?(?=\r?\n)', re.IGNORECASE)
"""The line that Excel writes and reads before the first one, to say how cells are divided."""

_AT_ONCE = 4096
"""Rows turned into columns at a time: millions of live row lists would keep the garbage collector busy."""


def table_from_text(text: str, where: str, separator: str, reading: Reading | None = None) -> Table:
    """A table from the text of a file; `where` names it in messages."""
    reading = reading or Reading()
    notes = []
    if stated := _STATED.match(text):
        # Its line break stays, so that lines keep their numbers.
        text, separator = text[stated.end() :], stated[1]
    if reading.delimiter is not None:
        separator = reading.delimiter
    elif stated:
        pass
    elif (other := _other_delimiter(text, separator)) is not None:
        notes.append(f"cells are divided by {_spoken(other)}, not by {_spoken(separator)}")
        separator = other
    rows, ends = _first_rows(text, where, separator)
    check_width(where, len(rows[0]))
    names, headed, told = column_names(rows[0], rows[1:], reading)
    if headed:
        check_names(where, names)
    columns, lines = _cells(text, where, separator, names, ends if headed else 0)
    table = checked_table(where, names, columns, np.array(lines, dtype=np.int64), "line")
    return replace(table, notes=(*notes, *told), headerless=not headed)


def _other_delimiter(text: str, separator: str) -> str | None:
    """Another character that divides the first rows better than the one that the file's name promises."""
    head = text[: 100 * 1000].splitlines()[:100]
    line = next((line for line in head if line.strip()), "")
    promised = _width(head, separator)
    for other in OTHERS:
        if other == separator or other not in line:
            continue
        if separator not in line or (_width(head, other) and (not promised or _inside_numbers(head, separator))):
            return other
    return None


def _width(lines: list[str], separator: str) -> int | None:
    """How many cells a separator divides every row into, if it is one number above one."""
    rows = csv.reader(lines, delimiter=separator)
    try:
        widths = {len(row) for row in rows if row}
    except csv.Error:
        return None
    return widths.pop() if len(widths) == 1 and max(widths) > 1 else None


def _inside_numbers(lines: list[str], separator: str) -> bool:
    """Whether a separator stands between digits wherever it stands."""
    around = re.compile(rf"(?<!\d){re.escape(separator)}|{re.escape(separator)}(?!\d)")
    return not any(around.search(line) for line in lines)


def _first_rows(text: str, where: str, separator: str) -> tuple[list[list[str]], int]:
    """The first rows, and the line that ends the first of them."""
    reader = _rows(text, separator)
    rows, ends = [], 0
    try:
        for row in reader:
            if row:
                ends = ends or reader.line_num
                rows.append(row)
            if len(rows) > LOOKED_AT:
                break
    except csv.Error as error:
        # A line further down is read again, and complained about, with all the others.
        if not rows:
            raise InputError(f"{where}: line 1: {_cause(error)}") from None
    if not rows:
        raise InputError(f"{where}: there are no rows; give one fact per line")
    return rows, ends


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
