"""A sweep: capacity of trained models against one size, the fitted law with its band, the guarantee of Theorem 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rote.charts import ChartSeries, Mark, Tone, XYChart, tones
from rote.errors import InputError
from rote.experiments.grid import Grid
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.size_laws import SQUARE, SweepLaw
from rote.models.attention_only import AttentionOnly
from rote.models.spec import spec_from_config
from rote.papers.kinds.lookups import FULL
from rote.theory import RESULTS
from rote.theory.phi import phi_inverse

if TYPE_CHECKING:
    import polars

SYMBOLS = {
    "vocab": "N", "context": "S", "dim": "d", "head_dim": "k", "heads": "H", "layers": "layers", "width": "width",
}  # fmt: skip


def sweep_chart(
    grid: Grid, rows: Sequence[TrialRow], fitted: Sequence[SweepLaw], frame: polars.DataFrame, size: str | None = None
) -> XYChart:
    """Capacity against a size, one series per combination of the others. Default: the size with most values."""
    size = _size(grid, size)
    square = grid.dim is None or grid.head_dim is None
    # Where d = k, both vary as one.
    together = ("dim", "head_dim") if square and size in ("dim", "head_dim") else (size,)
    others = [name for name in grid.swept if name not in together]
    laws = {
        tuple(law.sweep.fixed.get(name) for name in others): law for law in fitted if law.sweep.size in (size, SQUARE)
    }
    groups = frame.partition_by(others, as_dict=True, maintain_order=True) if others else {(): frame}
    models, fits, guarantees = [], [], []
    for (key, trials), tone in zip(groups.items(), tones(len(groups)), strict=True):
        fixed = dict(zip(others, key, strict=True))
        name = ", ".join(f"{SYMBOLS.get(name, name)} {value}" for name, value in fixed.items()) or "models"
        models.append(ChartSeries(name, _means(trials.drop_nulls("associations"), size), "points", tone))
        if key in laws:
            fits += _law(laws[key], tone)
        if guaranteed := _guaranteed(rows, size, fixed):
            line = [Mark(x, y) for x, y in sorted(guaranteed.items())]
            guarantees.append(ChartSeries("Theorem 1", line, "dashed", tone, in_legend=False))
    series = [*models, *fits, *guarantees]
    marks = [mark for line in series for mark in line.marks]
    top = max((max([mark.y + (mark.spread or 0), *(mark.interval or ())]) for mark in marks), default=1.0)
    full = _full(rows, [mark.x for mark in marks], top)
    series += full
    top = max([top, *(line.marks[0].y for line in full)])
    if fitted:
        series.append(ChartSeries("fit a + b x^exponent, 95 % band", [], "line", "grey"))
    if guarantees:
        series.append(ChartSeries("Theorem 1: Hk + d", [], "dashed", "grey"))
    across = "d = k" if len(together) > 1 else size.replace("_", " ")
    title, note = _title(grid, rows)
    y_label = "associations recalled, φ⁻¹(accuracy)"
    return XYChart(title, across, y_label, series, y_range=(0.0, 1.05 * top or 1.0), note=note)


def _size(grid: Grid, size: str | None) -> str:
    if size is None:
        return next((name for name in grid.swept if name in SYMBOLS), "heads")
    if size not in SYMBOLS:
        raise InputError(f"`size={size}`: is not one of {', '.join(SYMBOLS)}")
    return size


def _means(ended: polars.DataFrame, size: str) -> list[Mark]:
    marks = []
    for x in sorted(set(ended[size].to_list())):
        values = ended.filter(ended[size] == x)["associations"].to_numpy()
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        mean = float(np.mean(values))
        marks.append(Mark(x, mean, f"{size} {x}: {mean:,.1f} associations, {len(values)} models", spread))
    return marks


def _law(law: SweepLaw, tone: Tone) -> list[ChartSeries]:
    """The power law with its band where it could be fitted, else the best form."""
    fit = law.power or law.fits[0]
    dense = np.linspace(law.sweep.points.x.min(), law.sweep.points.x.max(), 200)
    values = fit(dense).tolist()
    drawn = [ChartSeries("fit", list(map(Mark, dense.tolist(), values)), "line", tone, in_legend=False)]
    if len(fit.samples) > 1:
        edges = zip(*(ends.tolist() for ends in fit.band(dense)), strict=True)
        marks = [Mark(x, y, interval=ends) for x, y, ends in zip(dense.tolist(), values, edges, strict=True)]
        drawn.append(ChartSeries("95 % band", marks, "band", tone, in_legend=False))
    return drawn


def _guaranteed(rows: Sequence[TrialRow], size: str, fixed: dict[str, Any]) -> dict[float, float]:
    """What Theorem 1 guarantees the models of a series, where it applies."""
    found = {}
    for row in rows:
        config = row.cell["spec"]
        spec = spec_from_config(config, "trial")
        if isinstance(spec, AttentionOnly) and all(
            config.get(name) == value for name, value in fixed.items() if name in config
        ):
            bound = RESULTS["dana2025.theorem1"].bound(spec)
            if bound.applies and bound.associations is not None:
                found[config[size]] = bound.associations
    return found


def _full(rows: Sequence[TrialRow], xs: list[float], top: float) -> list[ChartSeries]:
    """Where a memory counts as full, if all tables have one size and some model comes near."""
    tables = {(row.cell["spec"]["vocab"], row.cell["spec"]["context"]) for row in rows}
    if len(tables) != 1:
        return []
    ((vocab, context),) = tables
    full = phi_inverse(FULL, vocab**context, vocab)
    if not xs or top <= 0.5 * full:
        return []
    marks = [Mark(x, full) for x in (min(xs), max(xs))]
    return [ChartSeries(f"full: {FULL:.0%} recalled", marks, "dotted", "grey")]


def _title(grid: Grid, rows: Sequence[TrialRow]) -> tuple[str, str]:
    fixed = grid.model_dump(exclude_none=True)
    sizes = [f"{SYMBOLS[name]} {values[0]}" for name, values in fixed.items() if name in SYMBOLS and len(values) == 1]
    seeds = len({row.seed for row in rows})
    how = f"protocol {', '.join(grid.protocol)}, {seeds} seed{'s' if seeds > 1 else ''}"
    return f"Capacity of trained models: {', '.join(sizes)}", how
