"""Published figures reproduced by one call: run, judged, drawn and reported, as `rote reproduce` prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rote.arguments import typed
from rote.charts import Chart
from rote.charts.drawing import drawn, write_chart
from rote.charts.plotting import Plotted
from rote.display import DataFrame, Tabular, frame_of
from rote.errors import InputError
from rote.experiments.executor import HERE
from rote.experiments.files import write_json
from rote.experiments.findings import FigureSchedule, Verdict
from rote.experiments.kind import RunChoices
from rote.experiments.ledgers.ledger import FailedTrial
from rote.experiments.reproduce import (
    Reproduction,
    failures_summary,
    run_schedule,
    schedules,
    takes_part,
)
from rote.experiments.reproduce import reproduce as run_figure
from rote.models.attention_only import Positions
from rote.papers import names_several
from rote.papers.claims import Claim, PublishedFigure
from rote.progress import SILENT, Progress
from rote.report.html import write_html
from rote.report.reporting import report_of
from rote.report.run_section import run_section
from rote.report.run_view import RunView
from rote.training.protocol import EngineName

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ProtocolName = Literal["fast", "paper", "best"]
Variant = Literal["per-head", "shared"]
NESTED = ("spec", "built", "tried")
"""What a point has that is no cell of a table."""


@dataclass(frozen=True)
class ReproducedFigure(Reproduction, Tabular, Plotted):
    """A finished run of a figure, and the files that show it."""

    files: tuple[Path, ...] = ()
    """Drawings; where pairs are weighted in two ways, the published one first."""

    @classmethod
    def of(cls, ended: Reproduction, formats: Sequence[str]) -> ReproducedFigure:
        """Draw what a run shows and write its summary beside the drawings, in the `figures` folder of the run."""
        folder, id = ended.folder / "figures", ended.findings.figure.id
        folder.mkdir(exist_ok=True)
        files = [
            write_chart(chart, folder / f"{name}.{suffix}")
            for name, chart in ended.findings.charts().items()
            for suffix in dict.fromkeys(formats)
        ]
        figure = cls(**{field.name: getattr(ended, field.name) for field in fields(ended)}, files=tuple(files))
        write_json(folder / f"{id}.json", figure.summary())
        return figure

    @property
    def verdicts(self) -> list[tuple[Claim, Verdict]]:
        """Each claim with what became of it."""
        return self.findings.verdicts

    def frame(self) -> DataFrame:
        """One row per point of the figure: what was measured, published and guaranteed."""
        rows = self.findings.rows()
        return frame_of({name: value for name, value in row.items() if name not in NESTED} for row in rows)

    def chart(self) -> Chart:
        """The published drawing as data."""
        return self.findings.chart()

    def figure(self, name: str | None = None) -> Figure:
        """The drawing as a matplotlib figure; the published one, or the one of that name."""
        charts = self.findings.charts()
        if name is not None and name not in charts:
            raise InputError(f"`name={name}`: its drawings are {', '.join(charts)}")
        return drawn(charts[name or next(iter(charts))])

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document: what the command line prints and what is written beside the drawings."""
        return {**super().summary(), "figures": [str(path) for path in self.files]}


@dataclass(frozen=True)
class ReproducedPart:
    """A part of a figure's trials, run; `rote runs merge` puts the parts together."""

    folder: Path
    part: str
    trained: int
    """Trials that ran now."""
    trials: int
    """Trials that the folder holds."""
    failed: tuple[FailedTrial, ...]

    def summary(self) -> dict[str, Any]:
        return {
            "run": str(self.folder),
            "part": self.part,
            "trained_now": self.trained,
            "trials": self.trials,
            "failed": failures_summary(self.failed),
        }


@dataclass(frozen=True)
class Reproduced(Tabular):
    """What `rote.reproduce` gives: the figures that a name stands for, one or all of a paper."""

    name: str
    figures: tuple[ReproducedFigure, ...]
    parts: tuple[ReproducedPart, ...] = ()
    """Instead of figures, where a part of the trials was run."""
    report: Path | None = None
    """A page about all of them."""

    def __getitem__(self, id: str) -> ReproducedFigure:
        by_id = {figure.findings.figure.id: figure for figure in self.figures}
        if id not in by_id:
            raise InputError(f"{id}: is not among the figures of {self.name}: {', '.join(by_id)}")
        return by_id[id]

    def __iter__(self) -> Iterator[ReproducedFigure]:
        return iter(self.figures)

    def __len__(self) -> int:
        return len(self.figures)

    @property
    def verdicts(self) -> list[tuple[Claim, Verdict]]:
        """Each claim of each figure with what became of it."""
        return [judged for figure in self.figures for judged in figure.verdicts]

    @property
    def refuted(self) -> bool:
        """Whether a claim is not supported."""
        return any(figure.refuted for figure in self.figures)

    def frame(self) -> DataFrame:
        """One row per point of every figure."""
        rows = [
            {"figure": figure.findings.figure.id, **row} for figure in self.figures for row in figure.frame().to_dicts()
        ]
        return frame_of(rows)

    def figure(self) -> Figure:
        """The drawing of the one figure as a matplotlib figure; of several, take one by its id first."""
        if len(self.figures) != 1:
            raise InputError(f"{self.name}: has {len(self.figures)} figures; take one by its id, such as result[ID]")
        return self.figures[0].figure()

    def summary(self) -> dict[str, Any] | list[dict[str, Any]]:
        """What `rote reproduce --json` prints: a document, or one per figure of a paper."""
        report = {} if self.report is None else {"report": str(self.report)}
        documents = [{**figure.summary(), **report} for figure in self.figures] + [
            part.summary() for part in self.parts
        ]
        return documents if names_several(self.name) else documents[0]


