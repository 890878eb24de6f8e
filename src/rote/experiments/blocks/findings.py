"""What the trials of a figure about #blocks say: points by series, or curves, and the verdict on each claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rote.charts import Chart, ChartSeries, Mark, Panels, Style, XYChart, shape, tones
from rote.display import number
from rote.experiments.blocks.schedule import BlockSchedule, x_of
from rote.experiments.blocks.trial import BuiltResult, BuiltTrial, Results, block_result, trained_result
from rote.experiments.blocks.verdicts import (
    BlockCurve,
    BlockPoint,
    BlockPoints,
    BlockSeries,
    blocks_in_words,
    decide_on_blocks,
    on_published,
)
from rote.experiments.findings import Column, Findings, Row, Verdict
from rote.experiments.runner import Rows
from rote.papers.claims import Rule
from rote.papers.kinds.blocks import BlockFigure, BlockSearch, SmallestBlocksFigure

ASIDE = 0.035
"""Series that agree would hide each other: each is moved by this share of x."""
BUILT: tuple[tuple[str, str, Style], ...] = (("exact", "exact arithmetic", "line"), ("float", "floats", "dashed"))


def block_chart(findings: BlockPoints, title: str, note: str) -> XYChart | Panels:
    """Smallest #blocks, and beside them the parameters where something was built; or loss and accuracy by #blocks."""
    figure = findings.schedule.figure
    if not isinstance(figure, SmallestBlocksFigure):
        return Panels(title, _training(findings.curves), note)
    smallest = _smallest(findings, figure, title, note)
    if not any(point.built for series in findings.series for point in series.points):
        return smallest
    return Panels(title, [_smallest(findings, figure, "smallest #blocks", ""), _parameters(findings, figure)], note)


def _smallest(findings: BlockPoints, figure: SmallestBlocksFigure, title: str, note: str) -> XYChart:
    """#blocks against N or n; an arrow up where none of the ladder sufficed."""
    top, drawn = max(figure.ladder), []
    for index, (series, tone) in enumerate(zip(findings.series, tones(len(findings.series)), strict=True)):
        aside = 1 + ASIDE * (index - (len(findings.series) - 1) / 2)
        place = f"{series.name}, {figure.x_label}"
        found = [
            Mark(point.x * aside, float(blocks), f"{place} {point.x:,}: {blocks} #blocks")
            for point in series.points
            for blocks in point.smallest
            if blocks is not None
        ]
        above = [
            Mark(point.x * aside, 1.25 * top, f"{place} {point.x:,}: more than {top} #blocks")
            for point in series.points
            if None in point.smallest
        ]
        drawn.append(ChartSeries(series.name, found, "joined", tone, shape=shape(index)))
        if above:
            drawn.append(ChartSeries(f"{series.name}: more than {top}", above, "arrows", tone, in_legend=False))
    if any(series.style == "arrows" for series in drawn):
        drawn.append(ChartSeries(f"more than {top}", (), "arrows", "grey"))
    if findings.published:
        marks = [Mark(x, blocks, f"published at {x:,}: {blocks}") for x, blocks in findings.published.items()]
        drawn.append(ChartSeries("published (read off the plot)", marks, "crosses", "grey"))
    xs = {point.x for series in findings.series for point in series.points} | set(findings.published)
    return XYChart(
        title, figure.x_label, "smallest #blocks", drawn, log_x=True, log_y=True, y_range=(0.85, 1.6 * top), note=note,
        x_ticks=sorted(xs), y_ticks=figure.ladder,
    )  # fmt: skip


