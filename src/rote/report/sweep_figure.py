"""A sweep drawn: capacity of trained models against one size, the fit with its interval, what Theorem 1 promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rote.charts import TONES, tones
from rote.errors import InputError
from rote.experiments.size_laws import SQUARE, SweepLaw
from rote.experiments.sweep import SweepRun
from rote.models.attention_only import AttentionOnly
from rote.models.spec import spec_from_config
from rote.papers.kinds.lookups import FULL
from rote.report.style import COLOURS, GREY, figure
from rote.theory import RESULTS
from rote.theory.phi import phi_inverse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMBOLS = {
    "vocab": "N", "context": "S", "dim": "d", "head_dim": "k", "heads": "H", "layers": "layers", "width": "width",
}  # fmt: skip
PROMISE = "dana2025.theorem1"


def drawn_sweep(sweep: SweepRun, size: str | None = None) -> Figure:
    """Capacity against a size (that with most values when absent), a series per combination of the others."""
    size = _size(sweep, size)
    frame, others = sweep.frame(), _others(sweep, size)
    laws = {_key(law.sweep.fixed, others): law for law in sweep.laws if law.sweep.size in (size, SQUARE)}
    groups = frame.partition_by(others, as_dict=True, maintain_order=True) if others else {(): frame}
    with figure(7.4, 4.6) as drawn:
        axes = drawn.add_subplot()
        for (key, trials), tone in zip(groups.items(), tones(len(groups)), strict=True):
            colour = COLOURS[tone]
            ended = trials.drop_nulls("associations")
            x = sorted(set(ended[size].to_list()))
            values = [ended.filter(ended[size] == at)["associations"].to_numpy() for at in x]
            spread = [float(np.std(part, ddof=1)) if len(part) > 1 else 0.0 for part in values]
            means = [float(np.mean(part)) for part in values]
            label = ", ".join(f"{SYMBOLS.get(name, name)} {value}" for name, value in zip(others, key, strict=True))
            axes.errorbar(x, means, spread, fmt="o", ms=3.6, color=colour, capsize=2, lw=0.9, label=label or "models")
            law = laws.get(_key(dict(zip(others, key, strict=True)), others))
            if law is not None:
                _draw_law(axes, law, colour)
            _draw_promise(axes, sweep, size, dict(zip(others, key, strict=True)), colour)
        axes.set_xlabel("d = k" if _square(sweep) and size in ("dim", "head_dim") else size.replace("_", " "))
        axes.set_ylabel("associations recalled, φ⁻¹(accuracy)")
        _draw_full(axes, sweep)
        axes.set_ylim(bottom=0)
        axes.set_title(_title(sweep))
        axes.grid()
        _legend(axes, sweep, len(groups))
        return drawn


def _size(sweep: SweepRun, size: str | None) -> str:
    swept = [name for name in sweep.grid.swept if name in SYMBOLS]
    if size is None:
        return swept[0] if swept else "heads"
    if size not in SYMBOLS:
        raise InputError(f"`size={size}`: is not one of {', '.join(SYMBOLS)}")
    return size


def _square(sweep: SweepRun) -> bool:
    return sweep.grid.dim is None or sweep.grid.head_dim is None


def _others(sweep: SweepRun, size: str) -> list[str]:
    """What tells the series apart; where d = k, both vary as one."""
    together = ("dim", "head_dim") if _square(sweep) and size in ("dim", "head_dim") else (size,)
    return [name for name in sweep.grid.swept if name not in together]


def _key(fixed: dict[str, Any], others: list[str]) -> tuple[Any, ...]:
    return tuple(fixed.get(name) for name in others)


def _draw_law(axes: Any, law: SweepLaw, colour: Any) -> None:
    """The power law with its band where it could be fitted, else the best form."""
    fit = law.power or law.fits[0]
    dense = np.linspace(law.sweep.points.x.min(), law.sweep.points.x.max(), 200)
    axes.plot(dense, fit(dense), color=colour, lw=1.1, zorder=2)
    if len(fit.samples) > 1:
        low, high = fit.band(dense)
        axes.fill_between(dense, low, high, color=colour, alpha=0.18, lw=0, zorder=1)


def _draw_promise(axes: Any, sweep: SweepRun, size: str, series: dict[str, Any], colour: Any) -> None:
    """What Theorem 1 promises the models of a series, where it applies."""
    promised = {}
    for row in sweep.rows:
        config = row.cell["spec"]
        spec = spec_from_config(config, "trial")
        if isinstance(spec, AttentionOnly) and all(
            config.get(name) == series[name] for name in series if name in config
        ):
            bound = RESULTS[PROMISE].bound(spec)
            if bound.applies and bound.associations is not None:
                promised[config[size]] = bound.associations
    if promised:
        axes.plot(*zip(*sorted(promised.items()), strict=True), "--", color=colour, lw=0.8, alpha=0.8, gid=PROMISE)


def _draw_full(axes: Any, sweep: SweepRun) -> None:
    """Where a memory counts as full, if all tables have one size and some model comes near."""
    tables = {(row.cell["spec"]["vocab"], row.cell["spec"]["context"]) for row in sweep.rows}
    if len(tables) == 1:
        ((vocab, context),) = tables
        full = phi_inverse(FULL, vocab**context, vocab)
        if axes.get_ylim()[1] > 0.5 * full:
            axes.axhline(full, color=GREY, lw=0.8, ls=":", gid="full")


def _title(sweep: SweepRun) -> str:
    fixed = sweep.grid.model_dump(exclude_none=True)
    sizes = [f"{SYMBOLS[name]} {values[0]}" for name, values in fixed.items() if name in SYMBOLS and len(values) == 1]
    seeds = len({row.seed for row in sweep.rows})
    how = f"protocol {', '.join(sweep.grid.protocol)}, {seeds} seed{'s' if seeds > 1 else ''}"
    return f"Capacity of trained models: {', '.join(sizes)}\n{how}"


def _legend(axes: Any, sweep: SweepRun, series: int) -> None:
    from matplotlib.lines import Line2D

    handles, _ = axes.get_legend_handles_labels()
    if sweep.laws:
        handles.append(Line2D([], [], color=GREY, lw=1.1, label="fit a + b x^exponent, 95 % band"))
    drawn = {line.get_gid() for line in axes.get_lines()}
    for name, style, label in ((PROMISE, "--", "Theorem 1: Hk + d"), ("full", ":", f"full: {FULL:.0%} recalled")):
        if name in drawn:
            handles.append(Line2D([], [], color=GREY, ls=style, lw=0.8, label=label))
    axes.legend(
        handles=handles,
        fontsize=7.5,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        ncols=1 + series // (3 * len(TONES)),
    )
