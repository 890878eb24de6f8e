"""The drawing of any result as a matplotlib figure, shown or written to a file."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from rote.arguments import typed
from rote.charts.drawing import FORMATS, drawn
from rote.charts.style import save
from rote.errors import InputError
from rote.experiments.densest import Densest
from rote.experiments.sweep import Sweep
from rote.report.reproduction import Reproduced, ReproducedFigure


@typed
def figure(result: Sweep | Densest | Reproduced | ReproducedFigure, path: str | Path | None = None) -> Figure:
    """Draw what `rote.sweep`, `rote.densest_shape` or `rote.reproduce` gave, and write it as PNG, SVG or PDF to `path`.

    >>> import rote, tempfile
    >>> result = rote.sweep({"vocab": 8, "dim": 4, "head_dim": 2, "heads": "1:5"}, seeds=1, steps=20)
    >>> drawn = rote.figure(result, tempfile.mkdtemp() + "/heads.pdf")
    >>> drawn.axes[0].get_xlabel()
    'heads'
    """
    canvas = drawn(result.chart()) if isinstance(result, Densest) else result.figure()
    if path is not None:
        path = Path(path)
        if path.suffix.removeprefix(".") not in FORMATS:
            raise InputError(f"{path}: the name must end in {', '.join('.' + kind for kind in FORMATS)}")
        save(canvas, path)
    return canvas
