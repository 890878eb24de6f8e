"""Capacity of linear associative memories, measured: the most facts that are all recalled, by method and dim.

    python benchmarks/associative_memory.py [--dims 16 32 64] [--seeds 3] [--answers 10]

Each line bisects over the number of facts T, building and checking a float32 model at every step. Facts are one-token
keys with an answer each (a random one-to-one map over a vocabulary of T tokens), or with one of `--answers` answers.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time

import numpy as np
import torch

import rote
from rote.errors import CheckFailed
from rote.tasks import AssociationTask, Vocabulary

METHODS = ("bietti2023", "cabannes2024.least_squares", "nichani2024.trained")


def facts(count: int, answers: int | None, seed: int) -> AssociationTask:
    draw = np.random.default_rng(seed)
    given = draw.permutation(count) if answers is None else draw.integers(0, min(answers, count), count)
    return AssociationTask(np.arange(count)[:, None], given, Vocabulary.numbered(count))


def holds(method: str, dim: int, count: int, answers: int | None, seed: int) -> bool:
    try:
        return rote.build(facts(count, answers, seed), method, dim=dim, seed=seed).certificate.complete
    except CheckFailed:
        return False


def capacity(method: str, dim: int, answers: int | None, seed: int) -> int:
    """Largest T that is held where T + 1 (about 2 % more, once T is large) is not."""
    low, high = 2, 4
    while holds(method, dim, high, answers, seed):
        low, high = high, 2 * high
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (middle, high) if holds(method, dim, middle, answers, seed) else (low, middle)
    return low


def predicted(dim: int) -> int:
    """Largest T with T <= d^2/(2 ln T)."""
    return max(T for T in range(2, dim**2) if 2 * T * math.log(T) <= dim**2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", type=int, nargs="+", default=[16, 32, 64, 128])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--answers", type=int, default=None)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("| dim | method | facts held (median of seeds) | / d | / predicted d^2/(2 ln T) | seconds |")
    print("|---|---|---|---|---|---|")
    for dim in arguments.dims:
        for method in METHODS:
            start = time.perf_counter()
            found = [capacity(method, dim, arguments.answers, seed) for seed in range(arguments.seeds)]
            took, middle = time.perf_counter() - start, statistics.median(found)
            expected = predicted(dim)
            print(
                f"| {dim} | {method} | {middle:g} ({min(found)}-{max(found)}) | {middle / dim:.2f} "
                f"| {middle / expected:.2f} of {expected} | {took:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
