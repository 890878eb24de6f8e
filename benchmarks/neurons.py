"""A neuron per fact: MLP memories (`madden2025`) and the same as attention heads (`huben2023`), without slack.

    python benchmarks/neurons.py [--seeds 3]

Random contexts with random answers, exactly as many facts as neurons, float32. A build that misses a fact is an error;
the table counts those that were met.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import torch

import rote
from rote.errors import CheckFailed
from rote.tasks import AssociationTask, Vocabulary

CASES = [
    ("madden2025", {"activation": "gelu"}, 50, 2, 10, 200),
    ("madden2025", {"activation": "gelu"}, 26, 3, 20, 1000),
    ("madden2025", {"activation": "relu"}, 26, 3, 20, 1000),
    ("madden2025", {"activation": "gelu"}, 100, 2, 32, 2000),
    ("huben2023", {}, 50, 2, 22, 200),
    ("huben2023", {}, 26, 3, 42, 1000),
]


def facts(count: int, vocab: int, context: int, seed: int) -> AssociationTask:
    draw = np.random.default_rng(seed)
    keys = draw.choice(vocab**context, count, replace=False)
    contexts = np.stack([keys // vocab**place % vocab for place in range(context)], 1)
    return AssociationTask(contexts, draw.integers(0, vocab, count), Vocabulary.numbered(vocab))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    columns = ["method", "vocab, context, dim", "facts = neurons", "parameters", "seeds met", "condition (median)"]
    print("| " + " | ".join([*columns, "smallest margin", "s each"]) + " |")
    print("|---|---|---|---|---|---|---|---|")
    for method, options, vocab, context, dim, count in CASES:
        start, built = time.perf_counter(), []
        for seed in seeds:
            try:
                built.append(rote.build(facts(count, vocab, context, seed), method, dim=dim, seed=seed, **options))
            except CheckFailed as failed:
                print(failed)
        took = (time.perf_counter() - start) / len(seeds)
        certificates = [item.certificate for item in built]
        print(
            f"| {' '.join([method, *options.values()])} | {vocab}, {context}, {dim} | {count} "
            f"| {built[0].model.parameters if built else '-'} | {len(built)}/{len(seeds)} "
            f"| {statistics.median(item.measured['condition'] for item in certificates):.1e} "
            f"| {min(item.min_margin for item in certificates):.2f} | {took:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