def _parameters(findings: BlockPoints, figure: SmallestBlocksFigure) -> XYChart:
    """Parameters: trained, and of the construction on the same sequences."""
    drawn = [
        ChartSeries(series.name, _trained(series), "points", tone, shape=shape(index))
        for index, (series, tone) in enumerate(zip(findings.series, tones(len(findings.series)), strict=True))
    ]
    series = findings.most_built
    for which, name, style in BUILT:
        marks = [Mark(point.x, float(point.built[which]["nonzeros"])) for point in series.points if point.built]
        drawn.append(ChartSeries(f"Theorem 4.1 as built, {name} ({series.name})", marks, style, "grey"))
    title, y_label = "parameters of the smallest", "parameters (built: non-zero)"
    xs = sorted({point.x for series in findings.series for point in series.points})
    return XYChart(title, figure.x_label, y_label, drawn, log_x=True, log_y=True, x_ticks=xs)


def _trained(series: BlockSeries) -> list[Mark]:
    return [
        Mark(point.x, float(parameters), f"{series.name}, {point.x:,}: {parameters:,} parameters")
        for point in series.points
        for parameters in point.parameters
        if parameters is not None
    ]


def _training(curves: Sequence[BlockCurve]) -> list[XYChart]:
    """Loss and accuracy along training: the best trial of each #blocks, the others faint."""
    losses: list[ChartSeries] = []
    shares: list[ChartSeries] = []
    for curve, tone in zip(curves, tones(len(curves)), strict=True):
        name = f"{curve.blocks} block{'s' * (curve.blocks > 1)}, best trial (others faint)"
        for place, line in enumerate(curve.curves):
            hint = f"{curve.blocks} #blocks, step"
            loss = [Mark(step, value, f"{hint} {step:,}: loss {number(value)}") for step, value, _ in line]
            share = [Mark(step, value, f"{hint} {step:,}: accuracy {value:.4f}") for step, _, value in line]
            faint = place > 0
            losses.append(ChartSeries(name, loss, "line", tone, in_legend=not faint, faint=faint))
            shares.append(ChartSeries(name, share, "line", tone, in_legend=not faint, faint=faint))
    least = min((loss for curve in curves for loss in curve.losses), default=0.1)
    step = "step (all sequences each)"
    return [
        XYChart("loss", step, "cross-entropy, nats", losses, log_y=True, y_range=(0.7 * least, 3.0)),
        XYChart("accuracy on the training sequences", step, "accuracy", shares, y_range=(0.0, 1.03)),
    ]


TEXTS_IN_WORDS = {"wordnet": "WordNet definitions", "multinli": "MultiNLI", "imdb": "IMDb"}


@dataclass(frozen=True)
class BlockFindings(BlockPoints, Findings[BlockFigure, BlockSchedule]):
    def decide(self, rule: Rule) -> Verdict:
        return decide_on_blocks(rule, self)

    @property
    def data(self) -> str:
        if not self.schedule.reads_texts:
            return "random token vectors with random labels"
        return f"{TEXTS_IN_WORDS.get(self.schedule.texts, self.schedule.texts)}, cut to their first tokens"

    @cached_property
    def on_released(self) -> list[Verdict | None]:
        """On what was read off the published figure; growth alone can be judged there."""
        return [on_published(claim.rule, self.figure) for claim in self.figure.claims]

    @property
    def columns(self) -> Sequence[Column]:
        seconds = Column("seconds", lambda row: round(row["seconds"], 1))
        if self.schedule.blocks:
            return (
                Column("#blocks", "blocks"),
                Column("accuracy of each trial", lambda row: _listed(row["accuracies"])),
                Column("least loss", lambda row: _listed(row["losses"])),
                Column("learning rate", lambda row: _listed([rate for rate, _ in row["settings"]])),
                Column("warm-up", lambda row: _listed([warm_up for _, warm_up in row["settings"]])),
                seconds,
            )
        return (
            Column("series", "series"),
            Column(self.figure.x_label, "x"),
            Column("#blocks", lambda row: blocks_in_words(row["smallest_blocks"], row["tried"])),
            Column("published", "published"),
            Column("trials", "trials"),
            Column("best below", _best_below),
            Column("parameters", lambda row: _listed(row["parameters"])),
            *(Column(f"built, {name}", _built(which)) for which, name in (("exact", "exact"), ("float", "floats"))),
            seconds,
        )

    def rows(self) -> list[dict[str, Any]]:
        if self.schedule.blocks:
            return [
                {
                    "blocks": curve.blocks,
                    "accuracies": list(curve.accuracies),
                    "losses": list(curve.losses),
                    "settings": [list(setting) for setting in curve.settings],
                    "seconds": curve.seconds,
                }
                for curve in self.curves
            ]
        return [
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
        ]

    def charts(self) -> dict[str, Chart]:
        return {self.figure.id: block_chart(self, self.title, self.conditions)}

    def extras(self) -> dict[str, Any]:
        texts = {"texts": self.schedule.texts} if self.schedule.reads_texts else {}
        return {**texts, "x": self.figure.x_label}


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(number, values))


