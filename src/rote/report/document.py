"""What a report says, apart from its format: sections of elements (pairs, tables, charts, claims, commands)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rote.charts import Chart
from rote.display import ResultTable

NARROW, SHORT = 4, 16
"""Columns and rows of a table shown with a chart."""


@dataclass(frozen=True)
class Pairs:
    pairs: dict[str, Any]


@dataclass(frozen=True)
class ChartElement:
    """A chart under the name its file has where reports are written as files."""

    name: str
    chart: Chart


@dataclass(frozen=True)
class ClaimElement:
    """Something that was claimed, by whom, the rule that decides it, and the verdict."""

    statement: str
    rule: str
    outcome: str
    why: str
    owner: str
    quotation: str = ""
    data: str = ""
    released: str = ""
    """The verdict on the released values, in words."""

    @property
    def good(self) -> bool | None:
        """Whether it is supported; None if that was not decided."""
        return {"supported": True, "not supported": False}.get(self.outcome)

    @property
    def owner_in_words(self) -> str:
        return {"paper": "The paper", "review": "A reviewer"}.get(self.owner, "Asked by rote")

    @property
    def details(self) -> str:
        """Everything but the verdict and the statement, in sentences."""
        source = f"{self.owner_in_words}: {self.quotation}" if self.quotation else self.owner_in_words
        parts = [source, self.why, self.released, f"Data: {self.data}" if self.data else "", f"Rule: {self.rule}"]
        return " ".join(f"{part}." for part in parts if part)


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Commands:
    """How to make the numbers again."""

    lines: Sequence[str]


Element = Pairs | ResultTable | ChartElement | ClaimElement | Text | Commands


@dataclass(frozen=True)
class Subsection:
    """A heading and what stands under it."""

    title: str
    elements: Sequence[Element]

    @property
    def rows(self) -> list[list[list[Element]]]:
        """Rows of columns of elements: a chart has the next chart at its side, or what is narrow and follows it."""
        rows: list[list[list[Element]]] = []
        for element in self.elements:
            columns = rows[-1] if rows else []
            room = bool(columns) and isinstance(columns[0][0], ChartElement) and not columns[0][0].chart.wide
            if room and len(columns) == 1 and _half(element):
                columns.append([element])
            elif room and len(columns) == 2 and _half(element) and not _has_chart([*columns[1], element]):
                columns[1].append(element)
            else:
                rows.append([[element]])
        return rows


def _half(element: Element) -> bool:
    """Whether half the width of a page is enough."""
    if isinstance(element, ChartElement):
        return not element.chart.wide
    if isinstance(element, ResultTable):
        return len(element.columns) <= NARROW and len(element.rows) <= SHORT
    return isinstance(element, Text | ClaimElement)


def _has_chart(elements: Sequence[Element]) -> bool:
    return any(isinstance(element, ChartElement) for element in elements)


@dataclass(frozen=True)
class Section:
    """One model or one run."""

    title: str
    summary: str
    tiles: dict[str, str]
    """The few numbers to be seen first."""
    subsections: Sequence[Subsection]


@dataclass(frozen=True)
class Report:
    title: str
    sections: Sequence[Section]
    about: dict[str, str] = field(default_factory=dict)
    """Versions, date, command."""
