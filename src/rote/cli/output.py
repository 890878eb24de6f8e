"""Printing: one JSON document, or tables that read at a glance. Progress and complaints go to stderr."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rote.display import number
from rote.words import json_text, visible

if TYPE_CHECKING:
    from rote.experiments.ledgers.ledger import FailedTrial
    from rote.models.spec import Spec


def failures(failed: Sequence[FailedTrial]) -> dict[str, str]:
    """A line on trials that failed, where there are any."""
    if not failed:
        return {}
    return {"failed": f"{len(failed)} trials; the same command retries them. The first: {failed[0].reason}"}


def show_part(folder: Path, part: str, trained: int, ended: int, failed: Sequence[FailedTrial], as_json: bool) -> int:
    """Print the outcome of one part of a run."""
    if as_json:
        reasons = [{"seed": trial.key.seed, "reason": trial.reason} for trial in failed]
        print_json({"run": str(folder), "part": part, "trained_now": trained, "trials": ended, "failed": reasons})
        return 0
    print_pairs(
        f"part {part} of a run",
        {
            "trials": f"{trained} trained now, {ended} in this folder",
            **failures(failed),
            "run": str(folder),
            "then": f"rote runs merge {folder} OTHER_PART -o MERGED",
            "finally": "this command with -o MERGED and without --part",
        },
    )
    return 0


AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON document instead of a table.")]


def print_json(document: Any) -> None:
    """Strict JSON: what is not a finite number is null; a dataclass is an object of its fields."""
    print(json_text(json.dumps(_finite(document), indent=2, ensure_ascii=False)))


LONGEST_NAME, LONGEST_CELL, LONGEST_TEXT = 80, 200, 2000
"""Letters of a column's name, of a cell, and of one in the last column that a table shows; JSON has them all. Without
such limits two words of a stranger's vocabulary, one as a name and one folded, are gigabytes on the screen."""


def screen_columns() -> int:
    return shutil.get_terminal_size().columns


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], whole: bool = True) -> None:
    """A table: numbers aligned right, no column broken but the last; where it is too wide, names of columns are folded.

    The last column takes the room that is left on the screen: its text is folded, or cut to one line unless `whole`.
    """
    from textwrap import shorten, wrap

    rows = [list(row) for row in rows]
    longest = [*[LONGEST_CELL] * (len(columns) - 1), LONGEST_TEXT]
    cells = [[_first(visible(number(cell)), most) for cell, most in zip(row, longest, strict=True)] for row in rows]
    columns = [_first(visible(name), LONGEST_NAME) for name in columns]
    screen = screen_columns()
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    if sum(widths) + 2 * len(widths) > screen:
        words = [max(name.split() or [""], key=len) for name in columns]
        widths = [max(map(len, column)) for column in zip(words, *cells, strict=True)]
    names = [wrap(name, width, break_on_hyphens=False) or [""] for name, width in zip(columns, widths, strict=True)]
    right = [
        bool(rows) and all(isinstance(cell, int | float | None) for cell in column)
        for column in zip(*rows, strict=True)
    ]
    right = right or [False] * len(columns)
    room = max(24, screen - sum(widths[:-1]) - 2 * len(widths))
    widths[-1] = min(widths[-1], room)

    def line(texts: Sequence[str]) -> str:
        aligned = (
            text.rjust(width) if at_right else text.ljust(width)
            for text, width, at_right in zip(texts, widths, right, strict=True)
        )
        return "  " + "  ".join(aligned).rstrip()

    print(_bold(visible(title)))
    for height in range(max(map(len, names)), 0, -1):
        print(line([name[-height] if len(name) >= height else "" for name in names]))
    print("  " + "─" * (sum(widths) + 2 * (len(widths) - 1)))
    for row in cells:
        last = wrap(row[-1], room, break_on_hyphens=False) if whole else [shorten(row[-1], room, placeholder=" …")]
        print(line([*row[:-1], *(last[:1] or [""])]))
        for rest in last[1:]:
            print(line([*([""] * (len(row) - 1)), rest]))
    print()


def _first(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def print_pairs(title: str, pairs: dict[str, Any]) -> None:
    """Names and values, one per line; a long value is folded."""
    from textwrap import wrap

    named = [(_first(visible(name), LONGEST_NAME), value) for name, value in pairs.items()]
    print(_bold(visible(title)))
    width = max(len(name) for name, _ in named)
    room = max(24, screen_columns() - width - 4)
    for name, value in named:
        lines = wrap(visible(number(value)), room, break_long_words=False, break_on_hyphens=False) or [""]
        for at, line in enumerate(lines):
            print(f"  {(name if at == 0 else '').ljust(width)}  {line}".rstrip())
    print()


def print_folded(text: str) -> None:
    """A paragraph below a table, folded to the screen."""
    from textwrap import fill

    width = max(40, screen_columns() - 2)
    print(fill(visible(text), width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False))


def _bold(text: str) -> str:
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


def describe(spec: Spec) -> str:
    """A specification in one line, without what is left at its default."""
    sizes = spec.model_dump(exclude_defaults=True)
    return f"{spec.architecture}: " + ", ".join(f"{name} {number(value)}" for name, value in sizes.items())


def complain(message: str, exit_code: int) -> int:
    print(f"rote: {message}", file=sys.stderr)
    return exit_code


def _finite(value: Any) -> Any:
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
