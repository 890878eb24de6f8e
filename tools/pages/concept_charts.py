"""Charts of the concept pages and of the findings, from data in docs/ or from exact computation."""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np

from rote.charts import Bar, BarChart, Chart, ChartSeries, HeatMap, Mark, Tone, XYChart, shape
from rote.tasks import AssociationTask
from rote.theory.allenzhu2024 import BITS_PER_PARAMETER as ALLENZHU
from rote.theory.exact_rank import exact_rank
from rote.theory.morris2025 import BITS_PER_PARAMETER as MORRIS
from rote.theory.rote_counting import FLOAT32_BITS

DOCS = Path(__file__).parents[2] / "docs"
SIZES = ((3, 3), (4, 2), (5, 2), (6, 2))
"""Vocabulary and context of the layers whose rank is computed."""
DIMS, HEAD_DIMS, HEADS = (2, 4, 8), (1, 2, 4, 8), (1, 2, 3, 4, 6)
MODELS = {
    "built": "built by Theorem 1, 210 facts",
    "trained": "trained, the same 210 facts",
    "trained, more facts": "trained, 1,000 facts",
}


def concept_charts(countries: AssociationTask, parameters: dict[str, int]) -> dict[str, Chart]:
    """Charts by the name of their file; `parameters` are those of the models that hold all of `countries`."""
    return {
        "ladder": ladder_chart(countries, parameters),
        "rank": rank_chart(),
        "ablated_heads": ablated_chart(),
        "attention_built": pattern_chart("built", "A random head gives every pair of tokens its own weight"),
        "attention_trained": pattern_chart("trained, more facts", "Training turns a head into a switch"),
    }


def ladder_chart(task: AssociationTask, parameters: dict[str, int]) -> BarChart:
    """Bits of one table per parameter of the models that hold it, between published figures."""
    held = task.shape.bits
    rows: list[tuple[str, float, Tone]] = [
        (name, held / size, "green" if "trained" in name else "blue") for name, size in parameters.items()
    ]
    most = max(value for _, value, _ in rows)
    rows += [("GPT-like models, random strings (Morris et al. 2025)", MORRIS, "grey")]
    rows += [("GPT-2, biographies (Allen-Zhu and Li 2024)", ALLENZHU, "grey")]
    rows.sort(key=lambda row: -row[1])
    bars = [
        Bar(name, value, f"{name}: {value:.2f} bits per parameter", tone, f"{value:.2g}") for name, value, tone in rows
    ]
    legend = {"blue": "countries, built", "green": "countries, trained", "grey": "published, other data"}
    title = f"Up to {most:.1f} bits of a table per parameter; language models hold {ALLENZHU:g} to {MORRIS:g}"
    note = f"Counting allows {FLOAT32_BITS} bits per float32."
    return BarChart(title, "bits per parameter", bars, legend=legend, note=note)


def rank_chart() -> XYChart:
    """The exact rank of the features on all contexts against Lemma 2's number, inside and outside its condition."""
    places: dict[bool, set[tuple[int, int]]] = {True: set(), False: set()}
    for (vocab, context), dim, head_dim, heads in itertools.product(SIZES, DIMS, HEAD_DIMS, HEADS):
        printed = heads * head_dim + dim
        if head_dim > dim or printed > vocab**context:
            continue
        contexts = np.array(list(itertools.product(range(vocab), repeat=context)))
        holds = head_dim <= vocab + context - 2 and dim <= vocab
        places[holds].add((printed, exact_rank(contexts, dim, head_dim, heads)))
    top = max(printed for found in places.values() for printed, _ in found)
    series = [
        ChartSeries("rank = Hk + d", [Mark(0, 0), Mark(top, top)], "line", "grey"),
        *(
            ChartSeries(name, [Mark(x, y) for x, y in sorted(places[holds])], "points", tone, shape=shape(number))
            for number, (holds, name, tone) in enumerate(
                ((True, "k <= N + S - 2 and d <= N", "blue"), (False, "larger k or d", "vermilion"))
            )
        ),
    ]
    title = "The guarantee of Lemma 2 holds only while k <= N + S - 2 and d <= N"
    return XYChart(title, "guaranteed rank Hk + d, as printed", "true rank (exact)", series)


def ablated_chart() -> XYChart:
    """Share of the facts that are lost against the number of heads ablated, means over sets of heads and seeds."""
    shares: dict[tuple[str, int], list[float]] = defaultdict(list)
    for row in _rows("ablated_heads.csv"):
        shares[row["model"], int(row["heads ablated"])].append(float(row["share lost"]))
    series = [
        ChartSeries(
            label,
            [Mark(count, sum(own) / len(own)) for (model, count), own in shares.items() if model == name],
            "joined", tone, shape=shape(number),
        )
        for number, ((name, label), tone) in enumerate(zip(MODELS.items(), ("blue", "green", "orange"), strict=True))
    ]  # fmt: skip
    built, trained = (np.mean(shares[name, 1]) for name in ("built", "trained"))
    title = f"Without one head a built model loses {built:.0%} of its facts, a trained one {trained:.0%}"
    return XYChart(title, "heads ablated, of H = 20", "share of facts lost", series, y_range=(-0.03, 1.03))


def pattern_chart(model: str, title: str) -> HeatMap:
    """Attention of one head to the first token, for every pair of tokens."""
    rows = [row for row in _rows("attention_patterns.csv") if row["model"] == model]
    tokens = sorted({int(row["first token"]) for row in rows})
    shares = {(int(row["first token"]), int(row["last token"])): float(row["attention to the first"]) for row in rows}
    values = [[shares[first, last] for last in tokens] for first in tokens]
    names = [str(token) for token in tokens]
    return HeatMap(title, "last token", "first token", names, names, values, high=1.0)


def _rows(name: str) -> list[dict[str, str]]:
    with (DOCS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
