"""What training and building lose when another process keeps one of the cores busy.

    python benchmarks/busy_core.py [--rounds 5]

Seconds on the clock of both, with all cores idle and with one process that computes for ever, in turns; medians, and
their ratio. Training: 32 models of experiment 1 (d = k = 10, H = 21, protocol `fast`), one thread per core. Building:
`dana2025.theorem1` on 10,000 facts, its groups shared out to one thread per core. On two cores that are shared fairly,
work for both takes at least 4/3 of the time, and twice the time if it is divided in two equal parts beforehand. Other
work on the machine spoils the figures: the share of the cores' time that it took is printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager

import rote
from rote.models.attention_only import AttentionOnly
from rote.training.protocol import fast
from rote.training.trials import TrainingTrial, run_trials

MODELS = 32


@contextmanager
def busy_core():
    """A process that computes until the block ends."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def training() -> None:
    spec = AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=21, scale_scores=True)
    task = rote.facts("random:vocab=50,context=2,facts=2500,seed=0")
    trials = [TrainingTrial(task, spec, fast(spec, 2500), seed) for seed in range(MODELS)]
    for _ in run_trials(trials, workers=os.cpu_count()):
        pass


def building() -> None:
    rote.build("random:vocab=200,context=2,facts=10000,seed=0", "dana2025.theorem1", dim=32, head_dim=16)


def clock(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds of the work, and the share of the cores' time that neither it nor idleness took."""
    began, used, (total, idle) = time.perf_counter(), time.process_time(), _ticks()
    work()
    seconds, used = time.perf_counter() - began, time.process_time() - used
    total, idle = (now - then for now, then in zip(_ticks(), (total, idle), strict=True))
    return seconds, 1 - idle / total - used / (seconds * (os.cpu_count() or 1))


def _ticks() -> tuple[int, int]:
    """Of all cores: all, and those spent idle."""
    with open("/proc/stat") as file:
        ticks = [int(number) for number in file.readline().split()[1:9]]
    return sum(ticks), ticks[3] + ticks[4]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print("| work | idle, s | one core busy, s | ratio | taken by others, idle | one core busy |")
    print("|---|---:|---:|---:|---:|---:|")
    for work in (training, building):
        work()
        alone, beside = [], []
        for _ in range(rounds):
            alone.append(clock(work))
            with busy_core():
                beside.append(clock(work))
        medians = [[statistics.median(part) for part in zip(*each, strict=True)] for each in (alone, beside)]
        (idle, quiet), (busy, other) = medians
        print(f"| {work.__name__} | {idle:.2f} | {busy:.2f} | {busy / idle:.2f} | {quiet:.0%} | {other:.0%} |")


if __name__ == "__main__":
    main()
