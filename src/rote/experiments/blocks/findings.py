"""What the trials of a figure about #blocks say: points by series, curves, and the verdict on each claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.experiments.blocks.plan import BlockPlan, x_of
from rote.experiments.blocks.trial import BuiltTrial, Results
from rote.experiments.planned_findings import PlannedFindings
from rote.experiments.verdict import Verdict, claims_summary
from rote.papers.block_figures import BlockFigure, BlockSearch, SmallestBlocksFigure
from rote.papers.rules import Rule


@dataclass(frozen=True)
class BlockPoint:
    """One x of a series: a search a seed."""

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
        return ", ".join(
            f"> {tried[-1][0]}" if blocks is None else str(blocks)
            for blocks, tried in zip(self.smallest, self.tried, strict=True)
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
class BlockFindings(PlannedFindings[BlockFigure]):
    """All that was measured for one figure."""

    plan: BlockPlan
    series: tuple[BlockSeries, ...]
    curves: tuple[BlockCurve, ...]
    missing: int
    """Points that have not been run to their end."""

    @property
    def x_label(self) -> str:
        figure = self.plan.figure
        if not isinstance(figure, SmallestBlocksFigure):
            return "#blocks"
        return "sequences N" if figure.x == "sequences" else "length n"

    @property
    def published(self) -> dict[int, int]:
        return dict(self.plan.figure.published)

    @property
    def most_built(self) -> BlockSeries:
        """The series with the most points on which the construction was built."""
        return max(self.series, key=lambda series: sum(point.built is not None for point in series.points))

    def decide(self, rule: Rule) -> Verdict:
        from rote.experiments.blocks.verdicts import decide_on_blocks

        return decide_on_blocks(rule, self)

    @property
    def points(self) -> int:
        """Points and curves with a value."""
        return sum(len(series.points) for series in self.series) + len(self.curves)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            **self.heading(),
            **({"texts": self.plan.texts} if self.plan.reads_texts else {}),
            "missing": self.missing,
            "x": self.x_label,
            "points": [
                {
                    "series": series.name,
                    "x": point.x,
                    "smallest_blocks": list(point.smallest),
                    "published": self.published.get(point.x),
                    "tried": [[list(rung) for rung in tried] for tried in point.tried],
                    "trials": point.trials,
                    "parameters": list(point.parameters),
                    "built": point.built,
                    "seconds": point.seconds,
                }
                for series in self.series
                for point in series.points
            ],
            "curves": [
                {
                    "blocks": curve.blocks,
                    "accuracies": list(curve.accuracies),
                    "losses": list(curve.losses),
                    "settings": [list(setting) for setting in curve.settings],
                    "seconds": curve.seconds,
                }
                for curve in self.curves
            ],
            "claims": claims_summary(self.verdicts),
        }


def block_findings(plan: BlockPlan, results: Results) -> BlockFindings:
    """Arrange what has ended; points that have not are counted as missing."""
    by_series: dict[str, list[BlockPoint]] = {}
    missing = 0
    for asked in plan.searches:
        point = _point(plan, asked, results)
        missing += len(point.smallest) < plan.repeats
        if point.smallest:
            by_series.setdefault(asked.kind.in_words, []).append(point)
    series = tuple(
        BlockSeries(name, tuple(sorted(points, key=lambda point: point.x))) for name, points in by_series.items()
    )
    curves = [curve for blocks in plan.blocks if (curve := _curve(plan, blocks, results)) is not None]
    return BlockFindings(plan, series, tuple(curves), missing + len(plan.blocks) - len(curves))


def _point(plan: BlockPlan, asked: BlockSearch, results: Results) -> BlockPoint:
    figure = plan.figure
    if not isinstance(figure, SmallestBlocksFigure):
        raise TypeError(f"{figure.id} has no searches")
    stands = [stand for seed in range(plan.repeats) if not (stand := plan.stand(asked, seed, results)).wanted]
    built = results.get(BuiltTrial(asked.kind, asked.sequences, 0).key)
    return BlockPoint(
        x_of(figure, asked),
        tuple(stand.smallest for stand in stands),
        tuple(stand.tried for stand in stands),
        sum(stand.trials for stand in stands),
        sum(stand.seconds for stand in stands),
        tuple(stand.parameters for stand in stands),
        built,
    )


def _curve(plan: BlockPlan, blocks: int, results: Results) -> BlockCurve | None:
    trials = [trial for seed in range(plan.repeats) for trial in plan.curve_trials(blocks, seed, results)]
    ended = [results[trial.key] for trial in trials if trial.key in results]
    if len(ended) < len(trials):
        return None
    ended.sort(key=lambda result: -result["accuracy"])
    return BlockCurve(
        blocks,
        tuple(result["accuracy"] for result in ended),
        tuple(result["loss"] for result in ended),
        tuple(tuple((step, loss, share) for step, loss, share in result["curve"]) for result in ended),
        tuple((result["learning_rate"], result["warm_up"]) for result in ended),
        sum(result["seconds"] for result in ended),
    )
