"""Figures, tables and the page docs/where_smollm2.md, from the kept pieces."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rote.charts import ChartSeries, HeatMap, Mark, XYChart
from rote.charts.drawing import write_chart
from where.calibration import Score
from where.findings import Findings, bootstrap, heads_part, heads_share, likeness
from where.theory import LayerTheory, most

DOCS = Path(__file__).resolve().parents[2] / "docs"
STEM = "where_smollm2"
MEANS = ("precision", "recall", "carriers")
"""What the calibration shows of a method, over models."""


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table; numbers with two decimals."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def write_csv(name: str, rows: Sequence[dict[str, Any]]) -> None:
    with (DOCS / f"{STEM}.{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows([{key: f"{v:.5g}" if isinstance(v, float) else v for key, v in row.items()} for row in rows])


def component_rows(known: Findings) -> list[dict[str, Any]]:
    """One line per component: mean effects over facts by every method."""
    means = {method: known.mean(method).ravel() for method in known.effects}
    attention = np.nanmean(known.found.attention, 0)
    rows = []
    for number, part in enumerate(known.found.components):
        looks = {} if part.head is None else {
            "attention_subject": float(attention[part.layer, part.head, 1]),
            "attention_last": float(attention[part.layer, part.head, 3]),
        }  # fmt: skip
        row = {"relation": known.case.relation, "component": str(part)}
        row |= {method: float(values[number]) for method, values in means.items()}
        rows.append({**row, "attention_subject": "", "attention_last": "", **looks})
    return rows


def fact_rows(found: Findings) -> list[dict[str, Any]]:
    """One line per fact: margin, heads' share and largest component by every method, and the set that loses it."""
    kept = found.sets("own")["sets"] if found.case.known and found.has_sets else []
    sets = {tuple(one["key"]): ", ".join(one["components"]) for one in kept}
    shares = {method: heads_part(effect) for method, effect in found.effects.items()}
    rows = []
    for number, fact in enumerate(found.found.facts):
        row: dict[str, Any] = {
            "relation": found.case.relation, "country": fact.key[-1], "answer": fact.answer, "said": fact.recalled,
            "margin": float(fact.margin), "sum_error": float(found.found.rounding[number]),
            "set": sets.get(fact.key, ""),
        }  # fmt: skip
        for method, (heads, every) in shares.items():
            largest = int(np.nan_to_num(found.effects[method][number]).argmax())
            row[f"{method}, heads' share"] = float(heads[number] / every[number]) if every[number] else ""
            row[f"{method}, largest"] = str(found.found.components[largest])
        rows.append(row)
    return rows


def heat(known: Findings, method: str, title: str) -> str:
    values = known.mean(method)
    unit = "share restored" if method == "patching" else "logits"
    chart = HeatMap(
        title=title,
        x_label="head, and the MLP of the layer",
        y_label="layer",
        columns=[*map(str, range(known.found.heads)), "MLP"],
        rows=[str(layer) for layer in range(len(values))],
        values=values.tolist(),
        note=f"{method}, mean over {known.facts} {known.case.relation} facts, {unit}",
    )
    name = f"{STEM}.{known.case.relation}-{method.replace(' ', '-')}.png"
    write_chart(chart, DOCS / name)
    return f"![{title}]({name})\n"


def share_rows(cases: Sequence[Findings]) -> list[dict[str, Any]]:
    rows = []
    for found in cases:
        for method, effect in found.effects.items():
            share, interval = heads_share(effect)
            rows.append({
                "facts": f"{found.case.relation}, {'known' if found.case.known else 'unknown'}", "number": found.facts,
                "method": method, "heads": share, "low": interval.low, "high": interval.high,
            })  # fmt: skip
    return rows


