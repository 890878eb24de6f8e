"""Experiment 1 of Dana et al. 2025 (77 cells, five seeds) by `fast`, against released values and a plain baseline.

    python benchmarks/experiment1.py [--first-seed 0] [--repeats 5] [--rounds 3] [--json]

Prints the smallest and mean difference to the released accuracies, the wall clock of the grid, its processor time, and
the processor time of the plain baseline of `training_step.py`, which is what one step of it took on every cell
(least of `--rounds` rounds, one thread) times the steps of the released schedule and the repeats.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch

from rote.experiments.lookups.schedule import cell_protocol
from rote.papers import figures_named
from rote.progress import Bars
from rote.tasks.generators import random_associations
from rote.training.trials import TrainingTrial, run_trials
from training_step import baseline, least_times


def grid(first_seed: int, repeats: int) -> dict[str, float]:
    """Train every cell and compare the mean of its seeds with the released accuracy, in the released weighting."""
    cells = figures_named("dana2025.fig1a")[0].experiment.cells
    seeds = range(first_seed, first_seed + repeats)
    tasks = {seed: random_associations(50, 2, seed=seed) for seed in seeds}
    trials = [
        TrainingTrial(tasks[seed], cell.spec, cell_protocol(cell, "fast"), seed, key=cell)
        for cell in cells
        for seed in seeds
    ]
    accuracies: dict[tuple[str, float], list[float]] = {(cell.series, cell.x): [] for cell in cells}
    start, processor = time.perf_counter(), time.process_time()
    for trial, trained in run_trials(trials, progress=Bars()):
        accuracies[trial.key.series, trial.key.x].append(trained.published_accuracy)
    wall, processor = time.perf_counter() - start, time.process_time() - processor
    above = [float(np.mean(accuracies[cell.series, cell.x])) - cell.published for cell in cells]
    return {
        "cells": len(cells),
        "models": len(trials),
        "smallest difference": min(above),
        "mean difference": float(np.mean(above)),
        "cells below by more than .005": sum(difference < -0.005 for difference in above),
        "wall s": wall,
        "processor s": processor,
    }


def plain(repeats: int, rounds: int) -> float:
    """Processor seconds of the plain baseline on the whole grid, extrapolated from a few steps of every cell."""
    torch.set_num_threads(1)
    task, total = random_associations(50, 2, seed=0), 0.0
    for cell in figures_named("dana2025.fig1a")[0].experiment.cells:
        step = least_times({"plain": (baseline(task, cell.spec.dim, cell.spec.heads), 1)}, rounds)["plain"]
        total += step / 1000 * cell_protocol(cell, "paper").steps * repeats
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    row = grid(given.first_seed, given.repeats)
    row["plain processor s"] = plain(given.repeats, given.rounds)
    row["plain / fast"] = row["plain processor s"] / row["processor s"]
    if given.json:
        print(json.dumps(row))
        return
    for name, value in row.items():
        print(f"{name:32} {value:.4g}" if isinstance(value, float) else f"{name:32} {value}")


if __name__ == "__main__":
    main()
