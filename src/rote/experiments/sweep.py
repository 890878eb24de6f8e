"""Sweeps: train the models of a grid, resume interrupted runs, and fit how capacity grows.

The models are trained on random look-up tables of all N^S contexts. Seed s chooses both the table and the random
initialization, as in the published figures. Every trial is recorded in the ledger of the run's folder when it ends; a
grid with more values in the same folder trains only the new models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rote.arguments import typed
from rote.charts import ChartSeries, Mark, Tone, XYChart, tones
from rote.charts.drawing import FORMATS, drawn
from rote.charts.plotting import Plotted
from rote.charts.style import save
from rote.display import DataFrame, Tabular, frame_of, html_rows
from rote.errors import InputError
from rote.experiments.executor import HERE
from rote.experiments.files import write_json
from rote.experiments.grid import Grid
from rote.experiments.ledgers.ledger import FailedTrial, TrialRow
from rote.experiments.runner import RunPart, run
from rote.experiments.size_laws import SQUARE, SweepLaw, sweep_laws
from rote.experiments.token_schedule import RandomTables, TokenSchedule, training_record
from rote.experiments.trial import TokenResult, TokenTrial
from rote.files import replacing
from rote.models import AttentionOnly, spec_from_config
from rote.papers.kinds.lookups import FULL
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.theory import RESULTS
from rote.theory.phi import phi_inverse
from rote.training.protocol import EngineName, protocol_named
from rote.training.result import Trained

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMBOLS = {
    "vocab": "N", "context": "S", "dim": "d", "head_dim": "k", "heads": "H", "layers": "layers", "width": "width",
}  # fmt: skip


def sweep_chart(
    grid: Grid, rows: Sequence[TrialRow], fitted: Sequence[SweepLaw], frame: DataFrame, size: str | None = None
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


def _means(ended: DataFrame, size: str) -> list[Mark]:
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


FORMAT = 1
"""Increased when trials of the same name would give other results; older sweeps are then not resumed."""
IDENTITY = {"experiment": "sweep", "format": FORMAT}
FILES = ("sweep.csv", "sweep.parquet", "sweep.json", *(f"sweep.{kind}" for kind in FORMATS))
COLUMNS = ("architecture", "vocab", "context", "dim", "head_dim", "heads", "layers", "width", "variant")


@dataclass(frozen=True)
class Sweep(Tabular, Plotted):
    """A finished sweep. In its folder are `ledger.sqlite`, `sweep.csv`, `sweep.parquet`, `sweep.json` with the laws,
    and the drawing as PNG, SVG and PDF.

    >>> import rote
    >>> result = rote.sweep({"vocab": 8, "dim": 4, "head_dim": 2, "heads": "1:5"}, seeds=1, steps=20)
    >>> result.frame().shape[0], [law.sweep.size for law in result.laws]
    (5, ['heads'])
    >>> type(result.figure())
    <class 'matplotlib.figure.Figure'>
    """

    grid: Grid
    rows: Sequence[TrialRow]
    trained: int
    """Models trained now; the others were in the ledger."""
    folder: Path | None
    failed: tuple[FailedTrial, ...] = ()
    """Models whose training failed now, with the reasons."""
    files: tuple[Path, ...] = ()
    """What was written: tables, laws and drawings."""

    @cached_property
    def laws(self) -> list[SweepLaw]:
        """Power laws and other forms fitted to capacity, for every size with four values or more, others fixed."""
        return sweep_laws(self.rows)

    def frame(self) -> DataFrame:
        """A data frame with one row per trained model: sizes, protocol, seed, accuracy, recalled associations."""
        return frame_of(_record(row) for row in self.rows)

    def means(self) -> DataFrame:
        """One row per model of the grid: varying sizes, mean accuracy and associations over seeds, diverged seeds."""
        import polars

        names = self.grid.swept or ["heads"]
        return (
            self.frame()
            .group_by(["parameters", *names], maintain_order=True)
            .agg(
                polars.col("recall").mean(),
                polars.col("associations").mean(),
                polars.col("associations").std().alias("spread"),
                polars.col("diverged_at").count().alias("diverged"),
            )
            .select([*names, "parameters", "recall", "associations", "spread", "diverged"])
        )

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "run": None if self.folder is None else str(self.folder),
            "grid": self.grid.model_dump(mode="json", exclude_none=True),
            "trials": len(self.rows),
            "trained_now": self.trained,
            "failed": [{"seed": trial.key.seed, "reason": trial.reason} for trial in self.failed],
            "diverged": sum(TokenResult.of(row.result).diverged_at is not None for row in self.rows),
            "cpu_seconds": sum(row.seconds for row in self.rows),
            "laws": [law.summary() for law in self.laws],
        }

    def chart(self) -> XYChart:
        """Capacity against the size with most values."""
        return sweep_chart(self.grid, self.rows, self.laws, self.frame())

    def figure(self, size: str | None = None) -> Figure:
        """Capacity against one size, as a matplotlib figure. Default: the size with most values."""
        return drawn(sweep_chart(self.grid, self.rows, self.laws, self.frame(), size))

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
    grid = Grid.of(grid)
    if seeds < 1:
        raise InputError(f"`seeds={seeds}`: must be at least 1")
    trials = [
        TokenTrial(spec, protocol, seed)
        for spec in grid.specs()
        for name in grid.protocol
        for protocol in (protocol_named(name, spec, spec.vocab**spec.context, **changes),)
        for seed in range(seeds)
    ]
    plan = TokenSchedule(IDENTITY, trials, RandomTables(), _recorded, engine=engine)
    chosen = None if part is None else RunPart.read(part)
    ended = run(plan, folder, workers=workers, on=on, part=chosen, progress=progress)
    where = None if folder is None else Path(folder)
    result = Sweep(grid, tuple(ended.rows.values()), ended.trained, where, ended.failed)
    return result if where is None or part is not None else replace(result, files=tuple(result.save(where)))


def _recorded(trained: Trained, task: AssociationTask) -> dict[str, Any]:
    return {**training_record(trained), "published_accuracy": trained.published_accuracy}


def _record(row: TrialRow) -> dict[str, Any]:
    spec, protocol, result = row.cell["spec"], row.cell["protocol"], TokenResult.of(row.result)
    accuracy, vocab = result.accuracy, spec["vocab"]
    capacity = None if accuracy is None else phi_inverse(accuracy, vocab ** spec["context"], vocab)
    return {
        **{name: spec.get(name) for name in COLUMNS},
        "parameters": result.parameters,
        "protocol": protocol["name"],
        "steps": protocol["steps"],
        "seed": row.seed,
        "recall": accuracy,
        "associations": capacity,
        "loss": result.loss,
        "diverged_at": result.diverged_at,
        "cpu_seconds": row.seconds,
    }
