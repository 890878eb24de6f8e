"""Head dimension beyond the context: is what k > n gains capacity, or optimisation?

    OMP_NUM_THREADS=1 python benchmarks/query_attention_head_dim.py [--fresh] [--labels 1746] [--targets 7922]

n = 32, at numbers of examples that k = 64 memorizes under protocol `fast`. In one shared context the trained model of
k = 64 is rewritten with k = 31 (`narrowed`), which loses nothing if the gain is none of capacity; in fresh contexts
there is no such rewriting. Both it and the narrow model (k = 31, or 32 in fresh contexts) are trained on the same
examples by `fast`, and four times as long (`best`). H = 5, or 2 for targets in fresh contexts. 0 leaves labels or
targets out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rote.measure.measures import error
from rote.measure.recall import recall
from rote.models.model import Model
from rote.papers.kinds.vectors import VectorSetting
from rote.tasks import VectorTask
from rote.tasks.generators import random_vectors
from rote.training.query_attention.train import train_vectors
from studies.narrowing import narrowed

CONTEXT, WIDE = 32, 64


def measured(model: Model, task: VectorTask) -> str:
    """Labels missed and the smallest margin, or the error."""
    if task.targets is not None:
        return f"{error(model, task).mean_square:.2e}"
    seen = recall(model, task)
    return f"{seen.recall:.4f} (missed {seen.facts - seen.recalled}), margin {seen.min_margin:.3f}"


def compared(
    task: VectorTask, setting: VectorSetting, narrow: int, seed: int
) -> Iterator[tuple[int, str, Model, float]]:
    """Head dimension, how the model was had, the model, and seconds of training."""

    def trained(head_dim: int, protocol: str) -> tuple[int, str, Model, float]:
        spec = VectorSetting(setting.heads, CONTEXT, head_dim, classes=setting.classes).spec
        done = train_vectors(task, spec, seed, protocol)
        return head_dim, protocol, done.model, done.seconds

    wide = trained(WIDE, "fast")
    yield wide
    if setting.shared:
        yield narrow, f"k = {WIDE} rewritten", narrowed(wide[2], task), 0.0
    yield trained(narrow, "fast")
    yield trained(WIDE, "best")
    yield trained(narrow, "best")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true", help="every example has a context of its own")
    parser.add_argument("--labels", type=int, nargs="+", help="Default: 1,746, or 5,107 in fresh contexts")
    parser.add_argument("--targets", type=int, nargs="+", help="Default: 7,922, or 7,185 in fresh contexts")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    labels, targets = (5107, 7185) if options.fresh else (1746, 7922)
    shared, narrow = not options.fresh, CONTEXT if options.fresh else CONTEXT - 1
    of_labels = VectorSetting(5, CONTEXT, shared=shared)
    of_targets = VectorSetting(2 if options.fresh else 5, CONTEXT, shared=shared, classes=None)
    settings = [
        *((of_labels, examples) for examples in options.labels or [labels] if examples),
        *((of_targets, examples) for examples in options.targets or [targets] if examples),
    ]
    print("| answers | T | seed | k | how | parameters | accuracy or error | s |\n|---|---|---|---|---|---|---|---|")
    for setting, examples in settings:
        for seed in range(options.seeds):
            task = random_vectors(
                examples, CONTEXT, 64, shared=shared, classes=setting.classes, targets=None if setting.classes else 1,
                distribution="uniform", seed=seed,
            )  # fmt: skip
            for head_dim, how, model, seconds in compared(task, setting, narrow, seed):
                print(
                    f"| {'labels' if setting.classes else 'target'} | {examples:,} | {seed} | {head_dim} | {how} "
                    f"| {model.parameters:,} | {measured(model, task)} | {seconds:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
