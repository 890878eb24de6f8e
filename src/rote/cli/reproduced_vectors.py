"""What `rote reproduce` prints of a figure about vector tasks."""

from __future__ import annotations

from rote.cli.output import print_table
from rote.experiments.vectors.findings import VectorFindings


def show_vectors(title: str, findings: VectorFindings) -> None:
    print_table(
        title,
        ["series", findings.x_label, findings.y_label, "mean", "Theorem 1", "rank", "seconds"],
        [
            [
                series.name,
                int(point.x),
                point.in_words,
                f"{point.mean:.5g}",
                point.setting.promised,
                point.setting.rank,
                f"{point.seconds:.0f}",
            ]
            for series in findings.series
            for point in series.points
        ],
    )
