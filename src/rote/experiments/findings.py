"""What the trials of a figure say: the same contract for every kind, which prints, reports and draws it alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from rote.charts import Chart
from rote.charts.plotting import Plotted
from rote.display import ResultTable
from rote.papers.claims import Claim, Outcome, PublishedFigure, Rule

F = TypeVar("F", bound=PublishedFigure)


class FigureSchedule(ABC, Generic[F]):
    """A figure, and how it is run. Subclasses are frozen dataclasses that add what their kind leaves to choose."""

    figure: F
    protocol: str
    quick: bool
    repeats: int

    FORMAT: ClassVar[int] = 1
    """Raised when trials of the same name would come out otherwise: older runs are then not resumed."""

    @property
    def run(self) -> str:
        """Names the run. Figures of one name keep their trials together, so that those they share are run once."""
        return self.figure.id

    @property
    def default_folder(self) -> Path:
        return Path("runs") / f"{self.run}-{self.protocol}"

    @property
    def identity(self) -> dict[str, Any]:
        """All that results depend on besides cell and seed."""
        return {"experiment": self.run, "protocol": self.protocol, "format": self.FORMAT}

    @property
    def asked(self) -> dict[str, Any]:
        """How the run was asked for, as the ledger records it: fields of `RunChoices`."""
        return {"protocol": self.protocol, "quick": self.quick, "repeats": self.repeats}

    @property
    @abstractmethod
    def size(self) -> int:
        """Cells of the grid; 0 if `quick` leaves out the figure."""

    @property
    def published(self) -> int:
        """Values that the paper released for these cells."""
        return 0

    @property
    def conditions(self) -> list[str]:
        """How the figure is run, in words, for its title line."""
        seeds = f"{self.repeats} seed{'s' if self.repeats > 1 else ''}"
        return [f"protocol {self.protocol}", seeds]


@dataclass(frozen=True)
class Verdict:
    """The decision on a claim, with the numbers behind it."""

    outcome: Outcome
    why: str
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def refuted(self) -> bool:
        return self.outcome == "not supported"

    def of_claim(self, claim: Claim, data: str) -> Verdict:
        """What the rule's verdict is worth as a verdict on a claim, given the data that it was measured on."""
        if claim.cannot_fail:
            return replace(self, outcome="not tested", why=f"{claim.cannot_fail}; {self.why}")
        if claim.data and claim.data not in data:
            return replace(
                self, outcome="not comparable", why=f"on {data}, not {claim.data}: {self.outcome}, {self.why}"
            )
        return self

    def summary(self) -> dict[str, Any]:
        return {"verdict": self.outcome, "why": self.why, "numbers": self.numbers}


def claim_summary(claim: Claim) -> dict[str, Any]:
    """A claim, who makes it, and the rule that it is judged by, as a document."""
    said = claim.quotation
    return {
        "id": claim.id,
        "statement": claim.statement,
        "owner": claim.owner,
        "quotation": None if said is None else {"words": said.words, "place": said.place, "text": said.text},
        "rule": claim.rule.in_words,
        "can_fail": not claim.cannot_fail,
    }


Row = Mapping[str, Any]
S = TypeVar("S", bound=FigureSchedule[Any])

QUICK = "QUICK: fewer cells and repeats"


@dataclass(frozen=True)
class Column:
    """A column of the table of points: a heading, and what a row shows under it."""

    heading: str
    value: str | Callable[[Row], Any]
    """A key of the row, or what is made of it."""

    def of(self, row: Row) -> Any:
        return row[self.value] if isinstance(self.value, str) else self.value(row)


class Findings(ABC, Plotted, Generic[F, S]):
    """All that was measured for one figure. Subclasses are frozen dataclasses with these fields first."""

    schedule: S
    missing: int
    """Points that have not been run to their end."""

    counted: ClassVar[str] = "points"
    """What `missing` counts."""
    over_sizes: ClassVar[bool] = False
    """Whether the trials are models over a grid of sizes, to which laws can be fitted."""

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """Of the table of points, in print and in reports."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """One row per point with all that is known of it, as JSON."""

    @abstractmethod
    def charts(self) -> dict[str, Chart]:
        """The drawings of the figure by the names of their files, the published one first."""

    def chart(self) -> Chart:
        """The published drawing."""
        return next(iter(self.charts().values()))

    @abstractmethod
    def decide(self, rule: Rule) -> Verdict:
        """The verdict on a claim of this rule."""

    def extras(self) -> dict[str, Any]:
        """What else the summary says: names of axes, fitted laws."""
        return {}

    def tables(self) -> list[ResultTable]:
        """The points, then what was made of them."""
        columns = self.columns
        cells = [[column.of(row) for column in columns] for row in self.rows()]
        return [ResultTable("points", [column.heading for column in columns], cells)]

    @property
    def data(self) -> str:
        """What was memorized or evaluated, in words; a claim about other data is not comparable."""
        return "data generated as the figure has them"

    @cached_property
    def verdicts(self) -> list[tuple[Claim, Verdict]]:
        """Each claim with its verdict, as published."""
        return [(claim, self.decide(claim.rule).of_claim(claim, self.data)) for claim in self.figure.claims]

    @cached_property
    def on_released(self) -> list[Verdict | None]:
        """The same rules on the values that the paper released; None if it released none that a rule could judge."""
        return [None for _ in self.figure.claims]

    @cached_property
    def other_verdicts(self) -> dict[str, list[Verdict]]:
        """Verdicts on the same claims by another measure, by its name in words."""
        return {}

    @property
    def refuted(self) -> bool:
        """Whether a claim is not supported."""
        return any(verdict.refuted for _, verdict in self.verdicts)

    @property
    def figure(self) -> F:
        return self.schedule.figure

    @property
    def quick(self) -> bool:
        return self.schedule.quick

    @property
    def cpu_seconds(self) -> float | None:
        """CPU time of the figure's own trials; None if all trials of its run are its own."""
        return None

    @property
    def title(self) -> str:
        return f"{self.figure.id}: {self.figure.title}"

    @property
    def conditions(self) -> str:
        """How it was run: the second line of every title."""
        missing = [f"{self.missing:,} {self.counted} not run"] if self.missing else []
        return ", ".join([*([QUICK] if self.quick else []), *self.schedule.conditions, *missing])

    def claims(self) -> list[dict[str, Any]]:
        """Each claim with its owner, its rule, its verdict here and that on the released values, as documents."""
        return [
            {
                **claim_summary(claim),
                "data": self.data,
                **verdict.summary(),
                "released": None if released is None else released.summary(),
            }
            for (claim, verdict), released in zip(self.verdicts, self.on_released, strict=True)
        ]

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "figure": self.figure.id,
            "title": self.figure.title,
            "protocol": self.schedule.protocol,
            "quick": self.quick,
            "repeats": self.schedule.repeats,
            "missing": self.missing,
            **self.extras(),
            "points": self.rows(),
            "claims": self.claims(),
        }
