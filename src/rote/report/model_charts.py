"""What a model holds, in pictures: margins of all facts, attention, contributions, heads, precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rote.charts import Bar, BarChart, ChartSeries, HeatMap, Mark, Tone, XYChart
from rote.display import number
from rote.measure.head_use import HeadTable
from rote.measure.inspection import Inspection
from rote.measure.precision import PrecisionPoint
from rote.tasks import Task

MOST_POINTS = 240
"""Points of the curve of margins: what lies between them is drawn by a line."""
MOST_DOTS = 60
"""Points that are drawn as such; more are a line."""
MOST_BARS = 24
MOST_COLUMNS = 80
"""Heads of a heat map."""
Cell = tuple[int, int | None]
"""Layer and head; no head is the layer's MLP."""
LOST, DECIDED = "facts lost without it", "facts it decides"


def margins_chart(table: HeadTable, task: Task, title: str = "margins of all facts") -> XYChart:
    """Every fact by its margin, smallest first; those at or below zero are missed."""
    order = table.by_margin()
    places = np.unique(np.linspace(0, len(order) - 1, min(MOST_POINTS, len(order))).round().astype(int))
    marks = [
        Mark(float(index + 1), float(table.margins[order[index]]), _fact(task, int(order[index]), table))
        for index in places
    ]
    line = ChartSeries("margin", marks, "joined" if len(marks) <= MOST_DOTS else "line", "blue", in_legend=False)
    zero = [Mark(1.0, 0.0), Mark(float(len(order)), 0.0)]
    return XYChart(
        title,
        "facts, smallest margin first",
        "margin",
        [line, ChartSeries("missed below", zero, "dashed", "vermilion")],
    )


def _fact(task: Task, row: int, table: HeadTable) -> str:
    return f"{task.fact_in_words(row) or row}: margin {number(float(table.margins[row]))}"


def contributions_chart(seen: Inspection, most: int = MOST_BARS) -> BarChart:
    """What each part adds to the answer's margin over the nearest wrong answer, strongest first."""
    order = sorted(seen.contributions, key=lambda part: -abs(part.to_margin))
    bars = [
        Bar(
            part.name,
            part.to_margin,
            f"{part.name} adds {part.to_answer:.4g} to {seen.answer} and {part.to_nearest:.4g} to {seen.nearest}",
            "blue" if part.to_margin >= 0 else "vermilion",
            f"{part.to_margin:+.3g}",
        )
        for part in order[:most]
    ]
    if rest := order[most:]:
        total = sum(part.to_margin for part in rest)
        bars.append(Bar(f"{len(rest)} others", total, "", "grey", f"{total:+.3g}"))
    return BarChart(f"what each part adds to {seen.answer} over {seen.nearest}", "adds to the margin", bars)


def without_chart(seen: Inspection, most: int = MOST_BARS) -> BarChart | None:
    """What is left of the margin when one part adds nothing, least first; nothing where that is not known."""
    known = [(part, part.margin_without) for part in seen.contributions if part.margin_without is not None]
    if not known:
        return None
    order = sorted(known, key=lambda pair: pair[1])
    bars = [
        Bar(
            part.name,
            left,
            f"without {part.name} the margin is {left:.4g} and the model says {part.answer_without}",
            "blue" if left > 0 else "vermilion",
            f"{left:.3g}",
        )
        for part, left in order[:most]
    ]
    more = "" if len(order) <= most else f", the {most} of {len(order)} that matter most"
    legend: dict[Tone, str] = {"blue": "still recalled", "vermilion": "lost"}
    used = {bar.tone for bar in bars}
    return BarChart(
        f"what is left without one part{more}", "margin", bars, legend={t: n for t, n in legend.items() if t in used}
    )


def layers_chart(seen: Inspection) -> BarChart | None:
    """What the skip connection and each layer's heads and MLP add to the margin, in the model's order, for deep models.

    Nothing for one layer of heads alone, where it would say no more than the parts themselves.
    """
    sums: dict[str, float] = {}
    for part in seen.contributions:
        name = "skip" if part.part == "skip" else f"layer {part.layer} {'heads' if part.part == 'head' else 'MLP'}"
        sums[name] = sums.get(name, 0.0) + part.to_margin
    if len(sums) < 3:
        return None
    bars = [
        Bar(name, total, tone="blue" if total >= 0 else "vermilion", shown=f"{total:+.3g}")
        for name, total in sums.items()
    ]
    return BarChart("layer by layer", "adds to the margin", bars)


