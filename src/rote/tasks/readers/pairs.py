"""Facts that are Python objects already: a mapping from keys to answers, or pairs of the two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rote.errors import InputError, problems
from rote.tasks.cells import cell_text
from rote.tasks.table import SHOWN, Table, checked_table


def table_of_pairs(source: Any) -> Table:
    """A table with the columns `key` (or `key 1`, `key 2`, ...) and `answer`; a key is text or a tuple of texts."""
    pairs = list(source.items()) if isinstance(source, Mapping) else list(source)
    if not pairs:
        raise InputError("facts: there are none; give pairs of a key and its answer, such as {'apple': 'red'}")
    keys: list[tuple[Any, ...]] = []
    answers: list[Any] = []
    flaws = []
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            flaws.append(f"row {number} is {pair!r:.60}, not a pair of a key and its answer")
            continue
        keys.append(tuple(pair[0]) if isinstance(pair[0], tuple | list) else (pair[0],))
        answers.append(pair[1])
    lengths = sorted({len(key) for key in keys})
    if len(lengths) > 1:
        flaws.append(f"keys have {lengths[0]} to {lengths[-1]} parts; give every key as many")
    flaws += [
        f"row {number} holds {cell!r:.60}, not text, a number, a date or a time"
        for number, (key, answer) in enumerate(zip(keys, answers, strict=True), 1)
        for cell in (*key, answer)
        if cell_text(cell) is None
    ]
    if flaws:
        more = [f"and {len(flaws) - SHOWN} more"] if len(flaws) > SHOWN else []
        raise problems("facts", flaws[:SHOWN] + more)
    parts = lengths[0]
    names = ["key"] if parts == 1 else [f"key {number}" for number in range(1, parts + 1)]
    columns = [*([key[part] for key in keys] for part in range(parts)), answers]
    texts = [[cell_text(cell) or "" for cell in column] for column in columns]
    return checked_table("facts", [*names, "answer"], texts, np.arange(1, len(keys) + 1), "row")
