"""A sweep with its drawing and its tables: all that `rote sweep` leaves behind, as one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rote.arguments import typed
from rote.display import html_rows
from rote.experiments.executor import HERE
from rote.experiments.files import write_json
from rote.experiments.grid import Grid
from rote.experiments.sweep import SweepRun, run_sweep
from rote.files import replacing
from rote.progress import SILENT, Progress
from rote.report.drawing import FORMATS, drawn
from rote.report.style import save
from rote.report.sweep_chart import sweep_chart
from rote.training.protocol import EngineName

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILES = ("sweep.csv", "sweep.parquet", "sweep.json", *(f"sweep.{kind}" for kind in FORMATS))


@dataclass(frozen=True)
class Sweep(SweepRun):
    """A finished sweep. In its folder are `ledger.sqlite`, `sweep.csv`, `sweep.parquet`, `sweep.json` with the laws,
    and the drawing as PNG, SVG and PDF.

    >>> import rote
    >>> result = rote.sweep({"vocab": 8, "dim": 4, "head_dim": 2, "heads": "1:5"}, seeds=1, steps=20)
    >>> result.frame().shape[0], [law.sweep.size for law in result.laws]
    (5, ['heads'])
    >>> type(result.figure())
    <class 'matplotlib.figure.Figure'>
    """

    files: tuple[Path, ...] = ()
    """What was written: tables, laws and drawings."""

    def figure(self, size: str | None = None) -> Figure:
        """Capacity against one size, as a matplotlib figure. Default: the size with most values."""
        return drawn(sweep_chart(self, size))

    def _repr_html_(self) -> str:
        frame = self.frame()
        return html_rows(f"{len(self.rows)} models", frame.columns, frame.rows())

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables, laws and drawings into a folder, each file complete or absent."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        frame, figure = self.frame(), self.figure()
        for name, write in (("sweep.csv", frame.write_csv), ("sweep.parquet", frame.write_parquet)):
            with replacing(folder / name) as aside:
                write(aside)
        write_json(folder / "sweep.json", self.summary())
        for kind in FORMATS:
            save(figure, folder / f"sweep.{kind}")
        return [folder / name for name in FILES]


@typed
def sweep(
    grid: Grid | Mapping[str, Any],
    *,
    seeds: int = 3,
    folder: str | Path | None = None,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    part: str | None = None,
    progress: Progress = SILENT,
    **changes: Any,
) -> Sweep:
    """Train every model of a grid on random look-up tables, and fit how capacity grows with each size.

    `grid` is a `rote.Grid` or a mapping with its fields; values are numbers, several (`"1,5,9"`, a list) or a range
    whose end is included (`"2:8"`). With a `folder` every trial is kept when it ends, so that an
    interrupted sweep resumes, and tables and drawings are written there. `on` names the executor: `here`, `ray`, or the
    address of a Ray cluster. With `part`, such as `1/2`, only that share of the models is trained, and nothing is
    drawn: other machines train the others, and `rote runs merge` combines the ledgers. `changes` replace fields of the
    protocol (`steps=2000`).

    >>> import rote
    >>> result = rote.sweep({"vocab": 8, "dim": 4, "head_dim": "1:4", "heads": 2}, seeds=2, steps=20)
    >>> result.frame().columns[:4], len(result.rows)
    (['architecture', 'vocab', 'context', 'dim'], 8)
    """
    ran = run_sweep(
        grid, seeds=seeds, folder=folder, workers=workers, engine=engine, on=on, part=part, progress=progress, **changes
    )
    if folder is None or part is not None:
        return Sweep(ran.grid, ran.rows, ran.trained, ran.folder, ran.failed)
    files = tuple(Path(folder) / name for name in FILES)
    result = Sweep(ran.grid, ran.rows, ran.trained, ran.folder, ran.failed, files)
    result.save(folder)
    return result
