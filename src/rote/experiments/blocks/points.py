"""What was measured for a figure about #blocks: searches by series, or training curves by #blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rote.experiments.blocks.schedule import BlockSchedule


@dataclass(frozen=True)
class BlockPoint:
    """One x of a series: a search per seed."""

    x: int
    smallest: tuple[int | None, ...]
    """Smallest #blocks; none where no rung of the ladder sufficed."""
    tried: tuple[tuple[tuple[int, float], ...], ...]
    """For each seed (#blocks, best accuracy or least error) on every rung."""
    trials: int
    seconds: float
    parameters: tuple[int | None, ...] = ()
    """Everything trained in the smallest networks, embedding included."""
    built: dict[str, Any] | None = None
    """What Theorem 4.1's construction needs for the sequences of the first seed."""

    @property
    def in_words(self) -> str:
        """Every seed's #blocks."""
        return blocks_in_words(self.smallest, self.tried)


def blocks_in_words(smallest: Sequence[int | None], tried: Sequence[Sequence[Sequence[float]]]) -> str:
    """Every seed's smallest #blocks, or more than the last that was tried."""
    return ", ".join(
        f"> {rungs[-1][0]}" if blocks is None else str(blocks) for blocks, rungs in zip(smallest, tried, strict=True)
    )


@dataclass(frozen=True)
class BlockSeries:
    name: str
    points: tuple[BlockPoint, ...]


@dataclass(frozen=True)
class BlockCurve:
    """Trials of one #blocks, best first."""

    blocks: int
    accuracies: tuple[float, ...]
    losses: tuple[float, ...]
    curves: tuple[tuple[tuple[int, float, float], ...], ...]
    """(step, loss, accuracy) of each trial."""
    settings: tuple[tuple[float, int], ...]
    """Learning rate and warm-up of each trial."""
    seconds: float


@dataclass(frozen=True)
class BlockPoints:
    """The points of a figure by series, or its curves: what verdicts are based on."""

    schedule: BlockSchedule
    series: tuple[BlockSeries, ...]
    curves: tuple[BlockCurve, ...]
    missing: int
    """Points that have not been run to their end."""

    @property
    def published(self) -> dict[int, int]:
        return dict(self.schedule.figure.published)

    @property
    def most_built(self) -> BlockSeries:
        """The series with the most points on which the construction was built."""
        return max(self.series, key=lambda series: sum(point.built is not None for point in series.points))
