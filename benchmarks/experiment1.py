"""Experiment 1 of Dana et al. 2025 (77 cells, five seeds) against released values and a plain baseline, interleaved.

    python benchmarks/experiment1.py [--first-seed 0] [--repeats 5] [--rounds 3] [--json]

Each cell is trained by protocols `shortest` and `fast`, and some steps of the plain baseline of `training_step.py` are
timed in between; everything on one thread. Prints for each protocol the smallest and mean difference to the released
accuracies, its CPU time, and that of the plain baseline: one step of it on every cell (least of `--rounds` rounds)
times the steps of the released schedule and the repeats.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from rote.experiments.lookups.schedule import cell_protocol
from rote.papers import figures_named
from rote.papers.kinds.lookups import Cell
from rote.tasks import AssociationTask
from rote.tasks.generators import random_associations
from rote.training.protocol import Protocol, shortest
from rote.training.trials import TrainingTrial, run_trials
from training_step import baseline, least_times

PROTOCOLS: dict[str, Callable[[Cell], Protocol]] = {
    "shortest": lambda cell: shortest(cell.spec, cell.spec.vocab**2, cell.training.samples),
    "fast": lambda cell: cell_protocol(cell, "fast"),
}


def trained(cell: Cell, protocol: Protocol, tasks: dict[int, AssociationTask]) -> tuple[float, float]:
    """Mean accuracy of a cell's seeds in the released weighting, and CPU seconds."""
    trials = [TrainingTrial(task, cell.spec, protocol, seed, key=cell) for seed, task in tasks.items()]
    began = time.process_time()
    accuracies = [result.published_accuracy or 0.0 for _, result in run_trials(trials, workers=1)]
    return float(np.mean(accuracies)), time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    cells = figures_named("dana2025.fig1a")[0].experiment.cells
    seeds = range(given.first_seed, given.first_seed + given.repeats)
    tasks = {seed: random_associations(50, 2, seed=seed) for seed in seeds}
    plain, above, seconds = 0.0, {name: [] for name in PROTOCOLS}, dict.fromkeys(PROTOCOLS, 0.0)
    for number, cell in enumerate(cells, 1):
        step = least_times({"plain": (baseline(tasks[seeds[0]], cell.spec.dim, cell.spec.heads), 1)}, given.rounds)[
            "plain"
        ]
        plain += step / 1000 * cell_protocol(cell, "paper").steps * given.repeats
        for name, protocol in PROTOCOLS.items():
            accuracy, cpu = trained(cell, protocol(cell), tasks)
            above[name].append(accuracy - (cell.published or 0.0))
            seconds[name] += cpu
        print(f"{number} of {len(cells)} cells", end="\r", file=sys.stderr)
    rows = {
        name: {
            "cells": len(cells),
            "models": len(cells) * given.repeats,
            "smallest difference": min(above[name]),
            "mean difference": float(np.mean(above[name])),
            "cells below by more than 0.002": sum(difference < -0.002 for difference in above[name]),
            "CPU s": seconds[name],
            "plain CPU s": plain,
            "plain / this": plain / seconds[name],
        }
        for name in PROTOCOLS
    }
    if given.json:
        print(json.dumps(rows))
        return
    for name, row in rows.items():
        print(f"protocol {name}")
        for label, value in row.items():
            print(f"  {label:32} {value:.4g}" if isinstance(value, float) else f"  {label:32} {value}")


if __name__ == "__main__":
    main()
