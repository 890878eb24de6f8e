"""Mahdavi et al. 2024, Theorem 1, measured: error, rank and condition number by route, contexts and dtype.

    python benchmarks/query_attention.py [--seeds 10]

Shared context: d = 64, n = 32, H = 20, T = H(n - 1) + 1 = 621. Fresh contexts: d = 64, n = 32, H = 10, T = Hd = 640 for
random attention and T = H(n - 1) + 1 = 311 for the proof's heads. Real targets are standard normal numbers.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import torch

from rote.constructions.construction import Request
from rote.constructions.mahdavi2024.options import TheoremOptions
from rote.constructions.mahdavi2024.theorem1 import build
from rote.measure.measures import error
from rote.tasks import VectorTask

CASES = [
    ("shared", "random", 20, 621),
    ("shared", "proof", 20, 621),
    ("fresh", "random", 10, 640),
    ("fresh", "proof", 10, 311),
]


def examples(count: int, shared: bool, seed: int) -> VectorTask:
    draw = np.random.default_rng(seed)
    contexts = draw.normal(size=(1 if shared else count, 32, 64))
    return VectorTask(contexts, draw.normal(size=(count, 64)), targets=draw.normal(size=(count, 1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    print("| contexts | route | T | dtype | rank | condition (median) | largest error | seeds below 1e-6 | s each |")
    print("|---|---|---|---|---|---|---|---|---|")
    for contexts, route, heads, count in CASES:
        for dtype in ("float64", "float32"):
            start, ranks, conditions, errors = time.perf_counter(), set(), [], []
            for seed in seeds:
                task = examples(count, contexts == "shared", seed)
                options = TheoremOptions.model_validate({"route": route})
                draft = build(Request(task, options, heads=heads, dtype=dtype, seed=seed))
                ranks.add(draft.measured["rank"])
                conditions.append(draft.measured["condition"])
                errors.append(error(draft.model, task).largest)
            below, took = sum(off < 1e-6 for off in errors), (time.perf_counter() - start) / len(seeds)
            print(
                f"| {contexts} | {route} | {count} | {dtype} | {', '.join(map(str, sorted(ranks)))} "
                f"| {statistics.median(conditions):.1e} | {max(errors):.1e} | {below}/{len(seeds)} | {took:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
