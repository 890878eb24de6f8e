"""A report as files for a paper: Markdown with the tables, a CSV of each, every figure as PNG, SVG or PDF."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from rote.experiments.files import write_text
from rote.report.document import Block, ChartBlock, ClaimBlock, Commands, Pairs, Report, ReportTable, Text, shown
from rote.report.drawing import write_chart

REPORT = "report.md"


def write_markdown(report: Report, folder: str | Path, formats: Sequence[str] = ("png", "pdf")) -> list[Path]:
    """Write a report's files into a folder; the report itself comes first."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    lines = [f"# {report.title}", "", " · ".join(f"{name} {value}" for name, value in report.about.items()), ""]
    for number, section in enumerate(report.sections, 1):
        prefix = f"{number}-" if len(report.sections) > 1 else ""
        lines += [f"## {section.title}", "", section.summary, ""]
        lines += [f"- {name}: {value}" for name, value in section.tiles.items()] + [""]
        for part in section.parts:
            lines += [f"### {part.title}", ""]
            for block in part.blocks:
                lines += [*_lines(block, folder, prefix, formats, written), ""]
    return [write_text(folder / REPORT, "\n".join(lines)), *written]


def _lines(block: Block, folder: Path, prefix: str, formats: Sequence[str], written: list[Path]) -> list[str]:
    if isinstance(block, ChartBlock):
        names = [f"{prefix}{block.name}.{kind}" for kind in formats]
        written += [write_chart(block.chart, folder / name) for name in names]
        return [f"![{block.chart.title}]({names[0]})"]
    if isinstance(block, ReportTable):
        name = f"{prefix}{re.sub('[^a-z0-9]+', '-', block.title.lower()).strip('-')[:60]}.csv"
        written.append(write_text(folder / name, _csv(block)))
        return [f"{block.title} ([CSV]({name}))", "", *table_lines(block.columns, block.rows, block.numeric)]
    if isinstance(block, Pairs):
        return table_lines(["", ""], list(block.pairs.items()), [False, False])
    if isinstance(block, ClaimBlock):
        return [f"**{block.verdict.upper()}** {block.statement} {block.why}. Rule: {block.rule}."]
    if isinstance(block, Commands):
        return ["```bash", *block.lines, "```"]
    return [block.text] if isinstance(block, Text) else []


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[object]], numeric: Sequence[bool]) -> list[str]:
    """A Markdown table; numeric columns to the right."""
    rule = "|" + "|".join("---:" if right else "---" for right in numeric) + "|"
    return [_row(columns), rule, *(_row([shown(cell) for cell in row]) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _csv(table: ReportTable) -> str:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return sink.getvalue()
