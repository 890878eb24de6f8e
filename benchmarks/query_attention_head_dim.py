"""Head dimension beyond the context in one shared context: is what k > n gains capacity, or optimisation?

    OMP_NUM_THREADS=1 python benchmarks/query_attention_head_dim.py [--labels 1746] [--targets 7922] [--seeds 1]

H = 5 and n = 32, at numbers of examples that k = 64 memorizes under protocol `fast`. The trained model of k = 64 is
rewritten with k = 31 (`narrowed`), which loses nothing if the gain is none of capacity; and k = 31 is trained on the
same examples, as long (`fast`) and four times as long (`best`).
"""

from __future__ import annotations

import argparse

from rote.experiments.vectors.narrowing import narrowed
from rote.measure.error import error
from rote.measure.recall import recall
from rote.models.model import Model
from rote.papers.vector_figures import VectorSetting
from rote.tasks import VectorTask
from rote.tasks.generators import random_vectors
from rote.training.query_attention.train import train_vectors

WIDE, NARROW = 64, 31


def measured(model: Model, task: VectorTask) -> str:
    """Labels missed and the smallest margin, or the error."""
    if task.targets is not None:
        return f"{error(model, task).mean_square:.2e}"
    seen = recall(model, task)
    return f"{seen.recall:.4f} (missed {seen.facts - seen.recalled}), margin {seen.min_margin:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=1746)
    parser.add_argument("--targets", type=int, default=7922)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    print("| answers | T | seed | k | how | parameters | accuracy or error | s |\n|---|---|---|---|---|---|---|---|")
    for classes, examples in ((100, options.labels), (None, options.targets)):
        for seed in range(options.seeds):
            task = random_vectors(
                examples, 32, 64, shared=True, classes=classes, targets=None if classes else 1,
                distribution="uniform", seed=seed,
            )  # fmt: skip
            wide = train_vectors(task, VectorSetting(5, 32, WIDE, classes=classes).spec, seed)
            narrow = narrowed(wide.model, task)
            rows = [(WIDE, "fast", wide.model, wide.seconds), (NARROW, "k = 64 rewritten", narrow, 0.0)]
            for protocol in ("fast", "best"):
                trained = train_vectors(task, VectorSetting(5, 32, NARROW, classes=classes).spec, seed, protocol)
                rows.append((NARROW, protocol, trained.model, trained.seconds))
            for head_dim, how, model, seconds in rows:
                print(
                    f"| {'labels' if classes else 'target'} | {examples:,} | {seed} | {head_dim} | {how} "
                    f"| {model.parameters:,} | {measured(model, task)} | {seconds:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
