"""All that is here of one paper: its citation, results, constructions, figures and statements, what they cost, and what
became of each claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.arguments import typed
from rote.constructions import CONSTRUCTIONS
from rote.errors import InputError, nearest
from rote.experiments.findings import claim_summary
from rote.experiments.kind import RunChoices
from rote.experiments.kinds import kind_of, schedule_of
from rote.papers import FIGURES
from rote.papers.claims import Claim, PublishedFigure
from rote.papers.kinds.vectors import CapacityFigure, VectorSetting
from rote.papers.mahdavi2024.measured import MeasuredCapacity, measured_capacities
from rote.papers.verdicts import RELEASED, verdicts_on
from rote.theory import PAPERS, RESULTS

RUNS = {"quick": ("fast", True), "fast": ("fast", False), "paper": ("paper", False)}
"""Ways to reproduce a figure whose cost is estimated: the protocol, and whether `quick` cuts the grid."""


@dataclass(frozen=True)
class PaperResult:
    """A theorem or a measured law of a paper, as `rote bounds` evaluates it."""

    id: str
    kind: str
    where: str
    """Place in the paper."""
    statement: str


@dataclass(frozen=True)
class PaperMethod:
    """A construction of a paper, as `rote build` takes it."""

    id: str
    summary: str
    meets: str | None
    """Id of the result that guarantees what it stores."""


@dataclass(frozen=True)
class RunCost:
    """What one way to reproduce a figure costs."""

    trials: int
    cpu_seconds: float


@dataclass(frozen=True)
class ClaimVerdict:
    """A verdict that ships with rote, with the numbers and the command behind it."""

    protocol: str
    verdict: str
    numbers: str
    command: str
    basis: str = "run"
    """What it rests on, see `rote.papers.verdicts.BASES`."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, the rule that decides it, and the verdicts that ship with rote, the default protocol's first."""

    id: str
    statement: str
    owner: str
    """Who makes it: paper, review or rote."""
    quotation: dict[str, str] | None
    """The sentence that makes it: `words`, `place` and `text`, which text was read."""
    rule: str
    can_fail: bool
    verdicts: tuple[ClaimVerdict, ...]
    released: ClaimVerdict | None
    """The same rule on the values that the paper released."""


@dataclass(frozen=True)
class MeasuredSeries:
    """Capacities that ship with rote: for each point every seed's most examples recalled, and the fewest too many."""

    series: str
    points: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class FigureOverview:
    """A figure or statement of a paper: its grid, its claims and what its trials cost."""

    figure: str
    title: str
    trains: bool
    run: str
    """The figure whose trials it shares, or itself."""
    cells: int
    repeats: int
    published_values: int
    note: str
    estimated_costs: dict[str, RunCost]
    """By way to reproduce it: quick, fast, paper."""
    capacities: tuple[MeasuredSeries, ...]
    claims: tuple[JudgedClaim, ...]


@dataclass(frozen=True)
class PaperOverview:
    """A paper: its citation, results, constructions, and figures with their claims and costs."""

    paper: str
    name: str
    title: str
    venue: str
    citation: str
    results: tuple[PaperResult, ...]
    constructions: tuple[PaperMethod, ...]
    figures: tuple[FigureOverview, ...]


@typed
def paper(id: str) -> PaperOverview:
    """Everything rote has of one paper: results, constructions, figures with their claims and costs.

    >>> import rote
    >>> rote.paper("dana2025").results[0].id
    'dana2025.corollary1'
    """
    if id not in PAPERS:
        raise InputError(f"{id}: there is no such paper{nearest(id, PAPERS)}; see `rote list papers`")
    cited = PAPERS[id]
    results = sorted((result for result in RESULTS.values() if result.paper.id == id), key=lambda result: result.id)
    methods = (CONSTRUCTIONS[method] for method in sorted(CONSTRUCTIONS) if CONSTRUCTIONS[method].paper == id)
    return PaperOverview(
        id,
        cited.name,
        cited.title,
        cited.venue,
        cited.citation,
        tuple(PaperResult(result.id, result.kind, result.where, result.statement) for result in results),
        tuple(PaperMethod(method.id, method.summary, method.meets) for method in methods),
        tuple(figure_overview(figure) for figure in FIGURES.get(id, ())),
    )


def figure_overview(figure: PublishedFigure) -> FigureOverview:
    """A figure of any kind: its grid, its claims and what its trials cost."""
    complete, kind = schedule_of(figure), kind_of(figure)
    return FigureOverview(
        figure=figure.id,
        title=figure.title,
        trains=figure.trains,
        run=complete.run,
        cells=complete.size,
        repeats=complete.repeats,
        published_values=complete.published,
        note=figure.note,
        estimated_costs={
            run: RunCost(*kind.cost(schedule_of(figure, RunChoices(protocol, quick))))
            for run, (protocol, quick) in RUNS.items()
        },
        capacities=_capacities(figure),
        claims=tuple(_judged(figure, claim) for claim in figure.claims),
    )


def _capacities(figure: PublishedFigure) -> tuple[MeasuredSeries, ...]:
    if not isinstance(figure, CapacityFigure):
        return ()
    size, settings = figure.size, figure.settings
    series: dict[str, dict[VectorSetting, list[MeasuredCapacity]]] = {}
    own = (row for row in measured_capacities() if row.setting in settings)
    for row in sorted(own, key=lambda row: settings.index(row.setting)):
        points = series.setdefault(f"{row.setting.in_words}, {row.threshold.in_words}", {})
        points.setdefault(row.setting, []).append(row)
    return tuple(
        MeasuredSeries(
            name,
            tuple(
                {
                    size: getattr(setting, size),
                    "guaranteed": setting.guaranteed,
                    "recalled": [row.recalled for row in seeds],
                    "too_many": [row.too_many for row in seeds],
                }
                for setting, seeds in points.items()
            ),
        )
        for name, points in series.items()
    )


def _judged(figure: PublishedFigure, claim: Claim) -> JudgedClaim:
    verdicts = [
        ClaimVerdict(row.protocol, row.verdict, row.numbers, row.command, row.basis)
        for row in verdicts_on(figure.id, claim.id)
    ]
    return JudgedClaim(
        **claim_summary(claim),
        verdicts=tuple(row for row in verdicts if row.protocol != RELEASED),
        released=next((row for row in verdicts if row.protocol == RELEASED), None),
    )
