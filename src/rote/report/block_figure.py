"""A reproduced figure about #blocks: every search, the published values, and what the construction needs beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rote.experiments.blocks.findings import BlockFindings, BlockSeries
from rote.papers.block_figures import SmallestBlocksFigure
from rote.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
MARKS = ("o", "s", "^", "D", "v", "P")


def drawn_blocks(findings: BlockFindings) -> Figure:
    """The figure as a matplotlib object."""
    plan = findings.plan
    built = any(point.built for series in findings.series for point in series.points)
    two = built or not isinstance(plan.figure, SmallestBlocksFigure)
    with figure(9.6 if two else 6.4, 4.2) as drawn:
        panels: Any = drawn.subplots(1, 1 + two, squeeze=False)[0]
        if isinstance(plan.figure, SmallestBlocksFigure):
            _draw_smallest(panels[0], findings, plan.figure)
            if built:
                _draw_built(panels[1], findings)
        else:
            _draw_curves(panels, findings)
        note = "QUICK: fewer points and trials, " if plan.quick else ""
        missing = f", {findings.missing} points not run" if findings.missing else ""
        drawn.suptitle(
            f"{plan.figure.title}\n{note}protocol {plan.protocol}, {plan.trials} trials{missing}",
            x=0.01, ha="left", fontsize=10,
        )  # fmt: skip
        return drawn


def _draw_smallest(axes: Any, findings: BlockFindings, asked: SmallestBlocksFigure) -> None:
    """#blocks against N or n; an arrow up where none of the ladder sufficed."""
    top = max(asked.ladder)
    for index, series in enumerate(findings.series):
        colour, mark = COLOURS[index % len(COLOURS)], MARKS[index % len(MARKS)]
        # Series that agree would hide each other: each is moved a little along x.
        aside = 1 + 0.035 * (index - (len(findings.series) - 1) / 2)
        x = [point.x * aside for point in series.points for blocks in point.smallest if blocks is not None]
        y = [blocks for point in series.points for blocks in point.smallest if blocks is not None]
        axes.plot(x, y, marker=mark, ms=5, lw=1, color=colour, label=series.name, zorder=3)
        for point in series.points:
            if None in point.smallest:
                axes.annotate(
                    "", (point.x * aside, top * 1.45), (point.x * aside, top),
                    arrowprops={"arrowstyle": "->", "color": colour},
                )  # fmt: skip
    if any(None in point.smallest for series in findings.series for point in series.points):
        axes.plot([], [], ls="none", marker="$\u2191$", ms=8, color=GREY, label=f"more than {top}")
    if findings.published:
        axes.plot(
            list(findings.published), list(findings.published.values()), ls="none", marker="x", ms=6, color=GREY,
            label="published (read off the plot)", zorder=2,
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_yticks(asked.ladder, [str(blocks) for blocks in asked.ladder])
    axes.set_ylim(0.85, top * 1.6)
    axes.set_xscale("log")
    ticks = sorted({point.x for series in findings.series for point in series.points} | set(findings.published))
    kept = ticks[:1]
    for tick in ticks[1:]:
        # On a logarithmic axis, names of numbers nearer than this would touch.
        kept += [tick] if tick >= 1.4 * kept[-1] else []
    axes.set_xticks(kept, [f"{tick:,}" for tick in kept])
    axes.minorticks_off()
    axes.set_xlabel(findings.x_label)
    axes.set_ylabel("smallest #blocks")
    axes.grid()
    axes.legend(fontsize=7.5, loc="upper left")


def _draw_built(axes: Any, findings: BlockFindings) -> None:
    """Parameters: trained, and of the construction on the same sequences."""
    for index, series in enumerate(findings.series):
        colour = COLOURS[index % len(COLOURS)]
        _draw_trained(axes, series, colour)
    series = findings.most_built
    for which, label, style in (("exact", "exact arithmetic", "-"), ("float", "floats", "--")):
        points = [(point.x, point.built[which]["nonzeros"]) for point in series.points if point.built]
        axes.plot(
            *zip(*points, strict=True),
            style,
            color=GREY,
            lw=1.3,
            label=f"Theorem 4.1 as built, {label} ({series.name})",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(findings.x_label)
    axes.set_ylabel("parameters (built: non-zero)")
    axes.grid()
    axes.legend(fontsize=7.5)


def _draw_trained(axes: Any, series: BlockSeries, colour: str) -> None:
    points = [
        (point.x, parameters) for point in series.points for parameters in point.parameters if parameters is not None
    ]
    if points:
        axes.plot(
            *zip(*points, strict=True), ls="none", marker="o", ms=4, color=colour, label=f"trained, {series.name}"
        )


def _draw_curves(panels: Any, findings: BlockFindings) -> None:
    for index, curve in enumerate(findings.curves):
        colour = COLOURS[index % len(COLOURS)]
        for place, line in enumerate(curve.curves):
            steps, losses, accuracies = zip(*line, strict=True)
            style: Any = {"color": colour, "lw": 1.3 if place == 0 else 0.7, "alpha": 1 if place == 0 else 0.45}
            label = f"{curve.blocks} block{'s' * (curve.blocks > 1)}" if place == 0 else None
            panels[0].plot(steps, losses, label=label, **style)
            panels[1].plot(steps, accuracies, label=label, **style)
    panels[0].set_yscale("log")
    least = min((loss for curve in findings.curves for loss in curve.losses), default=0.1)
    panels[0].set_ylim(0.7 * least, 3)
    panels[0].set_ylabel("cross-entropy, nats")
    panels[1].set_ylabel("accuracy on the training sequences")
    for axes in panels:
        axes.set_xlabel("step (all sequences each)")
        axes.grid()
    panels[1].legend(
        fontsize=7.5, loc="center left", bbox_to_anchor=(1.0, 0.5), title="best trial\nothers faint",
        title_fontsize=7.5,
    )  # fmt: skip