@typed
def reproduce(
    name: str | PublishedFigure,
    folder: str | Path | None = None,
    *,
    quick: bool = False,
    repeats: int | None = None,
    protocol: ProtocolName = "fast",
    variant: Variant | None = None,
    texts: str | None = None,
    positions: Positions | None = None,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    part: str | None = None,
    formats: Sequence[str] = ("png", "svg"),
    report: bool = True,
    ended: Callable[[ReproducedFigure | ReproducedPart], object] | None = None,
    progress: Progress = SILENT,
) -> Reproduced:
    """Train a published figure's models, compare with what was published, and judge each of its claims.

    `name` is a figure (`dana2025.fig1a`), all statements of a paper (`dana2025.statements`) or a paper (`dana2025`);
    `rote.paper` lists them. Each run has a folder, by default `runs/FIGURE-PROTOCOL`, and what it holds is not trained
    again; with a paper, `folder` is one that holds its runs. `quick` trains fewer cells and repeats. `variant`,
    `positions` and `texts` choose among models and data where a figure leaves a choice. `on` says where: `here`, `ray`,
    or the address of a Ray cluster. Of `part`, such as `1/2`, nothing else is trained, and nothing is drawn.

    Drawings are written in `formats` into the run's folder, and a page about all figures beside them, unless `report`
    is false. `ended` is called with each figure as it ends.

    >>> import rote, tempfile
    >>> result = rote.reproduce("mahdavi2024.proposition2-checked", tempfile.mkdtemp(), quick=True, workers=1)
    >>> claim, verdict = result.verdicts[0]
    >>> claim.id, verdict.outcome
    ('at-most', 'supported')
    """
    choices = RunChoices(protocol, quick, repeats, variant, texts, positions)
    scheduled = schedules(name, folder, choices)
    label = name if isinstance(name, str) else name.id
    how = {"workers": workers, "engine": engine, "on": on, "progress": progress}
    told = ended or (lambda figure: None)
    if part is not None:
        return Reproduced(label, (), tuple(_parts(label, scheduled, part, how, told)))
    figures = []
    for schedule, own in scheduled:
        figures.append(ReproducedFigure.of(run_figure(schedule, own, **how), formats))
        told(figures[-1])
    page = _write_report(label, figures, None if folder is None else Path(folder)) if report else None
    return Reproduced(label, tuple(figures), report=page)


def _parts(
    name: str,
    scheduled: Sequence[tuple[FigureSchedule[Any], Path]],
    part: str,
    how: dict[str, Any],
    told: Callable[[ReproducedPart], object],
) -> Iterator[ReproducedPart]:
    """A paper's figures that cannot be divided run when the parts are put together, without `part`."""
    divided = [(schedule, folder) for schedule, folder in scheduled if takes_part(schedule)]
    if not divided:
        raise InputError(f"`part={part}`: is for figures about look-up tables; {name} takes `on`")
    for schedule, folder in divided:
        ended = run_schedule(schedule, folder, part=part, **how)
        ran = ReproducedPart(folder, part, ended.trained, len(ended.rows), ended.failed)
        told(ran)
        yield ran


def _write_report(name: str, figures: Sequence[ReproducedFigure], output: Path | None) -> Path:
    """One page about the runs: in the folder of the only one, or else beside them (in `output`, where it was given)."""
    runs: dict[Path, list[ReproducedFigure]] = {}
    for figure in figures:
        runs.setdefault(figure.folder, []).append(figure)
    views = [
        RunView(folder, own[-1].contents, tuple(figure.findings for figure in own)) for folder, own in runs.items()
    ]
    first = next(iter(runs))
    where = first if len(runs) == 1 else output or first.parent
    return write_html(report_of(list(map(run_section, views)), f"rote reproduce {name}"), where / "report.html")
