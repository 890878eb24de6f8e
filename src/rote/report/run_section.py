"""A run as a section of a report: trials, figures with their claims, laws, commands."""

from __future__ import annotations

import math
from typing import Any

from rote.display import ResultTable
from rote.experiments.findings import Findings
from rote.papers.claims import OWNERS
from rote.report.document import ChartElement, ClaimElement, Commands, Element, Pairs, Section, Subsection, Text
from rote.report.run_charts import SIZES, grid_chart, sizes_chart
from rote.report.run_view import RunView
from rote.words import command

MOST_ROWS = 400
"""Rows of a table that a report shows."""
ASSUMED = (
    "This ledger was written by an older version and does not record the options of its figures: complete grids are "
    "assumed. The command that made it, run again, records what it asks."
)


def run_section(run: RunView) -> Section:
    tiles = {
        "trials ended": f"{len(run.rows):,}" + (f" of {run.planned:,}" if run.planned else ""),
        "CPU time": f"{run.cpu_seconds:,.0f} s",
    }
    figures = run.findings
    subsections = [_what(run), *map(figure_subsection, figures)]
    # What a search tried shows nothing that its figures do not.
    rows = run.rows if all(findings.over_sizes for findings in figures) else []
    charts = {"sizes": None if figures else sizes_chart(rows), "grid": grid_chart(rows)}
    grid = [ChartElement(name, chart) for name, chart in charts.items() if chart is not None]
    if grid:
        subsections.append(Subsection("Accuracy over the grid", [*grid, *_laws(run)]))
    subsections.append(Subsection("Make each number again", [Commands(commands_of(run))]))
    return Section(f"Run {run.folder.name}", f"{run.name}: {len(run.rows):,} trials", tiles, subsections)


def figure_subsection(findings: Findings[Any, Any]) -> Subsection:
    """Everything that the trials say of one figure, of whichever kind."""
    elements: list[Element] = [ChartElement(name, chart) for name, chart in findings.charts().items()]
    if findings.missing:
        elements.append(
            Text(f"{findings.missing:,} {findings.counted} have not ended yet; verdicts may change with them.")
        )
    elements += [
        ClaimElement(
            claim.statement,
            claim.rule.in_words,
            verdict.outcome,
            verdict.why,
            claim.owner,
            "" if claim.quotation is None else claim.quotation.in_words,
            findings.data,
            "" if released is None else f"On the released values: {released.outcome}, {released.why}",
        )
        for owner in OWNERS
        for (claim, verdict), released in zip(findings.verdicts, findings.on_released, strict=True)
        if claim.owner == owner
    ]
    elements += [ResultTable(table.title, table.columns, table.rows[:MOST_ROWS]) for table in findings.tables()]
    if findings.figure.note:
        elements.append(Text(findings.figure.note))
    return Subsection(findings.title, elements)


def commands_of(run: RunView) -> list[str]:
    """The commands that resume a run, or recompute it in another folder."""
    commands = [
        command("rote", "reproduce", findings.figure.id, *_flags(findings.schedule.asked), "-o", run.folder)
        for findings in run.findings
    ]
    if not all(findings.over_sizes for findings in run.findings):
        return commands
    if swept := run.sweep:
        sizes = [
            word
            for name, values in swept.grid.items()
            for word in (f"--{name.replace('_', '-')}", ",".join(map(str, values)))
        ]
        seeds = max(row.seed for row in run.rows) + 1
        commands.append(command("rote", "sweep", *sizes, "--seeds", seeds, "-o", run.folder))
    return [*commands, command("rote", "runs", "fit", run.folder)]


def _flags(asked: dict[str, Any]) -> list[str]:
    return [
        word
        for name, value in asked.items()
        if value is not False
        for word in ((f"--{name}",) if value is True else (f"--{name}", str(value)))
    ]


def _laws(run: RunView) -> list[ResultTable]:
    """The laws that a finished sweep was fitted with."""
    rows = [
        [
            law.size,
            ", ".join(f"{name} {value}" for name, value in law.fixed.items() if name in SIZES),
            law.best,
            law.exponent if (interval := _interval(law.exponent_interval)) else None,
            interval,
        ]
        for law in (run.sweep.laws if run.sweep else [])
    ]
    columns = ["size", "at", "best form", "exponent of a power law", "95 % interval"]
    return [ResultTable("how capacity grows with each size", columns, rows)] if rows else []


def _interval(ends: tuple[float, float] | None) -> str | None:
    """An interval in words; None if it is open on both sides."""
    if ends is None or not any(map(math.isfinite, ends)):
        return None
    low, high = ends
    if math.isinf(low):
        return f"at most {high:.3g}"
    return f"at least {low:.3g}" if math.isinf(high) else f"{low:.3g} to {high:.3g}"


def _what(run: RunView) -> Subsection:
    engines = sorted({str(row.result.get("engine")) for row in run.rows if row.result.get("engine")})
    pairs = {
        **{name: value for name, value in run.identity.items() if name != "format"},
        **{name: value for name, value in run.about.items() if name not in ("trials", "asked")},
        "engine": ", ".join(engines) or None,
        "last trial ended": run.last_ended,
        "folder": str(run.folder),
    }
    known = Pairs({name: value for name, value in pairs.items() if value is not None})
    return Subsection("What was run", [known, *([] if run.asked_is_known else [Text(ASSUMED)])])
