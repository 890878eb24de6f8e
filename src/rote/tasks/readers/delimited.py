"""CSV and TSV files.

The first line names the columns. Cells may be quoted ("...", with "" for a quotation mark) and may then hold line
breaks. Blank lines are skipped. Rows are read by the standard library's reader, which tells the line each came from.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from rote.errors import InputError, problems
from rote.tasks.readers.text import read_text
from rote.tasks.table import SHOWN, Table, check_names, checked_table

_AT_ONCE = 4096
"""Rows turned into columns at a time: millions of live row lists would keep the garbage collector busy."""


def read_delimited(path: Path, separator: str) -> Table:
    """A table from a file whose cells are divided by `separator`."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), delimiter=separator, strict=True)
    names: list[str] = []
    columns: list[list[str]] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    ragged: list[tuple[int, int]] = []
    start = 1
    try:
        for row in reader:
            if not names:
                if row:
                    names, columns = row, [[] for _ in row]
                    check_names(str(path), names)
            elif len(row) == len(names):
                rows.append(row)
                lines.append(start)
                if len(rows) == _AT_ONCE:
                    _move(rows, columns)
            elif row:
                ragged.append((start, len(row)))
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: line {start}: {_cause(error)}") from None
    if ragged:
        shown = ", ".join(f"line {line} has {cells}" for line, cells in ragged[:SHOWN])
        more = f" and {len(ragged) - SHOWN} more lines differ" if len(ragged) > SHOWN else ""
        text = (
            f"the first line names {len(names)} columns but {shown}{more}; "
            f"give every row {len(names)} cells, and quote cells that contain {_spoken(separator)}"
        )
        raise problems(str(path), [text])
    _move(rows, columns)
    return checked_table(str(path), names, columns, np.array(lines, dtype=np.int64), "line")


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
    return {",": "a comma", "\t": "a tab"}.get(separator, repr(separator))
