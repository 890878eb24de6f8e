"""JSON lines: one object per line, all with the same names. Numbers are kept as they are written."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rote.errors import listed, problems
from rote.tasks.table import SHOWN, Table, check_width, checked_table

_WORDS = {True: "true", False: "false", None: ""}


def table_from_lines(text: str, where: str) -> Table:
    """A table from the text of such a file; `where` names it in messages."""
    decode = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str).decode
    names: list[str] = []
    columns: list[list[str]] = []
    lines: list[int] = []
    broken: list[str] = []
    for line, written in enumerate(text.split("\n"), 1):
        if not written or written.isspace():
            continue
        try:
            row = decode(written)
        except json.JSONDecodeError as error:
            broken.append(f"line {line} is not JSON ({error.msg} at character {error.pos + 1})")
            continue
        except RecursionError:
            broken.append(f"line {line} is nested too deeply; facts are flat objects")
            continue
        if isinstance(row, dict) and not names and row:
            check_width(where, len(row))
            names, columns = list(row), [[] for _ in row]
        wrong = _unlike(row, names)
        if wrong:
            broken.append(f"line {line} {wrong}")
            continue
        for column, name in zip(columns, names, strict=True):
            cell = row[name]
            column.append(cell if type(cell) is str else _WORDS[cell])
        lines.append(line)
    if broken:
        more = [f"and {len(broken) - SHOWN} more lines"] if len(broken) > SHOWN else []
        raise problems(where, broken[:SHOWN] + more)
    return checked_table(where, names, columns, np.array(lines, dtype=np.int64), "line")


def _unlike(row: Any, names: list[str]) -> str | None:
    """In what a row differs from a flat object with these names; none if it does not."""
    if not isinstance(row, dict) or not row:
        return 'is not an object with names and values; write {"key": "...", "answer": "..."}'
    wanted = set(names)
    if row.keys() != wanted:
        absent = [name for name in names if name not in row]
        extra = [name for name in row if name not in wanted]
        parts = [f"lacks {listed([repr(name) for name in absent])}"] if absent else []
        parts += [f"adds {listed([repr(name) for name in extra])}"] if extra else []
        return f"{' and '.join(parts)}; every object needs the first one's names: {listed(names)}"
    for name, cell in row.items():
        if isinstance(cell, dict | list):
            return f"has a {'list' if isinstance(cell, list) else 'nested object'} in {name!r}; facts are flat objects"
    return None
