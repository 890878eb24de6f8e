"""Fact bits per weight bit at each precision, built and trained: the table and the figure of docs/precision.md.

    python benchmarks/precision.py -o FOLDER            about 2 CPU minutes; resumes from FOLDER/precision.jsonl

Built: countries, `rote build --dtype`, three seeds. Trained: all pairs of 47 tokens, heads of two dimensions; sizes
were chosen on seeds from 100 on and are reported on others.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import rote
from rote.charts import Bar, BarChart
from rote.charts.drawing import write_chart
from rote.models.grid import GRID_NAMES

BUILT_SEEDS = (0, 1, 2)
TRAINED: tuple[tuple[str, int, int, tuple[int, ...]], ...] = (
    ("int8", 36, 8_000, (3, 4, 5)),
    ("levels12", 51, 24_000, (3, 4, 5)),
)
"""Precision, heads, steps and seeds of the trained models. Seeds 0 to 2 had a say in the rounds of the finish."""
VOCAB, DIM = 47, 13
PUBLISHED = (
    ("Allen-Zhu and Li 2024, int8: 2 of 8 bits", 2 / 8),
    ("Morris et al. 2025, bfloat16: 3.6 of 16 bits", 3.6 / 16),
)
"""Bits per parameter that were measured elsewhere on other facts, as shares of the bits that a parameter takes."""


def built(dtype: Any, seed: int) -> dict[str, Any]:
    model = rote.build("countries", dtype=dtype, seed=seed)
    summary = model.summary()
    return {name: summary[name] for name in ("facts", "recalled", "parameters", "bytes", "bits_per_parameter",
                                             "bits_per_weight_bit", "min_margin")}  # fmt: skip


def trained(dtype: Any, heads: int, steps: int, seed: int) -> dict[str, Any]:
    task = rote.facts(f"random:vocab={VOCAB},context=2,facts={VOCAB**2},seed={seed}")
    spec = rote.AttentionOnly(vocab=VOCAB, context=2, dim=DIM, head_dim=2, heads=heads)
    model = rote.train(task, spec, [seed], dtype=dtype, steps=steps, workers=1)[0].model
    seen = rote.recall(model, task)
    bits = seen.bits or 0.0
    return {"facts": seen.facts, "recalled": seen.recalled, "parameters": seen.parameters, "bytes": model.bytes,
            "bits_per_parameter": bits / seen.parameters, "bits_per_weight_bit": bits / (8 * model.bytes),
            "min_margin": seen.min_margin}  # fmt: skip


def runs() -> Iterator[tuple[dict[str, Any], Any]]:
    """What is to be run, by what names it, and how."""
    for dtype in GRID_NAMES:
        for seed in BUILT_SEEDS:
            yield {"kind": "built", "dtype": dtype, "seed": seed}, lambda d=dtype, s=seed: built(d, s)
    for dtype, heads, steps, seeds in TRAINED:
        for seed in seeds:
            named = {"kind": "trained", "dtype": dtype, "heads": heads, "steps": steps, "seed": seed}
            yield named, lambda d=dtype, h=heads, n=steps, s=seed: trained(d, h, n, s)


def measured(folder: Path) -> list[dict[str, Any]]:
    """Every run, those of an earlier call from the file they are kept in."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "precision.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    wanted = []
    for named, run in runs():
        row = next((row for row in rows if all(row.get(name) == value for name, value in named.items())), None)
        if row is None:
            before = time.process_time()
            row = {**named, **run(), "cpu_seconds": round(time.process_time() - before, 1)}
            with file.open("a") as opened:
                opened.write(json.dumps(row) + "\n")
            print(row, flush=True)
        wanted.append(row)
    return wanted


def of(rows: list[dict[str, Any]], kind: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for dtype in GRID_NAMES:
        if some := [row for row in rows if (row["kind"], row["dtype"]) == (kind, dtype)]:
            yield dtype, some


def page(rows: list[dict[str, Any]]) -> str:
    lines = ["| | precision | all recalled | parameters | bytes | bits per parameter | fact bits per weight bit |",
             "|---|---|---|---:|---:|---:|---|"]  # fmt: skip
    for kind in ("trained", "built"):
        for dtype, some in of(rows, kind):
            full = sum(row["recalled"] == row["facts"] for row in some)
            share = [row["bits_per_weight_bit"] for row in some]
            lines.append(
                f"| {kind} | {dtype} | {full} of {len(some)} seeds | {some[0]['parameters']:,} | "
                f"{fmean(row['bytes'] for row in some):,.0f} | "
                f"{fmean(row['bits_per_parameter'] for row in some):.3f} | "
                f"{fmean(share):.3f} ({min(share):.3f} to {max(share):.3f}) |"
            )
    return "\n".join(lines) + "\n"


def figure(rows: list[dict[str, Any]]) -> BarChart:
    bars, missed = [], sum(row["facts"] - row["recalled"] for row in rows)
    for kind, tone in (("trained", "blue"), ("built", "vermilion")):
        for dtype, some in of(rows, kind):
            share = fmean(row["bits_per_weight_bit"] for row in some)
            bars.append(Bar(f"{kind}, {dtype}", share, tone=tone, shown=f"{share:.3f}"))
    bars += [Bar(name, share, tone="grey", shown=f"{share:.3f}") for name, share in PUBLISHED]
    return BarChart(
        "Twelve levels per weight hold 1.6 times as much per bit as int8",
        "fact bits per bit of the weights, scales included",
        bars,
        legend={"blue": "trained, all pairs of 47 tokens", "vermilion": "built, countries", "grey": "published"},
        note=f"means of three seeds; {missed} of {sum(row['facts'] for row in rows):,} facts are missed",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    folder = parser.parse_args().output
    rows = measured(folder)
    (folder / "precision.md").write_text(page(rows))
    write_chart(figure(rows), folder / "precision.png")
    print(page(rows))


if __name__ == "__main__":
    main()
