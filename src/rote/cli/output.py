"""Printing: one JSON document, or tables that read at a glance. Progress and complaints go to stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rote.models.spec import Spec

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON document instead of a table.")]


def print_json(document: Any) -> None:
    """Strict JSON: what is not a finite number is null."""
    print(json.dumps(_finite(document), indent=2, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table whose numbers are aligned right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    rows = [list(row) for row in rows]
    numeric = [all(isinstance(row[at], (int, float, type(None))) for row in rows) for at in range(len(columns))]
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for name, right in zip(columns, numeric, strict=True):
        table.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in rows:
        table.add_row(*map(number, row))
    Console(soft_wrap=False).print(table)


def print_pairs(title: str, pairs: dict[str, Any]) -> None:
    """Names and values, one a line."""
    from rich.console import Console
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for name, value in pairs.items():
        table.add_row(f"  {name}", number(value))
    console = Console()
    console.print(f"[bold]{title}[/bold]")
    console.print(table)


def number(value: Any) -> str:
    """Numbers as people read them: 7,884; 0.0853; 1.2e-09."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else f"{float(value):.3g}" if abs(value) < 10**300 else "huge"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.4g}" if 1e-3 <= abs(value) < 1e6 else f"{value:.2e}"


def describe(spec: Spec) -> str:
    """A specification in one line, without what is left at its default."""
    sizes = spec.model_dump(exclude_defaults=True)
    return f"{spec.architecture}: " + ", ".join(f"{name} {number(value)}" for name, value in sizes.items())


def complain(message: str, exit_code: int) -> int:
    print(f"rote: {message}", file=sys.stderr)
    return exit_code


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
