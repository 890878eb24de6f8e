"""Protocols on vector tasks, side by side: `fast` and `best` against `paper`, the released schedule run to its end.

    OMP_NUM_THREADS=1 python benchmarks/query_attention_protocols.py RUN [--seeds 1] [--best]

Points are out of the published grids and differ in heads, context length, head dimension, kind of context and kind of
answer. Each trial is kept in the folder RUN when it ends, and the same command resumes after an interruption. `paper`
stops when all labels are right, as the released code does. One trial runs at a time; seconds are CPU time.
"""

from __future__ import annotations

import argparse

from rote.experiments.runner import run
from rote.experiments.vectors.queue import VectorRun
from rote.experiments.vectors.trial import VectorTrial
from rote.papers.kinds.vectors import VectorSetting
from rote.training.query_attention.protocol import protocol_for

POINTS = [
    (VectorSetting(20, 10, shared=False), 20_000),
    (VectorSetting(30, 32, 10), 10_000),
    (VectorSetting(5, 32), 10_000),
    (VectorSetting(1, 32, classes=None), 10_000),
    (VectorSetting(20, 5), 6_000),
    (VectorSetting(1, 32, shared=False), 30_000),
]
STEPS_OF_NARROW_HEADS = 300_000
"""At least, of the published sweep in k."""
IDENTITY = {"benchmark": "protocols on vector tasks", "format": 1}


def trial(setting: VectorSetting, examples: int, protocol: str, seed: int) -> VectorTrial:
    chosen = protocol_for(protocol, examples, None if setting.classes else 1)
    if protocol == "paper" and setting.head_dim < setting.dim:
        chosen = chosen.changed(steps=max(chosen.steps, STEPS_OF_NARROW_HEADS))
    return VectorTrial(setting, examples, chosen, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--best", action="store_true", help="train by protocol best too")
    parser.add_argument("--points", type=int, default=len(POINTS), help="only the first so many")
    options = parser.parse_args()
    protocols = ("fast", *(("best",) if options.best else ()), "paper")
    points = POINTS[: options.points]
    trials = [
        trial(setting, examples, protocol, seed)
        for setting, examples in points
        for seed in range(options.seeds)
        for protocol in protocols
    ]
    plan = VectorRun(IDENTITY, lambda results: [each for each in trials if each.key not in results])
    rows = run(plan, options.folder, workers=1).rows
    print("| H | n | k | context | answers | T | protocol | accuracy or error, by seed | steps | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for setting, examples in points:
        for protocol in protocols:
            ended = [rows[trial(setting, examples, protocol, seed).key] for seed in range(options.seeds)]
            scores = [row.result["accuracy"] or row.result["mean_square"] for row in ended]
            context = "shared" if setting.shared else "fresh"
            print(
                f"| {setting.heads} | {setting.context} | {setting.head_dim} | {context} "
                f"| {'labels' if setting.classes else 'target'} | {examples:,} | {protocol} "
                f"| {', '.join(f'{score:.4g}' for score in scores)} "
                f"| {', '.join(str(row.result['steps']) for row in ended)} "
                f"| {', '.join(f'{row.seconds:.0f}' for row in ended)} |"
            )


if __name__ == "__main__":
    main()
