"""Tables as they come: spaces around cells are taken off, rows with blank cells are left out on request.

What was done is told in the table's notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rote.tasks.table import Table


def stripped(table: Table, names: Sequence[str]) -> Table:
    """The table with the spaces around the cells of these columns taken off."""
    columns, count = dict(table.columns), 0
    for name in names:
        cells = table.columns[name]
        bare = [cell.strip() for cell in cells]
        changed = sum(before != after for before, after in zip(cells, bare, strict=True))
        if changed:
            columns[name], count = bare, count + changed
    if not count:
        return table
    note = f"spaces around {count:,} cell{'s' if count > 1 else ''} were taken off"
    return replace(table, columns=columns, notes=(*table.notes, note))


def without_blanks(table: Table, names: Sequence[str]) -> Table:
    """The table without the rows in which one of these columns is blank."""
    blank = np.zeros(table.rows, dtype=bool)
    for name in names:
        if "" in table.columns[name]:
            blank |= np.fromiter((not cell for cell in table.columns[name]), dtype=bool, count=table.rows)
    if not blank.any():
        return table
    rows = np.flatnonzero(~blank)
    columns = {name: [cells[row] for row in rows] for name, cells in table.columns.items()}
    count = int(blank.sum())
    note = f"{count:,} row{'s' if count > 1 else ''} with a blank cell {'were' if count > 1 else 'was'} left out"
    return replace(table, columns=columns, lines=table.lines[rows], notes=(*table.notes, note))
