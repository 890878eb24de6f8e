"""Bits per parameter at full recall, without the parameters that change nothing.

    python benchmarks/free_parameters.py [-o FILE] [--heads 46] [--steps 60000] [--seed 0 --seed 1 --seed 2]

All pairs of N = 50 tokens, one uniform answer each, d = 10, k = 2. Adam as in protocol `best` (focus 0), then L-BFGS
in rounds of 500 iterations until no pair is missed, at most 4,000. The model is then rewritten without its redundant
parameters (`rote.models.redundancy`), rounded to float32 and asked again. Settings were chosen on seed 100. A seed that
ended is kept in FILE (free_parameters.jsonl), so that the same command resumes. Seconds are CPU time of one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import rote
from rote.models.attention_only import AttentionOnly
from rote.models.redundancy import free_parameters, without_redundancy
from rote.training.initial import flattened, unflattened
from rote.training.native_engine import NativeObjective
from rote.training.polish import polished
from rote.training.problem import TrainingProblem
from rote.training.protocol import best
from rote.training.train import train

ROUND, MOST = 500, 4000


def trained(heads: int, steps: int, seed: int) -> dict[str, Any]:
    spec = AttentionOnly(vocab=50, context=2, dim=10, head_dim=2, heads=heads, scale_scores=True)
    task = rote.facts(f"random:vocab=50,context=2,facts=2500,seed={seed}")
    problem = TrainingProblem.of(task)
    objective = NativeObjective(spec, problem, problem.prior)

    def missed(flat: np.ndarray) -> int:
        return int((objective.predictions(flat[None])[0] != problem.answers).sum())

    began = time.process_time()
    protocol = best(spec, len(problem), steps=steps, focus=0.0, polish=0)
    model = train(task, spec, protocol=protocol, seeds=[seed], engine="native")[0].model
    flat = flattened(spec, model.weights)
    trail = [missed(flat)]
    while trail[-1] and ROUND * len(trail) <= MOST:
        flat = polished(objective, flat, ROUND)[0]
        trail.append(missed(flat))
    seconds = time.process_time() - began
    reduced = without_redundancy(rote.Model(spec, unflattened(spec, flat), task.vocabulary))
    return {
        "heads": heads, "steps": steps, "seed": seed, "missed": trail,
        "missed_without_redundancy": missed(flattened(spec, reduced.weights)),
        "parameters": spec.parameters(), "free": free_parameters(spec), "bits": task.entropy_bits, "seconds": seconds,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=Path("free_parameters.jsonl"))
    parser.add_argument("--heads", type=int, default=46)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--seed", type=int, action="append")
    given = parser.parse_args()
    torch.set_num_threads(1)
    kept = [json.loads(line) for line in given.o.read_text().splitlines()] if given.o.exists() else []
    for seed in given.seed or (0, 1, 2):
        asked = {"heads": given.heads, "steps": given.steps, "seed": seed}
        if not any(asked.items() <= row.items() for row in kept):
            kept.append(trained(**asked))
            with given.o.open("a") as file:
                file.write(json.dumps(kept[-1]) + "\n")
    print(
        "| H | steps | seed | missed, every 500 of L-BFGS | missed without redundancy | bits / parameter | / free | s |"
    )
    print("|---|---|---|---|---:|---:|---:|---:|")
    for row in kept:
        print(
            f"| {row['heads']} | {row['steps']:,} | {row['seed']} | {', '.join(map(str, row['missed']))} "
            f"| {row['missed_without_redundancy']} | {row['bits'] / row['parameters']:.3f} "
            f"| {row['bits'] / row['free']:.3f} | {row['seconds']:.0f} |"
        )


if __name__ == "__main__":
    main()
