"""What theory promises one specification, beside what a built model holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rote.report.style import BLUE, GREEN, GREY, ORANGE, VERMILION, figure, save
from rote.theory.bound import Bound

COLOURS = {"lower": BLUE, "upper": VERMILION, "order": GREY, "estimate": ORANGE}
MEANING = {
    "lower": "so many can be stored",
    "upper": "no more can be",
    "order": "up to constants",
    "estimate": "measured, not proved",
}


def promise_figure(bounds: Sequence[Bound], stored: int, title: str, path: Path) -> Path:
    """Bars of associations, one per bound that applies, on a logarithmic axis, with a line at what is stored."""
    shown = sorted((bound for bound in bounds if bound.applies and bound.associations), key=_associations)
    with figure(7.2, 1.3 + 0.24 * len(shown)) as drawn:
        axes = drawn.add_subplot()
        for row, bound in enumerate(shown):
            axes.barh(row, _associations(bound), height=0.62, left=1, color=COLOURS[bound.kind], alpha=0.85)
            axes.annotate(
                f"{bound.associations:,}" if _associations(bound) < 10**9 else f"{bound.associations:.1e}",
                (_associations(bound), row),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        axes.axvline(stored, color=GREEN, linewidth=1.6, zorder=3)
        axes.annotate(
            f"built and verified: {stored:,}",
            (stored, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4, -9),
            textcoords="offset points",
            color=GREEN,
            fontsize=8.5,
        )
        axes.set_xscale("log")
        axes.set_xlim(1, 8 * _associations(shown[-1]))
        axes.set_ylim(-0.6, len(shown) + 0.6)
        axes.set_yticks(range(len(shown)), [bound.id for bound in shown])
        axes.set_xlabel("associations")
        axes.set_title(title)
        axes.grid(axis="x")
        kinds = dict.fromkeys(bound.kind for bound in shown)
        handles = [axes.barh(0, 0, color=COLOURS[kind], label=f"{kind}: {MEANING[kind]}") for kind in kinds]
        axes.legend(handles=handles, fontsize=7.5, loc="lower right")
        return save(drawn, path)


def _associations(bound: Bound) -> int:
    return bound.associations or 0
