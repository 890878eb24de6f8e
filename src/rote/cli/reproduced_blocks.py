"""What `rote reproduce` prints of a figure about #blocks."""

from __future__ import annotations

from rote.cli.output import print_table
from rote.experiments.blocks.findings import BlockFindings, BlockPoint


def show_blocks(title: str, findings: BlockFindings) -> None:
    if findings.curves:
        _show_curves(title, findings)
    else:
        _show_smallest(title, findings)


def _show_smallest(title: str, findings: BlockFindings) -> None:
    print_table(
        title,
        [
            "series", findings.x_label, "#blocks", "published", "trials", "best below", "parameters", "built, exact",
            "built, floats", "seconds",
        ],
        [
            [
                series.name,
                point.x,
                point.in_words,
                findings.published.get(point.x),
                point.trials,
                _best_below(point),
                ", ".join("-" if count is None else f"{count:,}" for count in point.parameters),
                *(f"{point.built[which]['nonzeros']:,}" if point.built else None for which in ("exact", "float")),
                f"{point.seconds:.0f}",
            ]
            for series in findings.series
            for point in series.points
        ],
    )  # fmt: skip


def _best_below(point: BlockPoint) -> str | None:
    """The best that the rung below the smallest reached, or the highest rung where none sufficed."""
    shown = []
    for blocks, tried in zip(point.smallest, point.tried, strict=True):
        failed = [rung for rung in tried if rung[0] != blocks]
        if failed:
            shown.append(f"{failed[-1][1]:.4f} at {failed[-1][0]}")
    return ", ".join(shown) or None


def _show_curves(title: str, findings: BlockFindings) -> None:
    print_table(
        title,
        ["#blocks", "accuracy of each trial", "least loss", "learning rate", "warm-up", "seconds"],
        [
            [
                curve.blocks,
                ", ".join(f"{accuracy:.4f}" for accuracy in curve.accuracies),
                ", ".join(f"{loss:.4f}" for loss in curve.losses),
                ", ".join(f"{rate:.4f}" for rate, _ in curve.settings),
                ", ".join(str(warm_up) for _, warm_up in curve.settings),
                f"{curve.seconds:.0f}",
            ]
            for curve in findings.curves
        ],
    )
