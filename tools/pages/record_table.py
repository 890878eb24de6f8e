"""Markdown tables of rote's own records, which may hold Markdown of their own: code, emphasis and links."""

from __future__ import annotations

from collections.abc import Sequence


def record_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A table as it stands; only the bar that would end a cell is escaped. Not for words from files."""
    rule = "|" + "---|" * len(columns)
    return [_line(columns), rule, *(_line([str(cell) for cell in row]) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
