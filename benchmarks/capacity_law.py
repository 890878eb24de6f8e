"""How many stored parameters a trained attention-only model takes for a full table, as a law with an interval.

    python benchmarks/capacity_law.py [-o FOLDER] [law] [teachers]

`law`: all pairs of N tokens, one uniform answer each, k = 2, d = sqrt(2N) rounded. The fewest heads at which a seed
recalls every pair are found by bisection over loads of 2.6 to 3.7 bits per stored parameter (redundant parameters
dropped, see free_parameters.py). Every model has 20,000 steps of Adam and at most 2,000 iterations of L-BFGS. Stored
parameters are fitted against the table's bits by `rote.measure.laws`.

`teachers`: is it the shape or the search that ends below 3.6 bits? A teacher is trained on a random table that is too
large for it. Its own answers, wrong ones included, are a table that this shape holds for certain. A student of the same
shape and another seed is trained on it, and one of that seed on a random table.

Nothing was chosen on these seeds. What ended is kept in FOLDER/results.jsonl (runs/capacity_law), so that the same
command resumes. Seconds are CPU time of one thread.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

import rote
from free_parameters import trained
from rote.measure.laws import Points, compare_laws
from rote.models.attention_only import AttentionOnly
from rote.models.reduced_attention import ReducedAttention
from rote.tasks import AssociationTask

SIZES, SEEDS = (20, 24, 30, 36, 42, 50), (0, 1)
LOADS = (2.6, 3.7)
STEPS, MOST = 20_000, 2_000
TEACHER_HEADS = (44,)

Keep = Callable[..., dict[str, Any]]


def shape(vocab: int, heads: int) -> AttentionOnly:
    dim = round((2 * vocab) ** 0.5)
    return AttentionOnly(vocab=vocab, context=2, dim=dim, head_dim=2, heads=heads, scale_scores=True)


def stored(vocab: int, heads: int) -> int:
    return ReducedAttention.of(shape(vocab, heads)).parameters()


def random_table(vocab: int, seed: int) -> AssociationTask:
    return cast(AssociationTask, rote.facts(f"random:vocab={vocab},context=2,facts={vocab**2},seed={seed}"))


def missed(task: AssociationTask, heads: int, seed: int) -> dict[str, Any]:
    ended = trained(task, shape(task.vocab, heads), STEPS, seed, MOST)
    left = task.facts - rote.recall(ended.model, task).recalled
    return {"left": left, "trail": ended.missed, "bits": task.entropy_bits, "seconds": ended.seconds}


def fewest_heads(vocab: int, seed: int, keep: Keep) -> int:
    """By bisection between two loads."""
    bits = random_table(vocab, seed).entropy_bits
    low, high = (next(h for h in range(1, 1000) if stored(vocab, h) * load >= bits) for load in reversed(LOADS))
    enough = high
    while high - low > 1:
        heads = (low + high) // 2
        row = keep("law", vocab=vocab, seed=seed, heads=heads)
        low, high = (low, heads) if not row["left"] else (heads, high)
    if high == enough and keep("law", vocab=vocab, seed=seed, heads=high)["left"]:
        raise SystemExit(f"N = {vocab}, seed {seed}: {high} heads do not recall every pair; lower the first of LOADS")
    return high


def law(keep: Keep) -> None:
    fewest = {(vocab, seed): fewest_heads(vocab, seed, keep) for vocab in SIZES for seed in SEEDS}
    print("| N | d | bits | fewest heads by seed | stored parameters | bits / stored |")
    print("|---|---|---:|---|---|---|")
    sizes: dict[float, list[float]] = {}
    for vocab in SIZES:
        heads = [fewest[vocab, seed] for seed in SEEDS]
        bits = float(np.mean([random_table(vocab, seed).entropy_bits for seed in SEEDS]))
        sizes[bits] = [float(stored(vocab, count)) for count in heads]
        densities = ", ".join(f"{bits / size:.2f}" for size in sizes[bits])
        print(
            f"| {vocab} | {shape(vocab, 1).dim} | {bits:,.0f} | {', '.join(map(str, heads))} "
            f"| {', '.join(f'{size:,.0f}' for size in sizes[bits])} | {densities} |"
        )
    for fit in compare_laws(Points.of(sizes), ("linear", "power")):
        print(f"\n{fit.law}: stored = {fit.formula} with x the bits, AICc {fit.aicc:.1f}, residual {fit.residual:.1f}")
        for name, value in fit.values.items():
            ends = fit.hull(name)
            print(f"  {name} = {value:.4g} ({ends[0]:.4g} to {ends[1]:.4g})")
        if fit.law == "linear":
            low, high = fit.hull("b")
            print(f"  bits per further stored parameter: {1 / fit.values['b']:.2f} ({1 / high:.2f} to {1 / low:.2f})")


def taught(heads: int, seed: int) -> dict[str, Any]:
    """Pairs missed by the teacher, and by students of another seed on its answers and on a random table."""
    table = random_table(50, seed)
    teacher = trained(table, shape(50, heads), STEPS, seed, MOST)
    logits = teacher.model.logits(torch.from_numpy(table.contexts).long())
    answers = AssociationTask(table.contexts, logits.argmax(1).numpy(), table.vocabulary)
    student, other = missed(answers, heads, seed + 50), missed(table, heads, seed + 50)
    return {
        "teacher": table.facts - rote.recall(teacher.model, table).recalled,
        "bits": answers.entropy_bits,
        "student": student["left"],
        "random": other["left"],
        "seconds": teacher.seconds + student["seconds"] + other["seconds"],
    }


def teachers(keep: Keep) -> None:
    print("\n| H | bits of the teacher's table / stored | teacher misses | student misses | random table, same seed |")
    print("|---|---|---|---|---|")
    for heads in TEACHER_HEADS:
        rows = [keep("teachers", heads=heads, seed=seed) for seed in SEEDS]
        for row in rows:
            load = row["bits"] / stored(50, heads)
            print(f"| {heads} | {load:.2f} | {row['teacher']} | {row['student']} | {row['random']} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=Path("runs/capacity_law"))
    parser.add_argument("sections", nargs="*", choices=["law", "teachers", []])
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.o.mkdir(parents=True, exist_ok=True)
    results = given.o / "results.jsonl"
    kept = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []

    def keep(section: str, **asked: int) -> dict[str, Any]:
        found = next((row for row in kept if {"section": section, **asked}.items() <= row.items()), None)
        if found is None:
            if section == "law":
                measured = missed(random_table(asked["vocab"], asked["seed"]), asked["heads"], asked["seed"])
            else:
                measured = taught(**asked)
            found = {"section": section, **asked, **measured}
            kept.append(found)
            with results.open("a") as file:
                file.write(json.dumps(found) + "\n")
        return found

    for section in given.sections or ("law", "teachers"):
        {"law": law, "teachers": teachers}[section](keep)
    print(f"\n{sum(row['seconds'] for row in kept):.0f} CPU s")


if __name__ == "__main__":
    main()
