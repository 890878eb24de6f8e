"""What `rote reproduce` prints of a figure about look-up tables: its cells and its laws."""

from __future__ import annotations

from rote.cli.output import print_table
from rote.experiments.lookups.findings import FigureFindings


def show_tables(title: str, findings: FigureFindings) -> None:
    """Cells, then laws."""
    show_cells(title, findings)
    show_fits(findings)


def show_cells(title: str, findings: FigureFindings) -> None:
    """Every cell: both weightings, what was published, the difference."""
    diverged = any(point.diverged for series in findings.series for point in series.points)
    columns = [f"{findings.figure.y}, sampled", "spread", "all pairs", "published", "difference"]
    print_table(
        title,
        ["series", findings.figure.x, *columns, *(["diverged"] if diverged else [])],
        [
            [
                series.name,
                int(point.x) if float(point.x).is_integer() else point.x,
                *(_short(value) for value in (point.mean("sampled"), point.spread("sampled"), point.mean("uniform"))),
                _short(point.published),
                "-" if point.difference is None else f"{point.difference:+.4f}",
                *([point.diverged or None] if diverged else []),
            ]
            for series in findings.series
            for point in series.points
        ],
    )


def show_fits(findings: FigureFindings) -> None:
    """Every fitted law with its parameters and intervals, in the published weighting."""
    print_table(
        "laws (95 % intervals: hull of resampled seeds and of the points' profile likelihood)",
        ["series", "law", "points", "rms", "parameters"],
        [
            [
                series,
                fit.formula,
                f"{fit.points - fit.saturated}" + (f" + {fit.saturated} full" if fit.saturated else ""),
                f"{fit.residual:.4f}",
                ", ".join(f"{name} {value:.3g} ({_ends(fit.hull(name))})" for name, value in fit.values.items()),
            ]
            for series, fits in findings.fits["sampled"].items()
            for fit in fits.values()
        ],
    )


def _ends(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
