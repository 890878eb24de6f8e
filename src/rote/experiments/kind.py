"""A kind of figure: one record that says how its figures are scheduled, run, arranged and estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

from rote.experiments.findings import FigureSchedule, Findings
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.runner import Rows, Schedule
from rote.models.attention_only import Positions
from rote.papers.claims import PublishedFigure
from rote.training.protocol import EngineName

F = TypeVar("F", bound=PublishedFigure)
S = TypeVar("S", bound=FigureSchedule[Any])

NOT_TAKEN = {
    "protocol": "nothing is trained; leave it out",
    "variant": "its models have one kind of heads; leave it out",
    "positions": "its models leave no choice of positions; leave it out",
    "texts": "is not about texts; leave it out",
}
"""Why a choice is rejected where no figure takes it."""


@dataclass(frozen=True)
class RunChoices:
    """How figures are run. Default: as the paper has it."""

    protocol: str = "fast"
    quick: bool = False
    """Fewer cells and repeats."""
    repeats: int | None = None
    variant: str | None = None
    """Of the models' heads, where a figure about look-up tables has both kinds."""
    texts: str | None = None
    """Which texts, of figures that read some."""
    positions: Positions | None = None
    """Where positions enter the models, of figures about look-up tables."""

    def rejected(self, taken: frozenset[str]) -> list[str]:
        """Problems with choices that differ from their default and are not among those taken."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name in NOT_TAKEN}
        default = RunChoices()
        return [
            f"`{name}={value}`: {NOT_TAKEN[name]}"
            for name, value in own.items()
            if name not in taken and value != getattr(default, name)
        ]


@dataclass(frozen=True)
class FigureKind(Generic[F, S]):
    """What has to be said once for every figure of a kind; the rest of rote asks it."""

    name: str
    figures: tuple[type, ...]
    """Classes of its figures (`rote.papers.kinds`)."""
    schedule: Callable[[F, RunChoices], S]
    """What a run consists of. A choice about another kind of figure is ignored."""
    run: Callable[[S, Path, EngineName], Schedule[Any, Any]]
    """What the runner asks for trials; problems are raised before the folder is made."""
    findings: Callable[[S, Rows], Findings[F, S]]
    """What trials say of the figure; those of others among them are ignored."""
    cost: Callable[[S], tuple[int, float]]
    """Trials and estimated CPU seconds."""
    options: frozenset[str] = frozenset()
    """Choices that its figures take, besides `quick` and `repeats`; `part` if trials are a list, not a search."""
    written: Callable[[Path, Sequence[TrialRow]], object] | None = None
    """Writes files beside the ledger from all trials of a run."""