def windows_chart(known: Findings) -> str:
    lines = [line for line in known.sets("own")["kinds"] if line["place"] != "both"]
    every = {(line["kind"], line["place"]): line for line in lines if line["layers"] == f"0-{known.found.layers - 1}"}
    series = []
    for tone, (kind, place) in zip(("blue", "sky", "vermilion", "orange"), every, strict=True):
        marks = [
            Mark(_middle(line["layers"]), line["restored"], interval=tuple(line["restored_interval"]))
            for line in lines
            if (line["kind"], line["place"]) == (kind, place) and line is not every[kind, place]
        ]  # fmt: skip
        series.append(
            ChartSeries(f"{kind}, {place} the subject".replace("subject the", "at the"), marks, "joined", tone)
        )
    early = max(series, key=lambda one: one.marks[0].y)
    title = f"{early.name.split(',')[0]} of early layers at the subject, heads of late layers after it"
    chart = XYChart(
        title=title, x_label="middle of five neighbouring layers", y_label="share of the answer restored",
        series=series,
        note=f"patched together into a run on another country, {known.facts} {known.case.relation} facts",
    )  # fmt: skip
    name = f"{STEM}.{known.case.relation}-windows.png"
    write_chart(chart, DOCS / name)
    return f"![{title}]({name})\n"


def _middle(layers: str) -> float:
    return sum(map(int, layers.split("-"))) / 2


def theory_chart(lines: Sequence[LayerTheory], relation: str) -> str:
    facts = lines[0].facts
    shown = {
        "attention_held_out": ("attention, held-out facts", "blue", "joined"),
        "mlp_held_out": ("MLP, held-out facts", "vermilion", "joined"),
        "attention_does": ("attention, the model's unembedding", "blue", "dashed"),
        "mlp_does": ("MLP, the model's unembedding", "vermilion", "dashed"),
        "attention_shuffled": ("attention, shuffled answers", "sky", "dotted"),
        "mlp_shuffled": ("MLP, shuffled answers", "orange", "dotted"),
    }
    series = [
        ChartSeries(name, [Mark(line.layer, getattr(line, key) / facts) for line in lines], style, tone)
        for key, (name, tone, style) in shown.items()
    ]
    layer, says = most(lines, "attention_does")
    title = f"Only the attention of layer {layer} says capitals: {says} of {facts}"
    chart = XYChart(
        title=title, x_label="layer", y_label=f"share of {facts} {relation} facts", series=series,
        note="linear readout of one layer's output at the last token",
    )  # fmt: skip
    name = f"{STEM}.{relation}-readout.png"
    write_chart(chart, DOCS / name)
    return f"![{title}]({name})\n"


def calibration_chart(scores: Sequence[Score]) -> str:
    models = list(dict.fromkeys(score.model for score in scores))
    methods = list(dict.fromkeys(score.method for score in scores))
    by = {(score.model, score.method): score for score in scores}
    title = "No method finds the place of facts in every model"
    chart = HeatMap(
        title=title, x_label="method", y_label="", columns=methods, rows=models,
        values=[[by[model, method].precision for method in methods] for model in models],
        note="precision: share of named components that hold the fact by construction", high=1.0,
    )  # fmt: skip
    name = f"{STEM}.calibration.png"
    write_chart(chart, DOCS / name)
    return f"![{title}]({name})\n"


def calibration_table(scores: Sequence[Score]) -> str:
    rows = [
        [
            score.model, score.method, score.facts, score.precision, score.recall, score.carriers, score.lost,
            score.random_lost, score.heads, score.true_heads,
        ]
        for score in scores
    ]  # fmt: skip
    names = ["model", "method", "facts", "precision", "recall", "carriers", "lost", "random", "heads", "true heads"]
    return table(names, rows)


def calibration_summary(scores: Sequence[Score]) -> str:
    """One line per method: means over models, and in how many of them it names nothing else than the place."""
    rows = []
    for method in dict.fromkeys(score.method for score in scores):
        own = [score for score in scores if score.method == method]
        means = [float(np.mean([getattr(score, name) for score in own])) for name in MEANS]
        exact = sum(score.precision == 1 for score in own)
        rows.append([method, *means, f"{exact} of {len(own)}"])
    return table(["method", *MEANS, "models with precision 1"], rows)