def _best_below(row: Row) -> str | None:
    """The best that the rung below the smallest reached, or the highest rung where none sufficed."""
    shown = []
    for blocks, tried in zip(row["smallest_blocks"], row["tried"], strict=True):
        failed = [rung for rung in tried if rung[0] != blocks]
        if failed:
            shown.append(f"{failed[-1][1]:.4f} at {failed[-1][0]}")
    return ", ".join(shown) or None


def _built(which: str) -> Any:
    """Non-zero parameters of the construction on the same sequences."""
    return lambda row: row["built"][which]["nonzeros"] if row["built"] else None


def block_findings(schedule: BlockSchedule, rows: Rows) -> BlockFindings:
    """Arrange what has ended; points that have not are counted as missing."""
    results = {key: block_result(row.result) for key, row in rows.items()}
    by_series: dict[str, list[BlockPoint]] = {}
    missing = 0
    for asked in schedule.searches:
        point = _point(schedule, asked, results)
        missing += len(point.smallest) < schedule.repeats
        if point.smallest:
            by_series.setdefault(asked.kind.in_words, []).append(point)
    series = tuple(
        BlockSeries(name, tuple(sorted(points, key=lambda point: point.x))) for name, points in by_series.items()
    )
    curves = [curve for blocks in schedule.blocks if (curve := _curve(schedule, blocks, results)) is not None]
    return BlockFindings(schedule, series, tuple(curves), missing + len(schedule.blocks) - len(curves))


def _point(schedule: BlockSchedule, asked: BlockSearch, results: Results) -> BlockPoint:
    figure = schedule.figure
    if not isinstance(figure, SmallestBlocksFigure):
        raise TypeError(f"{figure.id} has no searches")
    states = [
        state for seed in range(schedule.repeats) if not (state := schedule.search_state(asked, seed, results)).wanted
    ]
    built = results.get(BuiltTrial(asked.kind, asked.sequences, 0).key)
    return BlockPoint(
        x_of(figure, asked),
        tuple(state.smallest for state in states),
        tuple(state.tried for state in states),
        sum(state.trials for state in states),
        sum(state.seconds for state in states),
        tuple(state.parameters for state in states),
        built.accounts if isinstance(built, BuiltResult) else None,
    )


def _curve(schedule: BlockSchedule, blocks: int, results: Results) -> BlockCurve | None:
    trials = [trial for seed in range(schedule.repeats) for trial in schedule.curve_trials(blocks, seed, results)]
    ended = [trained_result(results, trial) for trial in trials if trial.key in results]
    if len(ended) < len(trials):
        return None
    ended.sort(key=lambda result: -(result.accuracy or 0.0))
    return BlockCurve(
        blocks,
        tuple(result.accuracy or 0.0 for result in ended),
        tuple(result.loss for result in ended),
        tuple(tuple((step, loss, share or 0.0) for step, loss, share in result.curve) for result in ended),
        tuple((result.learning_rate, result.warm_up) for result in ended),
        sum(result.seconds for result in ended),
    )
