"""Bits per parameter against the head dimension, at one budget of parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rote.errors import InputError
from rote.experiments.densest import Densest, ShapeResult
from rote.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, GREEN, ORANGE, PURPLE, SKY)
FORMATS = (".png", ".svg")
MORRIS_2025 = 3.6
"""Bits per parameter of trained GPT-style models, Morris et al. 2025."""
ALLENZHU_2024 = 2.0
"""Bits per parameter after 1000 exposures, Allen-Zhu and Li 2024."""


def density_figure(search: Densest, path: Path, title: str | None = None) -> Path:
    """Draw the search as a file."""
    return save(drawn_density(search, title), path)


def drawn_density(search: Densest, title: str | None = None) -> Figure:
    """One curve per dimension d, the best vocabulary at each k; open squares mark k = d.

    Drawn from the longest round in which at least three head dimensions took part, so that all points had the same
    training.
    """
    drawn_round = _comparable(search)
    curves = _curves(drawn_round, search)
    with figure(6.4, 3.9) as drawn:
        axes = drawn.add_subplot()
        for (dim, points), colour in zip(curves.items(), COLOURS, strict=False):
            ks = [shape.spec.head_dim for shape in points]
            bits = [shape.score(search.by) for shape in points]
            axes.plot(ks, bits, "o-", color=colour, ms=4, lw=1.3, label=f"d = {dim}", zorder=3)
            for k, value in zip(ks, bits, strict=True):
                if k == dim:
                    axes.plot(k, value, "s", mfc="white", mec=VERMILION, mew=1.6, ms=8, zorder=4)
        axes.plot([], [], "s", mfc="white", mec=VERMILION, mew=1.6, ms=8, label="k = d")
        for value, name in ((MORRIS_2025, "Morris et al. 2025"), (ALLENZHU_2024, "Allen-Zhu and Li 2024")):
            axes.axhline(value, color=GREY, lw=0.9, ls="--", zorder=1)
            axes.annotate(
                f"{name}: {value:g}", (1.0, value), xycoords=("axes fraction", "data"), xytext=(-2, 3),
                textcoords="offset points", ha="right", fontsize=7.5, color=GREY,
            )  # fmt: skip
        every = sorted({shape.spec.head_dim for points in curves.values() for shape in points})
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks(every, [str(k) for k in every])
        axes.set_ylim(0, 4)
        axes.set_xlabel("head dimension k")
        axes.set_ylabel("bits per parameter" if search.by == "code" else "bits per parameter (from answers)")
        most = max(shape.spec.parameters() for shape in drawn_round)
        steps = drawn_round[0].steps
        vocabs = {shape.spec.vocab for shape in drawn_round}
        tables = f"N = {vocabs.pop()}, " if len(vocabs) == 1 else ""
        axes.set_title(title or f"{tables}at most {most:,} parameters, heads as many as they pay for, {steps:,} steps")
        axes.grid()
        axes.legend(fontsize=8, loc="lower left")
        return drawn


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
    return {dim: dims[dim] for dim in sorted(order[: len(COLOURS)])}
