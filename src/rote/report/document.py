"""What a report says, apart from its format: sections of pairs, tables, charts, claims and commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rote.report.charts import Chart


@dataclass(frozen=True)
class Pairs:
    """Names and values."""

    pairs: dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows under columns; `total` marks the last row as a sum."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    total: bool = False

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers alone."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return [all(isinstance(cell, int | float | None) for cell in column) and bool(column) for column in columns]


@dataclass(frozen=True)
class ChartBlock:
    """A chart under the name its file has where reports are written as files."""

    name: str
    chart: Chart


@dataclass(frozen=True)
class ClaimBlock:
    """Something that was claimed, the rule that decides it, and what became of it."""

    statement: str
    rule: str
    outcome: str
    why: str

    @property
    def good(self) -> bool | None:
        """Whether it held; nothing where it is undecided."""
        return {"holds": True, "does not": False}.get(self.outcome)


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Commands:
    """How to make the numbers again."""

    lines: Sequence[str]


Block = Pairs | Table | ChartBlock | ClaimBlock | Text | Commands


@dataclass(frozen=True)
class Part:
    """A heading and what stands under it."""

    title: str
    blocks: Sequence[Block]

    @property
    def rows(self) -> list[list[Block]]:
        """Blocks one below the other, but for charts that follow each other, which stand side by side."""
        rows: list[list[Block]] = []
        for block in self.blocks:
            if rows and isinstance(block, ChartBlock) and isinstance(rows[-1][0], ChartBlock):
                rows[-1].append(block)
            else:
                rows.append([block])
        return rows


@dataclass(frozen=True)
class Section:
    """One model or one run."""

    title: str
    summary: str
    tiles: dict[str, str]
    """The few numbers to be seen first."""
    parts: Sequence[Part]


@dataclass(frozen=True)
class Report:
    """A document of sections."""

    title: str
    sections: Sequence[Section]
    about: dict[str, str] = field(default_factory=dict)
    """Versions, date, command."""


def shown(value: Any) -> str:
    """A value as people read it: 7,884; 0.0853; yes."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3g}"
    return str(value)
