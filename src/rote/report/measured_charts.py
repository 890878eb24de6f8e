"""Charts of measurements: the densest shape, the capacity of a language model, and the theorems' assumptions in one."""

from __future__ import annotations

import math

from rote.charts import TONES, ChartSeries, Mark, Panels, Style, Tone, XYChart
from rote.errors import InputError
from rote.experiments.densest import Densest, ShapeResult
from rote.experiments.lm_capacity.reading import LmCapacity
from rote.lm.assumptions import Assumptions


def assumptions_chart(found: Assumptions) -> Panels:
    """Left: shares that should be one, and the rank of the queries. Right: separation and condition, by layer."""
    layers = found.layers
    most = min(found.passages, found.dim)
    shares = [
        _joined("rank of queries, of the most", [(layer.number, layer.query_rank / most) for layer in layers], "blue"),
        _joined(
            f"contexts of rank {found.tokens}", [(layer.number, layer.contexts_full.value) for layer in layers], "green"
        ),
    ]
    for field, tone, count in (
        ("queries_independent", "orange", found.tokens), ("general_position", "purple", found.dim),
    ):  # fmt: skip
        estimates = [(layer.number, share) for layer in layers if (share := getattr(layer, field))]
        marks = [Mark(at, share.value, interval=(share.interval.low, share.interval.high)) for at, share in estimates]
        if marks:
            shares.append(ChartSeries(f"{count} queries independent", marks, "joined", tone, shape="down"))
    saturated = [Mark(layer.number, layer.saturated) for layer in layers if layer.saturated is not None]
    shares.append(ChartSeries("saturated attention (> 0.99)", saturated, "crosses", "vermilion"))
    sizes = [
        _joined("r / delta, tokens", [(layer.number, layer.tokens.radius / layer.tokens.distance) for layer in layers]),
        _joined(
            "condition of a context, median", [(layer.number, layer.context_condition) for layer in layers], "green"
        ),
    ]
    return Panels(
        f"{found.model}: {found.passages} passages of {found.tokens} tokens, d = {found.dim}",
        [
            XYChart("shares", "layer (0: embedding)", "share", shares, y_range=(-0.03, 1.05)),
            XYChart("separation and condition", "layer (0: embedding)", "", sizes, log_y=True),
        ],
    )


def _joined(name: str, points: list[tuple[int, float]], tone: str = "blue") -> ChartSeries:
    marks = [Mark(x, y) for x, y in points]
    return ChartSeries(name, marks, "joined", tone, shape="disc" if tone == "blue" else "square")


FORMATS = (".png", ".svg")
MORRIS_2025 = 3.6
"""Bits per parameter of trained GPT-style models, Morris et al. 2025."""
ALLENZHU_2024 = 2.0
"""Bits per parameter after 1000 exposures, Allen-Zhu and Li 2024."""
DIMS = tuple(tone for tone in TONES if tone != "vermilion")
"""Tones of the curves; the other one marks k = d."""


def density_chart(search: Densest, title: str | None = None) -> XYChart:
    """Bits per parameter against the head dimension: one curve per dimension d, the best vocabulary at each k.

    Squares mark k = d. All points are from the longest round in which at least three head dimensions took part, so that
    they had the same training.
    """
    compared = _comparable(search)
    curves = _curves(compared, search)
    series, square = [], []
    for (dim, points), tone in zip(curves.items(), DIMS, strict=False):
        marks = [Mark(shape.spec.head_dim, shape.score(search.by)) for shape in points]
        series.append(ChartSeries(f"d = {dim}", marks, "joined", tone))
        square += [mark for mark in marks if mark.x == dim]
    ks = sorted({shape.spec.head_dim for points in curves.values() for shape in points})
    vocabs = {shape.spec.vocab for shape in compared}
    tables = f"N = {vocabs.pop()}, " if len(vocabs) == 1 else ""
    most = max(shape.spec.parameters() for shape in compared)
    return XYChart(
        title or f"{tables}at most {most:,} parameters, heads as many as they pay for, {compared[0].steps:,} steps",
        "head dimension k",
        "bits per parameter" if search.by == "code" else "bits per parameter (from answers)",
        [*series, ChartSeries("k = d", square, "points", "vermilion", shape="square"), *_published(ks[0], ks[-1])],
        log_x=True,
        y_range=(0.0, 4.0),
        x_ticks=ks,
    )


