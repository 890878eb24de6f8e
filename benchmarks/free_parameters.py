"""Bits per stored parameter at full recall, with redundant parameters dropped.

    python benchmarks/free_parameters.py [-o FOLDER] [--heads 46] [--steps 60000] [--seed 3 --seed 4 --seed 5]

All pairs of N = 50 tokens, one uniform answer each, d = 10, k = 2. Adam as in protocol `best` (focus 0), then L-BFGS
in rounds of 500 iterations until no pair is missed, at most 4,000. The model is then rewritten as a `ReducedAttention`
model, which has no redundant parameters, saved in float32, loaded from its folder and asked every pair. Parameters and
recall are those of the loaded model. Heads and steps were chosen on seed 100. A seed that ended is kept in
FOLDER/results.jsonl (runs/free_parameters), so that the same command resumes. Seconds are CPU time of one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import rote
from rote.models.attention_only import AttentionOnly
from rote.models.redundancy import without_redundancy
from rote.tasks import AssociationTask
from rote.training.initial import flattened, unflattened
from rote.training.native_engine import NativeObjective
from rote.training.polish import polished
from rote.training.problem import TrainingProblem
from rote.training.protocol import best
from rote.training.train import train

ROUND, MOST = 500, 4000


@dataclass(frozen=True)
class Trained:
    """A model without redundant parameters, with the pairs that were missed after every round and the CPU seconds."""

    model: rote.Model
    missed: list[int]
    seconds: float


def trained(task: AssociationTask, spec: AttentionOnly, steps: int, seed: int, most: int = MOST) -> Trained:
    """Adam, then L-BFGS until no pair is missed, at most `most` iterations."""
    problem = TrainingProblem.of(task)
    objective = NativeObjective(spec, problem, problem.prior)

    def missed(flat: np.ndarray) -> int:
        return int((objective.predictions(flat[None])[0] != problem.answers).sum())

    began = time.process_time()
    protocol = best(spec, len(problem), steps=steps, focus=0.0, polish=0)
    model = train(task, spec, protocol=protocol, seeds=[seed], engine="native")[0].model
    flat = flattened(spec, model.weights)
    trail = [missed(flat)]
    while trail[-1] and ROUND * len(trail) <= most:
        flat = polished(objective, flat, ROUND)[0]
        trail.append(missed(flat))
    seconds = time.process_time() - began
    full = rote.Model(spec, unflattened(spec, flat), task.vocabulary)
    return Trained(without_redundancy(full), trail, seconds)


def saved(folder: Path, heads: int, steps: int, seed: int) -> dict[str, Any]:
    """What a model that was trained, saved and loaded holds."""
    spec = AttentionOnly(vocab=50, context=2, dim=10, head_dim=2, heads=heads, scale_scores=True)
    task = rote.facts(f"random:vocab=50,context=2,facts=2500,seed={seed}")
    ended = trained(task, spec, steps, seed)
    path = folder / f"heads{heads}-steps{steps}-seed{seed}"
    rote.write_folder(
        path, ended.model, task.origin, {"method": "trained, reduced", "seed": seed}, None, overwrite=True
    )
    model = rote.load(path).model
    recall = rote.recall(model, task)
    return {
        "heads": heads, "steps": steps, "seed": seed, "missed": ended.missed, "dtype": model.dtype_name,
        "facts": recall.facts, "recalled": recall.recalled, "parameters": spec.parameters(),
        "stored": model.parameters, "weight_bytes": (path / "model.safetensors").stat().st_size,
        "bits": task.entropy_bits, "seconds": ended.seconds,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=Path("runs/free_parameters"))
    parser.add_argument("--heads", type=int, default=46)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--seed", type=int, action="append")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.o.mkdir(parents=True, exist_ok=True)
    results = given.o / "results.jsonl"
    kept = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    for seed in given.seed or (3, 4, 5):
        asked = {"heads": given.heads, "steps": given.steps, "seed": seed}
        if not any(asked.items() <= row.items() for row in kept):
            kept.append(saved(given.o, **asked))
            with results.open("a") as file:
                file.write(json.dumps(kept[-1]) + "\n")
    print(
        "| H | steps | seed | missed, every 500 of L-BFGS | recalled from the folder "
        "| parameters | stored | bits / stored | s |"
    )
    print("|---|---|---|---|---:|---:|---:|---:|---:|")
    for row in kept:
        print(
            f"| {row['heads']} | {row['steps']:,} | {row['seed']} | {', '.join(map(str, row['missed']))} "
            f"| {row['recalled']:,} of {row['facts']:,} | {row['parameters']:,} | {row['stored']:,} "
            f"| {row['bits'] / row['stored']:.3f} | {row['seconds']:.0f} |"
        )


if __name__ == "__main__":
    main()
