"""Bits held against bits offered: the curve that the meter reads."""

from __future__ import annotations

import math
from pathlib import Path

from rote.experiments.lm_capacity.reading import LmCapacity
from rote.report.density_figure import ALLENZHU_2024, MORRIS_2025
from rote.report.style import BLUE, GREY, ORANGE, VERMILION, figure, save


def meter_figure(reading: LmCapacity, path: Path) -> Path:
    """A dot per seed, the mean at each size, the diagonal of what is offered, the plateau with its interval."""
    total = reading.parameters.total
    with figure(5.6, 3.9) as drawn:
        axes = drawn.add_subplot()
        offered = [reading.at(size)[0].offered / total for size in reading.sizes]
        right = 1.08 * max(offered)
        axes.plot([0, right], [0, right], color=GREY, lw=0.9, label="offered")
        axes.plot(
            [point.offered / total for point in reading.points], [point.held / total for point in reading.points],
            "o", color=BLUE, ms=4, alpha=0.5, mew=0, label="held, one seed",
        )  # fmt: skip
        axes.plot(offered, [reading.mean(size) for size in reading.sizes], "-", color=BLUE, lw=1.3, label="mean")
        steps = reading.points[0].steps
        if fewer := reading.by_steps[:-1]:
            at = reading.at(reading.best)[0].offered / total if reading.best else 0
            label = f"after {', '.join(f'{length:,}' for length, _ in fewer)} steps"
            axes.plot([at] * len(fewer), [held for _, held in fewer], "v", color=ORANGE, ms=4, label=label)
        value = reading.bits_per_parameter
        if value is not None:
            axes.axhline(value, color=VERMILION, lw=1)
            low, high = reading.interval
            if math.isfinite(low):
                axes.axhspan(low, high, color=VERMILION, alpha=0.1, lw=0, label="interval, to 8 times the steps")
        for known, name in ((MORRIS_2025, "Morris et al. 2025"), (ALLENZHU_2024, "Allen-Zhu and Li 2024")):
            axes.axhline(known, color=GREY, lw=0.9, ls="--", zorder=1)
            axes.annotate(
                f"{name}: {known:g}", (0, known), xycoords=("axes fraction", "data"), xytext=(3, 3),
                textcoords="offset points", fontsize=7.5, color=GREY,
            )  # fmt: skip
        axes.set_xlim(0, right)
        axes.set_ylim(0, max(MORRIS_2025 * 1.1, *(point.held / total * 1.1 for point in reading.points)))
        axes.set_xlabel("bits offered per parameter")
        axes.set_ylabel("bits held per parameter")
        axes.set_title(f"{reading.name}: {total:,} parameters, {steps:,} steps")
        axes.grid()
        axes.legend(fontsize=8, loc="lower right")
        return save(drawn, path)
