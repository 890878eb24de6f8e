"""Facts lost when heads are zero-ablated, in models that are built and trained, and what single heads attend to.

    python benchmarks/ablated_heads.py

One layer of 20 heads (N = 50, S = 2, d = k = 10). The same 210 facts, as many as Theorem 1 of Dana et al. guarantees,
are built by Theorem 1 and trained; training also stores 1,000 facts. Random sets of heads are ablated, 20 of each size
and seed. Writes docs/ablated_heads.csv and docs/attention_patterns.csv (13 CPU seconds).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

import rote
from rote.models.forward.attention_only import attention_of, layer_heads, score_scale
from rote.tasks import require_associations

DOCS = Path(__file__).parents[1] / "docs"
SPEC = rote.AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20)
SEEDS = (1, 2, 3)
SETS = 20
ABLATED = (0, 1, 2, 3, 5, 8, 12, 16, 20)
FACTS = {"built": 210, "trained": 210, "trained, more facts": 1000}
PATTERN = 16
"""Tokens of the drawn attention patterns."""


def made(kind: str, task: rote.AssociationTask, seed: int) -> rote.Model:
    """A model of these facts that recalls all of them."""
    if kind == "built":
        return rote.build(task, "dana2025.theorem1", dim=10, head_dim=10, heads=20, seed=seed).model
    best = rote.train_best(task, SPEC, seeds=1, steps=3000)
    if best.certificate.recalled < task.facts:
        raise SystemExit(f"{kind}, seed {seed}: not every fact is recalled")
    return best.best.model


def lost(model: rote.Model, task: rote.AssociationTask, heads: Sequence[int]) -> float:
    """The share of facts whose answer is no longer the strict maximum without these heads."""
    output = model.weights["layers.0.output"].clone()
    output[list(heads)] = 0
    logits = rote.Model(model.spec, {**model.weights, "layers.0.output": output}, model.vocabulary).logits(
        task.contexts
    )
    answers = torch.from_numpy(task.answers).long()[:, None]
    others = logits.scatter(1, answers, -torch.inf).amax(1)
    return float((logits.gather(1, answers)[:, 0] <= others).float().mean())


def ablation_rows() -> Iterable[list[object]]:
    for kind, count in FACTS.items():
        for seed in SEEDS:
            task = facts_of(count, seed)
            model = made(kind, task, seed)
            drawn = torch.Generator().manual_seed(seed)
            for size in ABLATED:
                sets = [torch.randperm(20, generator=drawn)[:size].tolist() for _ in range(SETS)]
                shares = [lost(model, task, heads) for heads in sets]
                yield [kind, count, seed, size, round(sum(shares) / SETS, 4)]


def pattern_rows() -> Iterable[list[object]]:
    """Attention of the first head to the first token, for every pair of the first tokens of the vocabulary."""
    every = torch.cartesian_prod(torch.arange(PATTERN), torch.arange(PATTERN))
    for kind in ("built", "trained, more facts"):
        model = made(kind, facts_of(FACTS[kind], SEEDS[0]), SEEDS[0])
        x = model.weights["tokens"][every] + model.weights["positions"]
        attention = attention_of(layer_heads(model.weights, 0), x[:, -1:], x, score_scale(SPEC))[:, 0, 0, 0]
        for (first, last), share in zip(every.tolist(), attention.tolist(), strict=True):
            yield [kind, first, last, round(share, 4)]


def facts_of(count: int, seed: int) -> rote.AssociationTask:
    return require_associations(rote.facts(f"random:vocab=50,context=2,facts={count},seed={seed}"), "facts are lost")


def write(name: str, columns: list[str], rows: Iterable[list[object]]) -> None:
    with (DOCS / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    print(DOCS / name)


if __name__ == "__main__":
    write("ablated_heads.csv", ["model", "facts", "seed", "heads ablated", "share lost"], ablation_rows())
    write("attention_patterns.csv", ["model", "first token", "last token", "attention to the first"], pattern_rows())