def france(known: Findings) -> tuple[str, list[dict[str, Any]]]:
    """One fact taken apart."""
    found = known.found
    (number,) = (place for place, fact in enumerate(found.facts) if fact.key[-1] == "France")
    fact, direct = found.facts[number], found.direct[number]
    order = sorted(found.components, key=lambda part: -abs(direct[part.layer, _column(found, part)]))
    rows: list[dict[str, Any]] = []
    for part in order:
        at = (number, part.layer, _column(found, part))
        row = {"component": str(part), "direct": float(direct[at[1:]])}
        rows.append(row | {name: float(found.effect(name)[at]) for name in ("zero", "mean", "patch")})
    heads, mlps = float(direct[:, :-1].sum()), float(direct[:, -1].sum())
    error = float(found.rounding[number])
    text = (
        f"`{fact.prompt}` -> `{fact.first_token}`: logit {fact.answer_logit:.4f}, ahead of `{fact.runner_up}` "
        f"({fact.runner_up_logit:.4f}) by {fact.margin:.6f}. All heads add {heads:.4f}, all MLPs {mlps:.4f}, the "
        f"embedding {found.embedding[number]:.4f}. The sum of the {direct.size} contributions and the embedding misses "
        f"the difference of the logits by {abs(error):.1e} (float32 run, float64 sum). Over all {known.facts} facts "
        f"the largest such error is {np.abs(found.rounding).max():.1e}.\n\n"
    )
    text += table(
        ["component", "attribution", "zero-ablation", "mean-ablation", "patching"],
        [[row["component"], row["direct"], row["zero"], row["mean"], row["patch"]] for row in rows[:12]],
    )
    return text, rows


def _column(found: Any, part: Any) -> int:
    return found.heads if part.head is None else part.head


def control_rows(known: Findings, unknown: Findings) -> list[list[Any]]:
    """Known facts against controls: what they have in common is no sign of the facts."""
    mean = known.mean("mean-ablation")
    size = float(np.abs(mean).max())
    said = np.nanmean(unknown.found.controls["said"], 0)
    right = unknown.mean("mean-ablation")
    shuffled = np.nanmean(known.found.controls["shuffled"], 0)
    return [
        ["known facts, right answer", known.facts, size, 1.0],
        ["unknown facts, the model's wrong answer", unknown.facts, float(np.abs(said).max()), likeness(mean, said)],
        ["unknown facts, right answer", unknown.facts, float(np.abs(right).max()), likeness(mean, right)],
        ["known facts, shuffled answer", known.facts, float(np.abs(shuffled).max()), likeness(mean, shuffled)],
    ]


def set_rows(known: Findings) -> list[list[Any]]:
    rows = []
    for order in known.orders:
        found = known.sets(order)
        sets = [one for one in found["sets"] if one["components"]]
        lost = np.array([one["others_lost"] / max(1, one["others_asked"]) for one in sets])
        chance = np.array([float(one["random_lost"]) for one in sets])
        heads = np.array([np.mean([name.startswith("head") for name in one["components"]]) for one in sets])
        low, high = bootstrap(lost)
        rows.append([
            f"{known.case.relation}, {order} effect", f"{len(sets)} of {found['facts']}", float(found["median_size"]),
            float(heads.mean()), f"{lost.mean():.2f} ({low:.2f} to {high:.2f})", float(chance.mean()),
        ])  # fmt: skip
    return rows


def kind_rows(known: Findings) -> list[list[Any]]:
    last = f"0-{known.found.layers - 1}"
    return [
        [
            f"all {line['kind']}", line["place"], f"{line['lost']} of {line['facts']}",
            _with_interval(line, "margin_lost"), _with_interval(line, "restored"),
        ]
        for line in known.sets("own")["kinds"]
        if line["layers"] == last
    ]  # fmt: skip


def _with_interval(line: dict[str, Any], name: str) -> str:
    low, high = line[f"{name}_interval"]
    return f"{line[name]:.2f} ({low:.2f} to {high:.2f})"
