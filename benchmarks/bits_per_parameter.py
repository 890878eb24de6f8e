"""Memory per parameter: published shapes, optimisers compared, steps, head dimensions, and the densest shapes found.

    python benchmarks/bits_per_parameter.py {published,optimisers,steps,shapes,densest,all} [-o RUN]

Tables of all pairs of N tokens, one uniform answer each; seed s trains on the table of seed s. Bits per parameter are
those of `rote.experiments.densest`: `code` by the logits, `answers` from right and wrong alone. Every trial is kept in
the run's ledger when it ends, so that an interrupted run resumes. Seconds are CPU time of one thread.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rote.charts.drawing import write_chart
from rote.constructions.build import build
from rote.experiments.densest import ShapeResult, bits_record, densest_shape
from rote.experiments.runner import run
from rote.experiments.token_schedule import RandomTables, TokenSchedule
from rote.experiments.trial import TokenTrial
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask
from rote.training.protocol import Protocol, best

WARM_FACTS = 450
"""Facts that `rote.readout` stores with certainty at the shape where warm starts are compared."""


class TableRow(NamedTuple):
    """Models of one shape and protocol, a trial a seed."""

    name: str
    spec: AttentionOnly
    protocol: Protocol
    seeds: int
    warm: bool = False

    def trials(self) -> list[TokenTrial]:
        start = f"rote.readout {WARM_FACTS}" if self.warm else None
        return [TokenTrial(self.spec, self.protocol, seed, start) for seed in range(self.seeds)]


def shape(vocab: int, dim: int, head_dim: int, heads: int) -> AttentionOnly:
    return AttentionOnly(vocab=vocab, context=2, dim=dim, head_dim=head_dim, heads=heads, scale_scores=True)


def row(name: str, spec: AttentionOnly, seeds: int, warm: bool = False, **changes: Any) -> TableRow:
    return TableRow(name, spec, best(spec, spec.vocab**2, **changes), seeds, warm)


def published(folder: Path) -> None:
    """The two shapes at which published accuracies are .86 (sampled) and .52."""
    show(folder, [row("best", shape(50, 10, 10, 21), 5), row("best", shape(50, 7, 7, 31), 5)])


def optimisers(folder: Path) -> None:
    """About as much CPU time each: by the code at k = 2, then by accuracy at k = d."""
    plain = {"decay": 0.0, "polish": 0}
    spec, code = shape(50, 10, 2, 42), {"focus": 0.0}
    show(
        folder,
        [
            row("Adam, peak .02", spec, 3, steps=14_000, peak=2e-2, **plain, **code),
            row("Adam, peak .04, decay .01", spec, 3, steps=14_000, polish=0, **code),
            row("the same, then L-BFGS: `best`", spec, 3, **code),
            row("few steps, then L-BFGS", spec, 3, steps=2000, polish=2500, **code),
            row("Muon on heads, peak .04 and .02", spec, 3, steps=4000, optimizer="muon", **plain, **code),
            row("warm start from rote.readout", spec, 3, warm=True, **code),
        ],
    )
    spec = shape(50, 7, 7, 31)
    show(
        folder,
        [
            row("Adam, peak .02", spec, 3, steps=16_000, peak=2e-2, **plain),
            row("`best`", spec, 3),
            row("Muon on heads, peak .04 and .02", spec, 3, steps=4000, optimizer="muon", **plain),
        ],
    )


def steps(folder: Path) -> None:
    """What longer training still gains, with and without decay."""
    spec, plain = shape(50, 10, 2, 42), {"focus": 0.0, "polish": 0}
    counts = (1000, 3000, 10_000, 30_000)
    show(folder, [row("no decay", spec, 2, steps=count, decay=0.0, **plain) for count in counts])
    show(folder, [row("decay .01", spec, 2, steps=count, **plain) for count in (*counts, 100_000)])


def shapes(folder: Path, figure: Path) -> None:
    """A search at 4,400 parameters, and the curve against k: all shapes of three dimensions with the same steps."""
    search = densest_shape(4400, dims=[6, 8, 10, 13, 16], rounds=[500, 2000, 8000], folder=folder, workers=1)
    print(f"{len(search.rounds[0])} shapes, then {[len(ranked) for ranked in search.rounds[1:]]}\n")
    show_shapes(search.rounds[-1])
    curve = densest_shape(
        4400, vocabs=[50], dims=[8, 10, 13], head_dims=[1, 2, 3, 5, 8, 10, 13], rounds=[5000],
        folder=folder, workers=1,
    )  # fmt: skip
    show_shapes(curve.rounds[-1])
    print(f"figure {write_chart(curve.chart(), figure)}")


def densest_shapes(folder: Path) -> None:
    """The headline: full recall of every pair, and most bits by the code."""
    show(
        folder,
        [
            row("full recall", shape(80, 13, 2, 109), 3, focus=0.0, polish=2000),
            row("nearly full recall", shape(80, 13, 2, 105), 3, focus=0.0, polish=2000),
            row("overfull", shape(80, 13, 2, 99), 3, focus=0.0, polish=2000),
            row("nearly full recall, longer", shape(80, 13, 2, 105), 2, focus=0.0, steps=30_000, polish=2000),
            row("overfull, longer", shape(80, 13, 2, 99), 2, focus=0.0, steps=30_000, polish=2000),
        ],
    )


def show_shapes(ranked: Sequence[ShapeResult]) -> None:
    print(
        "| N | d | k | H | parameters | accuracy | code | answers | if all | seeds |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for result in ranked:
        spec = result.spec
        print(
            f"| {spec.vocab} | {spec.dim} | {spec.head_dim} | {spec.heads} | {spec.parameters():,} "
            f"| {result.recall:.4f} | {result.code:.3f} | {result.answers:.3f} | {result.full:.3f} | {result.seeds} |"
        )
    print(flush=True)


def show(folder: Path, table: Sequence[TableRow]) -> None:
    """Train what the folder's ledger does not hold, then print a Markdown table."""
    trials = [trial for line in table for trial in line.trials()]
    plan = TokenSchedule({"benchmark": "bits per parameter"}, trials, RandomTables(), bits_record, warm_weights)
    rows = run(plan, folder, workers=1).rows
    print(
        "| | N, d, k, H | parameters | steps + polish | accuracy | code | answers | if all | complete | s |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for line in table:
        results = [rows[trial.key].result for trial in line.trials()]
        spec, parameters = line.spec, line.spec.parameters()
        accuracy = [result["accuracy"] for result in results]
        code, answers, full = (
            [result[name] / parameters for result in results] for name in ("code_bits", "answer_bits", "entropy_bits")
        )
        print(
            f"| {line.name} | {spec.vocab}, {spec.dim}, {spec.head_dim}, {spec.heads} | {parameters:,} "
            f"| {line.protocol.steps:,} + {line.protocol.polish:,} | {spread(accuracy, 4)} | {spread(code, 3)} "
            f"| {spread(answers, 3)} | {np.mean(full):.3f} | {sum(result['complete'] for result in results)} of "
            f"{line.seeds} | {np.mean([result['seconds'] for result in results]):.0f} |",
            flush=True,
        )
    print()


def spread(values: list[float], digits: int) -> str:
    low, high = min(values), max(values)
    shown = f"{np.mean(values):.{digits}f}"
    return shown if low == high else f"{shown} ({low:.{digits}f}-{high:.{digits}f})"


def warm_weights(trial: TokenTrial, task: AssociationTask) -> dict[str, Tensor] | None:
    """A built memory of the first facts as a start; queries make up for scores that training divides by sqrt(k)."""
    if trial.start is None:
        return None
    spec = trial.spec
    sizes = {"dim": spec.dim, "head_dim": spec.head_dim, "heads": spec.heads}
    model = build(task.take(slice(0, WARM_FACTS)), "rote.readout", seed=trial.seed, **sizes).model
    query = "layers.0.query"
    return {**model.weights, query: model.weights[query] * math.sqrt(spec.head_dim)}


SECTIONS = {"published": published, "optimisers": optimisers, "steps": steps, "densest": densest_shapes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", choices=[*SECTIONS, "shapes", "all"])
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/bits-per-parameter"))
    parser.add_argument("--figure", type=Path, default=Path(__file__).parent.parent / "docs" / "bits_per_parameter.png")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name, section in SECTIONS.items():
        if given.section in (name, "all"):
            print(f"{name}\n")
            section(given.output)
    if given.section in ("shapes", "all"):
        shapes(given.output.with_name(given.output.name + "-shapes"), given.figure)


if __name__ == "__main__":
    main()
