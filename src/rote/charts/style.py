"""One look for every figure: readable in print, safe for colour-blind readers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rote.charts import RAMP, Tone
from rote.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F",
)  # fmt: skip

VIRIDIS = (
    "#440154", "#482173", "#433E85", "#38598C", "#2D708E", "#25858E", "#1E9B8A", "#2BB07F", "#51C56A", "#85D54A",
    "#B0DD2F", "#D2E21B",
)  # fmt: skip
"""Twelve steps of matplotlib's ordered ramp, without its palest end."""

COLOURS: dict[Tone, str] = {
    "blue": BLUE, "orange": ORANGE, "green": GREEN, "vermilion": VERMILION, "purple": PURPLE, "sky": SKY, "grey": GREY,
    "ink": "#000000", **dict(zip(RAMP, VIRIDIS, strict=True)),
}  # fmt: skip
"""Of every tone; those of a page are in `templates/page.css`."""

SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.bbox": "tight",
    "savefig.dpi": 200,
    "svg.hashsalt": "rote",
}


@contextmanager
def figure(width: float = 6.4, height: float = 3.6) -> Iterator[Figure]:
    """An empty figure to draw on in the house style. It belongs to no window: whoever holds it may show or save it."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(SETTINGS):
        yield Figure(figsize=(width, height), layout="constrained")


def save(drawn: Figure, path: Path, metadata: dict[str, str] | None = None) -> Path:
    """Write a figure as its suffix says, complete or not at all; `metadata` is text that the file carries."""
    import matplotlib

    # In memory first: what matplotlib raises when a disk fills under it depends on the format.
    content = io.BytesIO()
    with matplotlib.rc_context(SETTINGS):
        drawn.savefig(content, format=path.suffix.removeprefix("."), metadata=metadata)
    with replacing(path) as aside:
        aside.write_bytes(content.getvalue())
    return path
