"""A report as files for a paper: Markdown with the tables, a CSV of each, every figure as PNG, SVG or PDF."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from rote.charts.drawing import write_chart
from rote.display import ResultTable, number
from rote.experiments.files import write_text
from rote.report.document import ChartElement, ClaimElement, Commands, Element, Pairs, Report, Text
from rote.words import cell, markdown, visible

REPORT = "report.md"


def write_markdown(report: Report, folder: str | Path, formats: Sequence[str] = ("png", "pdf")) -> list[Path]:
    """Write a report's files into a folder; the report itself comes first."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    about = " · ".join(f"{name} {markdown(value)}" for name, value in report.about.items())
    lines = [f"# {markdown(report.title)}", "", about, ""]
    for place, section in enumerate(report.sections, 1):
        prefix = f"{place}-" if len(report.sections) > 1 else ""
        lines += [f"## {markdown(section.title)}", "", markdown(section.summary), ""]
        lines += [f"- {name}: {markdown(value)}" for name, value in section.tiles.items()] + [""]
        for subsection in section.subsections:
            lines += [f"### {markdown(subsection.title)}", ""]
            for element in subsection.elements:
                lines += [*_lines(element, folder, prefix, formats, written), ""]
    return [write_text(folder / REPORT, "\n".join(lines)), *written]


def _lines(element: Element, folder: Path, prefix: str, formats: Sequence[str], written: list[Path]) -> list[str]:
    if isinstance(element, ChartElement):
        names = [f"{prefix}{element.name}.{kind}" for kind in formats]
        written += [write_chart(element.chart, folder / name) for name in names]
        return [f"![{markdown(element.chart.title)}]({names[0]})"]
    if isinstance(element, ResultTable):
        name = f"{prefix}{re.sub('[^a-z0-9]+', '-', element.title.lower()).strip('-')[:60]}.csv"
        written.append(write_text(folder / name, _csv(element)))
        return [
            f"{markdown(element.title)} ([CSV]({name}))",
            "",
            *table_lines(element.columns, element.rows, element.numeric),
        ]
    if isinstance(element, Pairs):
        return table_lines(["", ""], list(element.pairs.items()), [False, False])
    if isinstance(element, ClaimElement):
        return [f"**{element.outcome.upper()}** {markdown(f'{element.statement}. {element.details}')}"]
    if isinstance(element, Commands):
        return ["```bash", *map(visible, element.lines), "```"]
    return [markdown(element.text)] if isinstance(element, Text) else []


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[object]], numeric: Sequence[bool]) -> list[str]:
    """A Markdown table; numeric columns to the right."""
    rule = "|" + "|".join("---:" if right else "---" for right in numeric) + "|"
    return [_row(columns), rule, *(_row([number(cell) for cell in row]) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(markdown, cells)) + " |"


def _csv(table: ResultTable) -> str:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([cell(name) for name in table.columns])
    writer.writerows([cell(value) for value in row] for row in table.rows)
    return sink.getvalue()
