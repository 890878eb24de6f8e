"""Real tables: the smallest models built and trained against the information in their answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rote.charts.style import BLUE, GREEN, GREY, ORANGE, VERMILION, figure, save
from rote.models.attention_only import AttentionOnly
from studies.real_tables import RealTable, VerifiedModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOAT_BITS = 32
DENSITIES = ((FLOAT_BITS, "32 (counting, float32)"), (3.6, "3.6"), (2.0, "2"), (0.1, "0.1"))
"""Bits of answers per parameter that have a line each."""
SHARES = ((1.0, "1 (no file is smaller)"), (0.1, "0.1"), (0.01, "0.01"))
"""Bits of answers per bit of the file that have a line each."""
MARKS = {
    "attention": ("s", BLUE, "smallest built, attention only"),
    "any": ("^", ORANGE, "fewest parameters built"),
    "bytes": ("D", GREEN, "fewest bytes built"),
    "trained": ("o", VERMILION, "smallest trained"),
}
"""Marker, colour and name of each kind of model."""


def real_tables_figure(tables: Sequence[RealTable], path: Path) -> Path:
    """Parameters on the left, bytes on the right, both against bits of answers; lines of equal density."""
    with figure(8.6, 4.4) as drawn:
        left, right = drawn.subplots(1, 2)
        _panel(left, tables, "parameters", DENSITIES)
        _panel(right, tables, "bytes", SHARES)
        left.set_title("parameters; dashed: bits of answers per parameter")
        right.set_title("bytes of weights; dashed: bits of answers per bit")
        handles, labels = left.get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
        return save(drawn, path)


def _panel(axes: Axes, tables: Sequence[RealTable], measure: str, lines: Sequence[tuple[float, str]]) -> None:
    """One measure of size: marks for every table, and what sizes of equal density would be."""
    ends = (min(table.bits for table in tables) / 2.5, max(table.bits for table in tables) * 2.5)
    unit = 1 if measure == "parameters" else 8
    for value, name in lines:
        axes.plot(ends, [bits / value / unit for bits in ends], color=GREY, lw=0.8, ls="--", zorder=1)
        axes.annotate(
            name, (ends[0] * 1.1, ends[0] * 1.1 / value / unit), fontsize=7, color=GREY, va="center", zorder=2,
            bbox={"fc": "white", "ec": "none", "pad": 0.8},
        )  # fmt: skip
    for number, table in enumerate(tables):
        models: dict[str, VerifiedModel | None] = {
            "attention": table.smallest_built(AttentionOnly.architecture),
            "any": table.smallest_built(),
            "bytes": table.fewest_bytes,
            "trained": table.trained_model,
        }
        for name, model in models.items():
            marker, colour, label = MARKS[name]
            if model is not None:
                size, legend = getattr(model, measure), label if number == 0 else None
                axes.plot(table.bits, size, marker, color=colour, ms=6, zorder=3, label=legend)
        if table.trained_model is None:
            closest = table.trained.closest
            size = closest.spec.parameters() * (1 if measure == "parameters" else FLOAT_BITS // 8)
            axes.plot(table.bits, size, "o", mfc="white", mec=VERMILION, ms=6, zorder=3)
            axes.annotate(
                f"recalls {closest.recalled / closest.facts:.0%}", (table.bits, size), xytext=(-6, -3),
                textcoords="offset points", ha="right", fontsize=7, color=VERMILION,
            )  # fmt: skip
        if measure == "parameters":
            asked = table.asked("dana2025.theorem1")
            axes.plot(
                table.bits, asked, "_", color="black", ms=11, mew=1.4, zorder=2,
                label="Theorem 1 requires (d = 20)" if number == 0 else None,
            )  # fmt: skip
        axes.annotate(table.name, (table.bits, 0.02), xycoords=("data", "axes fraction"), ha="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*ends)
    axes.set_ylim(bottom=ends[0] / lines[0][0] / unit / 3)
    axes.set_xlabel("bits in the answers")
    axes.set_ylabel(measure)
