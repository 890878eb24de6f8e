"""The drawing of a figure about #blocks: every search, the published values, and what the construction needs."""

from __future__ import annotations

from collections.abc import Sequence

from rote.charts import ChartSeries, Mark, Panels, Style, XYChart, shape, tones
from rote.display import number
from rote.experiments.blocks.points import BlockCurve, BlockPoints, BlockSeries
from rote.papers.kinds.blocks import SmallestBlocksFigure

ASIDE = 0.035
"""Series that agree would hide each other: each is moved by this share of x."""
BUILT: tuple[tuple[str, str, Style], ...] = (("exact", "exact arithmetic", "line"), ("float", "floats", "dashed"))


def block_chart(findings: BlockPoints, title: str, note: str) -> XYChart | Panels:
    """Smallest #blocks, and beside them the parameters where something was built; or loss and accuracy by #blocks."""
    figure = findings.schedule.figure
    if not isinstance(figure, SmallestBlocksFigure):
        return Panels(title, _training(findings.curves), note)
    smallest = _smallest(findings, figure, title, note)
    if not any(point.built for series in findings.series for point in series.points):
        return smallest
    return Panels(title, [_smallest(findings, figure, "smallest #blocks", ""), _parameters(findings, figure)], note)


def _smallest(findings: BlockPoints, figure: SmallestBlocksFigure, title: str, note: str) -> XYChart:
    """#blocks against N or n; an arrow up where none of the ladder sufficed."""
    top, drawn = max(figure.ladder), []
    for index, (series, tone) in enumerate(zip(findings.series, tones(len(findings.series)), strict=True)):
        aside = 1 + ASIDE * (index - (len(findings.series) - 1) / 2)
        place = f"{series.name}, {figure.x_label}"
        found = [
            Mark(point.x * aside, float(blocks), f"{place} {point.x:,}: {blocks} #blocks")
            for point in series.points
            for blocks in point.smallest
            if blocks is not None
        ]
        above = [
            Mark(point.x * aside, 1.25 * top, f"{place} {point.x:,}: more than {top} #blocks")
            for point in series.points
            if None in point.smallest
        ]
        drawn.append(ChartSeries(series.name, found, "joined", tone, shape=shape(index)))
        if above:
            drawn.append(ChartSeries(f"{series.name}: more than {top}", above, "arrows", tone, in_legend=False))
    if any(series.style == "arrows" for series in drawn):
        drawn.append(ChartSeries(f"more than {top}", (), "arrows", "grey"))
    if findings.published:
        marks = [Mark(x, blocks, f"published at {x:,}: {blocks}") for x, blocks in findings.published.items()]
        drawn.append(ChartSeries("published (read off the plot)", marks, "crosses", "grey"))
    xs = {point.x for series in findings.series for point in series.points} | set(findings.published)
    return XYChart(
        title, figure.x_label, "smallest #blocks", drawn, log_x=True, log_y=True, y_range=(0.85, 1.6 * top), note=note,
        x_ticks=sorted(xs), y_ticks=figure.ladder,
    )  # fmt: skip


def _parameters(findings: BlockPoints, figure: SmallestBlocksFigure) -> XYChart:
    """Parameters: trained, and of the construction on the same sequences."""
    drawn = [
        ChartSeries(series.name, _trained(series), "points", tone, shape=shape(index))
        for index, (series, tone) in enumerate(zip(findings.series, tones(len(findings.series)), strict=True))
    ]
    series = findings.most_built
    for which, name, style in BUILT:
        marks = [Mark(point.x, float(point.built[which]["nonzeros"])) for point in series.points if point.built]
        drawn.append(ChartSeries(f"Theorem 4.1 as built, {name} ({series.name})", marks, style, "grey"))
    title, y_label = "parameters of the smallest", "parameters (built: non-zero)"
    xs = sorted({point.x for series in findings.series for point in series.points})
    return XYChart(title, figure.x_label, y_label, drawn, log_x=True, log_y=True, x_ticks=xs)


def _trained(series: BlockSeries) -> list[Mark]:
    return [
        Mark(point.x, float(parameters), f"{series.name}, {point.x:,}: {parameters:,} parameters")
        for point in series.points
        for parameters in point.parameters
        if parameters is not None
    ]


def _training(curves: Sequence[BlockCurve]) -> list[XYChart]:
    """Loss and accuracy along training: the best trial of each #blocks, the others faint."""
    losses: list[ChartSeries] = []
    shares: list[ChartSeries] = []
    for curve, tone in zip(curves, tones(len(curves)), strict=True):
        name = f"{curve.blocks} block{'s' * (curve.blocks > 1)}, best trial (others faint)"
        for place, line in enumerate(curve.curves):
            hint = f"{curve.blocks} #blocks, step"
            loss = [Mark(step, value, f"{hint} {step:,}: loss {number(value)}") for step, value, _ in line]
            share = [Mark(step, value, f"{hint} {step:,}: accuracy {value:.4f}") for step, _, value in line]
            faint = place > 0
            losses.append(ChartSeries(name, loss, "line", tone, in_legend=not faint, faint=faint))
            shares.append(ChartSeries(name, share, "line", tone, in_legend=not faint, faint=faint))
    least = min((loss for curve in curves for loss in curve.losses), default=0.1)
    step = "step (all sequences each)"
    return [
        XYChart("loss", step, "cross-entropy, nats", losses, log_y=True, y_range=(0.7 * least, 3.0)),
        XYChart("accuracy on the training sequences", step, "accuracy", shares, y_range=(0.0, 1.03)),
    ]
