"""Kajitsuka and Sato 2025, run: every label checked, with depth, parameters, bits and CPU time (one thread).

    python benchmarks/sqrt_memorizer.py [--seeds 3] [--part exact|float|lengths|sequences] [--figure FILE]

Data: N sequences of n = 8 tokens drawn from 1,000, distinct as multisets, labels uniform in [C].
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch

import rote
from rote.constructions.kajitsuka2025.sequence_to_sequence import (
    positions_recalled,
    random_sequences,
    sequence_to_sequence,
)
from rote.constructions.kajitsuka2025.transformer import Account, Facts, account, assemble
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask, Vocabulary
from studies.memorizer_figure import Cost, fitted_exponent, memorizer_figure

TOKENS = 1000
LENGTH = 8
PARTS = ("exact", "float", "lengths", "sequences")


def labelled(count: int, labels: int, seed: int, length: int = LENGTH) -> tuple[np.ndarray, np.ndarray]:
    return random_sequences(count, length, TOKENS, seed), np.random.default_rng(seed + 1000).integers(0, labels, count)


def exact(seeds: range) -> dict[tuple[str, int], list[Account]]:
    """All storages in long integers."""
    head(
        "storage",
        "C",
        "N",
        "right",
        "width",
        "depth",
        "non-zero",
        "dense",
        "longest word",
        "bits",
        "bits/entropy",
        "CPU s",
    )
    found: dict[tuple[str, int], list[Account]] = {}
    for storage in ("faithful", "lean", "hashed"):
        for labels in (2, 50):
            costs = found[storage, labels] = []
            for count in (16, 64, 256, 1024, 4096):
                for seed in seeds:
                    start = time.process_time()
                    sequences, answers = labelled(count, labels, seed)
                    transformer = assemble(Facts(sequences, answers, LENGTH), storage, seed=seed)
                    right = int((transformer.labels(sequences) == answers).sum())
                    cost = account(transformer, answers)
                    costs.append(cost)
                    if seed == 0:
                        took = time.process_time() - start
                        row(
                            *(storage, labels, count, right, cost.width, cost.depth, cost.nonzeros, cost.dense),
                            *(cost.largest_bits, cost.total_bits, f"{cost.bits_over_entropy:.1f}", f"{took:.1f}"),
                        )
                    if right != count:
                        raise SystemExit(f"{storage}, C = {labels}, N = {count}, seed {seed}: {right} right")
    print()
    head("storage", "C", "depth exponent", "non-zero exponent", "bits exponent")
    for (storage, labels), costs in found.items():
        sizes = [cost.labels for cost in costs]
        fields = ("depth", "nonzeros", "total_bits")
        row(storage, labels, *(fitted_exponent(sizes, [getattr(cost, name) for cost in costs]) for name in fields))
    print()
    return found


def floating() -> list[Account]:
    """The same networks as torch modules, F1, softmax attention and F2 end to end."""
    head("dtype", "storage", "C", "N", "right", "width", "depth", "dense, padded", "non-zero", "F2 per label",
         "word bits", "bits/entropy", "build and check, CPU s")  # fmt: skip
    hashed = []
    for dtype, storage, labels, count in (
        ("float32", "lean", 2, 4096),
        ("float32", "hashed", 2, 4096),
        ("float32", "hashed", 50, 4096),
        ("float64", "lean", 2, 16_384),
        ("float64", "lean", 50, 16_384),
        ("float64", "hashed", 2, 256),
        ("float64", "hashed", 2, 1024),
        ("float64", "hashed", 2, 4096),
        ("float64", "hashed", 2, 16_384),
        ("float64", "hashed", 50, 16_384),
        ("float64", "hashed", 2, 100_000),
    ):
        start = time.process_time()
        sequences, answers = labelled(count, labels, 0)
        task = AssociationTask(sequences - 1, answers, Vocabulary.numbered(TOKENS))
        built = rote.build(task, "kajitsuka2025.theorem4_1", dtype=dtype, storage=storage, ordered=False)
        took, found, stored = time.process_time() - start, built.certificate.measured, built.certificate.recalled
        cost = Account(**{name: found[name] for name in Account.__dataclass_fields__})
        if (dtype, storage, labels) == ("float64", "hashed", 2):
            hashed.append(cost)
        row(
            *(dtype, storage, labels, count, stored, cost.width, cost.depth, built.certificate.parameters),
            *(cost.nonzeros, f"{cost.nonzeros_after / count:.3f}", found["word_bits"]),
            *(f"{cost.bits_over_entropy:.1f}", f"{took:.1f}"),
        )
    print()
    return hashed


def lengths() -> None:
    """Lengths that are no power of two, where the softmax rounds."""
    head("n", "dtype", "N", "right", "snap layers", "word bits")
    for length in (7, 13):
        for dtype in ("float32", "float64"):
            sequences, answers = labelled(1024, 50, 0, length)
            task = AssociationTask(sequences - 1, answers, Vocabulary.numbered(TOKENS))
            made = rote.build(task, "kajitsuka2025.theorem4_1", dtype=dtype, ordered=False).certificate
            row(length, dtype, 1024, made.recalled, made.measured["snap_layers"], made.measured["word_bits"])
    print()


def sequence() -> None:
    """A label at every position."""
    head("storage", "N", "positions", "right", "width", "depth", "non-zero", "CPU s")
    for storage in ("lean", "hashed"):
        start = time.process_time()
        sequences = random_sequences(1024, LENGTH, TOKENS, 0) - 1
        labels = np.take_along_axis(np.random.default_rng(1).integers(0, 50, (1024, TOKENS)), sequences, 1)
        model, made = sequence_to_sequence(sequences, labels, storage)
        right = positions_recalled(model, sequences, labels)
        cost = account(made, labels.reshape(-1))
        took = time.process_time() - start
        row(storage, 1024, labels.size, right, cost.width, cost.depth, cost.nonzeros, f"{took:.1f}")
    print()


def draw(found: dict[tuple[str, int], list[Account]], hashed: list[Account], path: Path) -> None:
    """C = 2: the memorizers beside attention-only models and a look-up table, which are only counted."""
    costs = [
        Cost(f"{storage}, exact", cost.labels, cost.nonzeros, cost.total_bits)
        for (storage, labels), own in found.items()
        if labels == 2
        for cost in own
    ]
    costs += [Cost("hashed, float64", cost.labels, cost.nonzeros, cost.total_bits) for cost in hashed]
    for count in (16, 64, 256, 1024, 4096, 16_384, 100_000):
        spec = AttentionOnly(vocab=TOKENS, context=LENGTH, dim=2, head_dim=1, heads=count - 2)
        # Embeddings are counted for no one: the memorizers' tokens are given as numbers.
        attention = spec.parameters() - 2 * spec.dim * TOKENS
        costs.append(Cost("attention-only, d = 2, float32", count, attention, 32 * attention, built=False))
        bits = count * (LENGTH * math.log2(TOKENS) + 1)
        costs.append(Cost("look-up table", count, count * (LENGTH + 1), bits, built=False))
    memorizer_figure(costs, 1.0, "N sequences of 8 tokens, 2 labels", path)
    print(f"figure: {path}")


def head(*names: str) -> None:
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)


def row(*values: object) -> None:
    print(f"| {' | '.join(f'{value:,}' if isinstance(value, int) else str(value) for value in values)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--part", choices=PARTS, help="only this part (no figure)")
    parser.add_argument("--figure", type=Path, default=Path("sqrt_memorizer.svg"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    parts = PARTS if given.part is None else (given.part,)
    found = exact(range(given.seeds)) if "exact" in parts else {}
    hashed = floating() if "float" in parts else []
    if "lengths" in parts:
        lengths()
    if "sequences" in parts:
        sequence()
    if given.part is None:
        draw(found, hashed, given.figure)


if __name__ == "__main__":
    main()
