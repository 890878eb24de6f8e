"""What `rote reproduce` prints of a checked statement."""

from __future__ import annotations

from rote.cli.output import print_table
from rote.experiments.statements.findings import StatementFindings


def show_statement(title: str, findings: StatementFindings) -> None:
    """Every cell with the numbers that its figure draws."""
    lines = findings.figure.lines
    print_table(
        title,
        ["series", findings.figure.x, "seed", *(line.label for line in lines)],
        [
            [point.series, f"{point.x:g}", point.seed, *(_short(point.value(line.value)) for line in lines)]
            for point in findings.evaluated
        ],
    )


def _short(value: float | None) -> str | None:
    if value is None:
        return None
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e7 else f"{value:.4g}"
