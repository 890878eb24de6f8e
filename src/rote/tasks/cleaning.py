"""Cleaning of tables: surrounding spaces are removed, and rows with blank cells are left out on request.

Keys with several answers are rejected with their lines, or one answer is chosen: the first, the last, the commonest.
The table's notes record what was done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rote.tasks.origin import Contradictions
from rote.tasks.rows import distinct_rows
from rote.tasks.table import SHOWN, Table


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


def one_answer_each(
    table: Table,
    key_columns: Sequence[str],
    answer_column: str,
    contexts: np.ndarray,
    answers: np.ndarray,
    vocab: int,
    choice: Contradictions,
) -> tuple[np.ndarray, list[str], list[str]]:
    """Rows that are kept (one per key), the problems, and the choices made.

    With `choice` refuse, keys that have several answers are wrong; otherwise one answer of each is kept.
    """
    _, keys = distinct_rows(contexts, vocab)
    pairs, first, times = np.unique(
        keys.astype(np.int64) * vocab + answers, return_index=True, return_counts=True
    )  # fmt: skip
    of_key = pairs // vocab
    counts = np.bincount(of_key)
    torn = np.flatnonzero(counts > 1)
    if not len(torn):
        return np.sort(first), [], []
    if choice == "refuse":
        return np.sort(first), [_message(table, key_columns, answer_column, torn, of_key, first)], []
    if choice == "last":
        final = np.zeros(len(pairs), dtype=np.int64)
        np.maximum.at(final, np.searchsorted(pairs, keys.astype(np.int64) * vocab + answers), np.arange(len(answers)))
        order = np.lexsort((-final, of_key))
    elif choice == "most":
        order = np.lexsort((first, -times, of_key))
    else:
        order = np.lexsort((first, of_key))
    heads = order[np.unique(of_key[order], return_index=True)[1]]
    words = {"first": "first", "last": "last", "most": "commonest"}[choice]
    note = f"{len(torn):,} key{'s' if len(torn) > 1 else ''} had several answers; the {words} was kept"
    return np.sort(first[heads]), [], [note]


def _message(
    table: Table,
    key_columns: Sequence[str],
    answer_column: str,
    torn: np.ndarray,
    of_key: np.ndarray,
    first: np.ndarray,
) -> str:
    """The contradictory keys in the order of the table, with their answers and lines."""
    by_key = first[np.lexsort((first, of_key))]
    starts = np.concatenate([[0], np.cumsum(np.bincount(of_key))])
    torn = torn[np.argsort(by_key[starts[torn]])]
    shown = []
    for key in torn[:SHOWN]:
        rows = by_key[starts[key] : starts[key + 1]]
        names = [" ".join(table.columns[part][row] for part in key_columns) for row in rows[:SHOWN]]
        # Where case or punctuation is ignored, one key is written in several ways.
        said = ", ".join(
            f"{table.columns[answer_column][row]!r} ({table.unit} {table.lines[row]}"
            f"{'' if name == names[0] else f', {name!r}'})"
            for row, name in zip(rows, names, strict=False)
        )
        more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        shown.append(f"{names[0]!r} has {len(rows)} answers: {said}{more}")
    if len(torn) > SHOWN:
        shown.append(f"and {len(torn) - SHOWN} more keys")
    return (
        f"{len(torn)} contradictory key{'s' if len(torn) > 1 else ''}: {'; '.join(shown)}. "
        "Choose one answer with `contradictions=first`, `contradictions=last` or `contradictions=most`; add a weight "
        "column to make a distribution; or keep them with `contradictions=keep`, which lowers the ceiling of recall"
    )