def components_chart(seen: Inspection) -> HeatMap:
    """What every head and every MLP adds to the margin, one row per layer."""
    added = {(part.layer or 0, part.head): part.to_margin for part in seen.contributions if part.part != "skip"}
    return _layer_map(added, f"what every head adds to {seen.answer} over {seen.nearest}", "adds to the margin")


def lost_chart(table: HeadTable) -> HeatMap:
    """Facts lost without each head, one row per layer; what a head decides where the loss is not known."""
    exact = all(head.loses is not None for head in table.heads)
    lost: dict[Cell, float] = {(head.layer, head.head): float(_lost(head.loses, head.decides)) for head in table.heads}
    return _layer_map(lost, f"{LOST if exact else DECIDED}, head by head", "facts")


def _layer_map(values: Mapping[Cell, float], title: str, note: str) -> HeatMap:
    """One row per layer, one column per head, MLPs in the last."""
    layers = sorted({layer for layer, _ in values})
    heads = sorted({head for _, head in values if head is not None})
    columns = [*heads, None] if any(head is None for _, head in values) else heads
    names = ["MLP" if column is None else str(column) for column in columns]
    cells = [[values.get((layer, column)) for column in columns] for layer in layers]
    return HeatMap(title, "head", "layer", names, [str(layer) for layer in layers], cells, note=note)


def attention_chart(seen: Inspection, layer: int = 0) -> HeatMap:
    """How much each head of a layer attends to each token of the key."""
    heads = [part for part in seen.contributions if part.part == "head" and part.layer == layer]
    tokens = [f"{index + 1} {token}" for index, token in enumerate(seen.tokens)]
    weights = zip(*(part.attention or () for part in heads), strict=True)
    names = [str(part.head) for part in heads]
    return HeatMap(
        f"attention in layer {layer}", "head", "token", names, tokens, [list(row) for row in weights], high=1.0
    )


def heads_chart(table: HeadTable, most: int = MOST_BARS) -> BarChart:
    """Facts that are lost without each head, most first; what a head decides where the loss is not known."""
    exact = all(head.loses is not None for head in table.heads)
    order = sorted(table.heads, key=lambda head: -_lost(head.loses, head.decides))[:most]
    bars = [
        Bar(
            f"head {head.name}",
            float(_lost(head.loses, head.decides)),
            f"head {head.name}: adds {number(head.mean_to_margin)} to a margin on average, "
            f"{number(head.largest_to_margin)} at most",
        )
        for head in order
    ]
    more = "" if len(order) == len(table.heads) else f", the {len(order)} of {len(table.heads)} that lose most"
    label = LOST if exact else DECIDED
    return BarChart(f"ablation impact of each head{more}", label, bars)


def _lost(loses: int | None, decides: int) -> int:
    return decides if loses is None else loses


def specialisation_chart(table: HeadTable, most: int = MOST_COLUMNS) -> HeatMap | None:
    """What heads add to margins on average, by a token of the key; of many heads those that differ most between tokens.

    Nothing where all facts share their keys' tokens.
    """
    seen = table.specialisation
    if seen is None:
        return None
    spread = seen.added.max(0) - seen.added.min(0)
    shown = np.sort(np.argsort(-spread, kind="stable")[:most])
    more = "" if len(shown) == len(table.heads) else f", the {len(shown)} heads that differ most"
    one_layer = all(head.layer == 0 for head in table.heads)
    return HeatMap(
        f"head specialisation: added to margins by token {seen.position + 1} of the key{more}",
        "head" if one_layer else "layer.head",
        f"token {seen.position + 1}",
        [str(table.heads[index].head) if one_layer else table.heads[index].name for index in shown],
        list(seen.tokens),
        seen.added[:, shown].tolist(),
    )


def precision_chart(points: Sequence[PrecisionPoint], title: str = "recall against precision") -> XYChart:
    """Share of facts recalled when weights keep fewer and fewer bits."""
    marks = [
        Mark(float(point.bits), point.recall, f"{point.name}: {point.recalled:,} facts recalled, {point.recall:.1%}")
        for point in points
    ]
    return XYChart(
        title, "bits of the significand", "recall", [ChartSeries("recall", marks, "joined", "blue", in_legend=False)],
        y_range=(0.0, 1.03),
    )  # fmt: skip
