"""A run as a section of a report: trials, cells, laws, claims with their verdicts."""

from __future__ import annotations

import math
import shlex

from rote.experiments.lookups.findings import FigureFindings
from rote.experiments.reproduction import AnyFindings
from rote.report.document import ChartBlock, Commands, Pairs, ReportPart, ReportTable, Section
from rote.report.figure_part import figure_part
from rote.report.run_charts import SIZES, grid_chart, sizes_chart
from rote.report.run_view import RunView


def run_section(run: RunView) -> Section:
    """Everything about one run."""
    tiles = {
        "trials ended": f"{len(run.rows):,}" + (f" of {run.planned:,}" if run.planned else ""),
        "processor time": f"{run.processor_seconds:,.0f} s",
    }
    parts = [_what(run)]
    figures = run.findings()
    parts += [figure_part(findings) for findings in figures]
    # What a search tried shows nothing that its figures do not.
    searched = any(not isinstance(findings, FigureFindings) for findings in figures)
    rows = [] if searched else run.rows
    charts = {"sizes": None if figures else sizes_chart(rows), "grid": grid_chart(rows)}
    grid = [ChartBlock(name, chart) for name, chart in charts.items() if chart is not None]
    if grid:
        parts.append(ReportPart("Accuracy over the grid", [*grid, *_laws(run)]))
    parts.append(ReportPart("Make each number again", [Commands(commands_of(run))]))
    return Section(f"Run {run.folder.name}", f"{run.name}: {len(run.rows):,} trials", tiles, parts)


def commands_of(run: RunView) -> list[str]:
    """The commands that go on with a run, or make it again in another folder."""
    folder = shlex.quote(str(run.folder))
    protocol = run.identity.get("protocol", "fast")
    figures = run.findings()
    commands = [
        f"rote reproduce {findings.figure.id} --protocol {protocol}{' --quick' if findings.quick else ''}"
        f"{_other_positions(findings)}"
        f" --repeats {findings.repeats} -o {folder}"
        for findings in figures
    ]
    if any(not isinstance(findings, FigureFindings) for findings in figures):
        return commands
    if swept := run.sweep:
        sizes = "".join(
            f" --{name.replace('_', '-')} {','.join(map(str, values))}" for name, values in swept.grid.items()
        )
        seeds = max(row.seed for row in run.rows) + 1
        commands.append(f"rote sweep{sizes} --seeds {seeds} -o {folder}")
    return [*commands, f"rote runs fit {folder}"]


def _other_positions(findings: AnyFindings) -> str:
    if isinstance(findings, FigureFindings) and findings.other_positions:
        return f" --positions {findings.positions}"
    return ""


def _laws(run: RunView) -> list[ReportTable]:
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
    return [ReportTable("how capacity grows with each size", columns, rows)] if rows else []


def _interval(ends: tuple[float, float] | None) -> str | None:
    """An interval in words; one that is open on both sides says nothing."""
    if ends is None or not any(map(math.isfinite, ends)):
        return None
    low, high = ends
    if math.isinf(low):
        return f"at most {high:.3g}"
    return f"at least {low:.3g}" if math.isinf(high) else f"{low:.3g} to {high:.3g}"


def _what(run: RunView) -> ReportPart:
    engines = sorted({str(row.result.get("engine")) for row in run.rows if row.result.get("engine")})
    pairs = {
        **{name: value for name, value in run.identity.items() if name != "format"},
        **{name: value for name, value in run.about.items() if name != "trials"},
        "engine": ", ".join(engines) or None,
        "last trial ended": run.last_ended,
        "folder": str(run.folder),
    }
    return ReportPart("What was run", [Pairs({name: value for name, value in pairs.items() if value is not None})])
