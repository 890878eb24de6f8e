"""What memorizers cost: parameters against the number of labels, and the bits in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rote.charts.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, figure, save

RESAMPLES = 2000


@dataclass(frozen=True)
class Cost:
    """One memorizer that was built, with every label checked, or one that is only counted."""

    kind: str
    labels: int
    parameters: int
    """Weights and biases that are not zero."""
    bits: float
    """Bits in them."""
    built: bool = True


@dataclass(frozen=True)
class FittedExponent:
    """y ~ N^value, with a 95 % bootstrap interval over the points."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def fitted_exponent(sizes: Sequence[float], values: Sequence[float], seed: int = 0) -> FittedExponent:
    """Least squares in logarithms; the interval resamples the points, and skips draws of a single size."""
    x, y = np.log(np.asarray(sizes, dtype=np.float64)), np.log(np.asarray(values, dtype=np.float64))
    draws = np.random.default_rng(seed).integers(len(x), size=(RESAMPLES, len(x)))
    slopes = [_slope(x[draw], y[draw]) for draw in draws if np.ptp(x[draw]) > 0]
    low, high = np.quantile(slopes, [0.025, 0.975])
    return FittedExponent(_slope(x, y), float(low), float(high))


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.polyfit(x, y, 1)[0])


def memorizer_figure(costs: Sequence[Cost], label_entropy: float, title: str, path: Path) -> Path:
    """Two panels over the number of labels N: parameters with the lower bound sqrt(N), bits with N x entropy.

    Both lower bounds are drawn with constant one (Kajitsuka and Sato 2025, Theorem 4.2, for parameters). Points are
    what was built, lines join their medians; the exponents in the legend are those of the parameters.
    """
    kinds = list(dict.fromkeys(cost.kind for cost in costs))
    colours = dict(zip(kinds, (BLUE, GREEN, ORANGE, VERMILION, PURPLE, SKY), strict=False))
    sizes = np.array(sorted({cost.labels for cost in costs}), dtype=np.float64)
    with figure(8.8, 4.6) as drawn:
        left, right = drawn.subplots(1, 2)
        for kind in kinds:
            own = [cost for cost in costs if cost.kind == kind]
            _draw(left, own, "parameters", colours[kind])
            _draw(right, own, "bits", colours[kind])
        left.plot(sizes, np.sqrt(sizes), color=GREY, linestyle="--", label=r"lower bound $\sqrt{N}$ (left)")
        right.plot(sizes, sizes * label_entropy, color=GREY, linestyle=":", label="entropy of the labels (right)")
        left.set_ylabel("parameters that are not zero")
        right.set_ylabel("bits in them")
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel("labels memorized, N")
            axes.grid(True)
        left.set_title(title)
        handles, names = left.get_legend_handles_labels()
        entropy, entropy_name = right.get_legend_handles_labels()
        drawn.legend(
            [*handles, entropy[-1]], [*names, entropy_name[-1]], loc="outside lower center", ncols=3, fontsize=7.5
        )
        return save(drawn, path)


def _draw(axes, own: Sequence[Cost], field: str, colour: str) -> None:
    """One kind: points and their medians where built, a thin line where only counted."""
    sizes = sorted({cost.labels for cost in own})
    medians = [np.median([getattr(cost, field) for cost in own if cost.labels == size]) for size in sizes]
    label = own[0].kind
    if not own[0].built:
        axes.plot(sizes, medians, color=colour, linewidth=0.9, linestyle="-.", label=f"{label} (counted)")
        return
    if len(sizes) > 2:
        exponent = fitted_exponent([cost.labels for cost in own], [getattr(cost, field) for cost in own])
        label += f": $N^a$, a = {exponent}"
    axes.plot(sizes, medians, color=colour, linewidth=1.2, label=label)
    axes.plot([cost.labels for cost in own], [getattr(cost, field) for cost in own], "o", color=colour, markersize=3)
