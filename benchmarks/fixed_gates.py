"""`rote.fixed_gates` on all pairs of N = 50 tokens, one uniform answer each.

    python benchmarks/fixed_gates.py [--seed 1 ...] [--heads H]

Rate, bits per parameter and score deviation were chosen on seeds 11 to 13; seeds 1 to 5 are the default. Recall is that
of the certificate, in float32. Seconds are CPU time of one thread.
"""

from __future__ import annotations

import argparse
import time

import torch

import rote
from rote.tasks.generators import random_associations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--heads", type=int)
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("| seed | H | parameters | recalled | bits / parameter | draws | evaluations | margin | s |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for seed in given.seed or range(1, 6):
        task = random_associations(50, 2, 2500, seed=seed)
        began = time.process_time()
        built = rote.build(task, "rote.fixed_gates", heads=given.heads, seed=seed)
        seconds = time.process_time() - began
        certificate, measured = built.certificate, built.certificate.measured
        print(
            f"| {seed} | {built.model.spec.model_dump()['heads']} | {built.model.parameters:,} "
            f"| {certificate.recalled:,} of {certificate.facts:,} "
            f"| {task.entropy_bits / built.model.parameters:.3f} | {measured['draws']} | {measured['evaluations']:,} "
            f"| {certificate.min_margin:.2g} | {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
