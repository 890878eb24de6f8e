"""What a report says, apart from its format: sections of pairs, tables, charts, claims and commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rote.charts import Chart

NARROW, SHORT = 4, 16
"""Columns and rows of a table that stands beside a chart."""


@dataclass(frozen=True)
class Pairs:
    """Names and values."""

    pairs: dict[str, Any]


@dataclass(frozen=True)
class ReportTable:
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

    @property
    def verdict(self) -> str:
        """In words that stand alone."""
        return "does not hold" if self.good is False else self.outcome


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Commands:
    """How to make the numbers again."""

    lines: Sequence[str]


Block = Pairs | ReportTable | ChartBlock | ClaimBlock | Text | Commands


@dataclass(frozen=True)
class ReportPart:
    """A heading and what stands under it."""

    title: str
    blocks: Sequence[Block]

    @property
    def rows(self) -> list[list[list[Block]]]:
        """Rows of columns of blocks: a chart has the next chart at its side, or what is narrow and follows it."""
        rows: list[list[list[Block]]] = []
        for block in self.blocks:
            columns = rows[-1] if rows else []
            room = bool(columns) and isinstance(columns[0][0], ChartBlock) and not columns[0][0].chart.wide
            if room and len(columns) == 1 and _half(block):
                columns.append([block])
            elif room and len(columns) == 2 and _half(block) and not _has_chart([*columns[1], block]):
                columns[1].append(block)
            else:
                rows.append([[block]])
        return rows


def _half(block: Block) -> bool:
    """Whether half the width of a page is enough."""
    if isinstance(block, ChartBlock):
        return not block.chart.wide
    if isinstance(block, ReportTable):
        return len(block.columns) <= NARROW and len(block.rows) <= SHORT
    return isinstance(block, Text | ClaimBlock)


def _has_chart(blocks: Sequence[Block]) -> bool:
    return any(isinstance(block, ChartBlock) for block in blocks)


@dataclass(frozen=True)
class Section:
    """One model or one run."""

    title: str
    summary: str
    tiles: dict[str, str]
    """The few numbers to be seen first."""
    parts: Sequence[ReportPart]


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