def capacity_chart(reading: LmCapacity) -> XYChart:
    """Bits held against bits offered: a dot per seed, the mean at each size, the plateau with its interval."""
    total = reading.parameters.total
    offered = [reading.at(size)[0].offered / total for size in reading.sizes]
    held = [Mark(point.offered / total, point.held / total) for point in reading.points]
    right = 1.08 * max(offered)
    means = [Mark(x, reading.mean(size)) for x, size in zip(offered, reading.sizes, strict=True)]
    series = [
        ChartSeries("offered", [Mark(0, 0), Mark(right, right)], "line", "grey"),
        ChartSeries("held, one seed", held, "points", "blue", faint=True),
        ChartSeries("mean", means, "line", "blue"),
    ]
    if fewer := reading.by_steps[:-1]:
        at = reading.at(reading.best)[0].offered / total if reading.best else 0
        name = f"after {', '.join(f'{length:,}' for length, _ in fewer)} steps"
        series.append(ChartSeries(name, [Mark(at, value) for _, value in fewer], "points", "orange", shape="down"))
    value = reading.bits_per_parameter
    if value is not None:
        series.append(_level("bits per parameter", value, 0, right, "line", "vermilion"))
        low, high = reading.interval
        if math.isfinite(low):
            edges = [Mark(x, value, interval=(low, high)) for x in (0, right)]
            series.append(ChartSeries("interval, to 8 times the steps", edges, "band", "vermilion"))
    return XYChart(
        f"{reading.name}: {total:,} parameters, {reading.points[0].steps:,} steps",
        "bits offered per parameter",
        "bits held per parameter",
        [*series, *_published(0, right)],
        y_range=(0.0, 1.1 * max(MORRIS_2025, *(mark.y for mark in held))),
    )


def _published(left: float, right: float) -> list[ChartSeries]:
    known = (("Morris et al. 2025", MORRIS_2025), ("Allen-Zhu and Li 2024", ALLENZHU_2024))
    styles: tuple[Style, Style] = ("dashed", "dotted")
    return [
        _level(f"{name}: {value:g}", value, left, right, style, "grey")
        for (name, value), style in zip(known, styles, strict=True)
    ]


def _level(name: str, value: float, left: float, right: float, style: Style, tone: Tone) -> ChartSeries:
    return ChartSeries(name, [Mark(left, value), Mark(right, value)], style, tone)


def _comparable(search: Densest) -> tuple[ShapeResult, ...]:
    for shapes in reversed(search.rounds):
        if len({shape.spec.head_dim for shape in shapes}) >= 3:
            return shapes
    raise InputError("figure: the search compared fewer than three head dimensions; leave `head_dims` out, or add some")


def _curves(shapes: tuple[ShapeResult, ...], search: Densest) -> dict[int, list[ShapeResult]]:
    """The best shape at each k, for the densest dimensions that have more than one k."""
    best: dict[tuple[int, int], ShapeResult] = {}
    for shape in shapes:  # best first
        best.setdefault((shape.spec.dim, shape.spec.head_dim), shape)
    dims: dict[int, list[ShapeResult]] = {}
    for (dim, _), shape in sorted(best.items()):
        dims.setdefault(dim, []).append(shape)
    several = [dim for dim, members in dims.items() if len(members) > 1]
    order = sorted(several, key=lambda dim: -max(shape.score(search.by) for shape in dims[dim]))
    return {dim: dims[dim] for dim in sorted(order[: len(DIMS)])}
