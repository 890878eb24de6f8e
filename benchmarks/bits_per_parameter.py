"""Memory per parameter: published shapes, optimisers compared, steps, head dimensions, and the densest shapes found.

    python benchmarks/bits_per_parameter.py {published,optimisers,steps,shapes,densest,all} [-o RUN]

Tables of all pairs of N tokens, one uniform answer each; seed s trains on the table of seed s. Bits per parameter are
those of `rote.experiments.densest`: `code` by the logits, `answers` from right and wrong alone. Every trial is kept in
the run's ledger when it ends, so that a run that was cut short goes on. Seconds are processor time of one thread.
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

from rote.constructions.build import build
from rote.experiments.densest import ShapeResult, densest, held_by
from rote.experiments.ledger import Ledger, TrialKey
from rote.models.attention_only import AttentionOnly
from rote.report.density_figure import density_figure
from rote.tasks import AssociationTask
from rote.tasks.generators import random_associations
from rote.training.protocol import Protocol, best
from rote.training.trials import Trial, run_trials

WARM_FACTS = 450
"""Facts that `rote.readout` stores with certainty at the shape where warm starts are compared."""


class Asked(NamedTuple):
    name: str
    spec: AttentionOnly
    protocol: Protocol
    seeds: int
    warm: bool = False


def shape(vocab: int, dim: int, head_dim: int, heads: int) -> AttentionOnly:
    return AttentionOnly(vocab=vocab, context=2, dim=dim, head_dim=head_dim, heads=heads, scale_scores=True)


def asked(name: str, spec: AttentionOnly, seeds: int, warm: bool = False, **changes: Any) -> Asked:
    return Asked(name, spec, best(spec, spec.vocab**2, **changes), seeds, warm)


def published(ledger: Ledger) -> None:
    """The two shapes at which published accuracies are .86 (sampled) and .52."""
    show(ledger, [asked("best", shape(50, 10, 10, 21), 5), asked("best", shape(50, 7, 7, 31), 5)])


def optimisers(ledger: Ledger) -> None:
    """About as much processor time each: by the code at k = 2, then by accuracy at k = d."""
    plain = {"decay": 0.0, "polish": 0}
    spec, code = shape(50, 10, 2, 42), {"focus": 0.0}
    show(
        ledger,
        [
            asked("Adam, peak .02", spec, 3, steps=14_000, peak=2e-2, **plain, **code),
            asked("Adam, peak .04, decay .01", spec, 3, steps=14_000, polish=0, **code),
            asked("the same, then L-BFGS: `best`", spec, 3, **code),
            asked("few steps, then L-BFGS", spec, 3, steps=2000, polish=2500, **code),
            asked("Muon on heads, peak .04 and .02", spec, 3, steps=4000, optimizer="muon", **plain, **code),
            asked("warm start from rote.readout", spec, 3, warm=True, **code),
        ],
    )
    spec = shape(50, 7, 7, 31)
    show(
        ledger,
        [
            asked("Adam, peak .02", spec, 3, steps=16_000, peak=2e-2, **plain),
            asked("`best`", spec, 3),
            asked("Muon on heads, peak .04 and .02", spec, 3, steps=4000, optimizer="muon", **plain),
        ],
    )


def steps(ledger: Ledger) -> None:
    """What longer training still gains, with and without decay."""
    spec, plain = shape(50, 10, 2, 42), {"focus": 0.0, "polish": 0}
    counts = (1000, 3000, 10_000, 30_000)
    show(ledger, [asked("no decay", spec, 2, steps=count, decay=0.0, **plain) for count in counts])
    show(ledger, [asked("decay .01", spec, 2, steps=count, **plain) for count in (*counts, 100_000)])


def shapes(folder: Path, figure: Path) -> None:
    """A search at 4,400 parameters, and the curve against k: all shapes of three dimensions with the same steps."""
    found = densest(4400, dims=[6, 8, 10, 13, 16], rounds=[500, 2000, 8000], folder=folder, workers=1)
    print(f"{len(found.rounds[0])} shapes, then {[len(one) for one in found.rounds[1:]]}\n")
    show_held(found.rounds[-1])
    curve = densest(
        4400, vocabs=[50], dims=[8, 10, 13], head_dims=[1, 2, 3, 5, 8, 10, 13], rounds=[5000],
        folder=folder, workers=1,
    )  # fmt: skip
    show_held(curve.rounds[-1])
    print(f"figure {density_figure(curve, figure)}")


def densest_shapes(ledger: Ledger) -> None:
    """The headline: full recall of every pair, and most bits by the code."""
    show(
        ledger,
        [
            asked("full recall", shape(80, 13, 2, 109), 3, focus=0.0, polish=2000),
            asked("nearly full recall", shape(80, 13, 2, 105), 3, focus=0.0, polish=2000),
            asked("overfull", shape(80, 13, 2, 99), 3, focus=0.0, polish=2000),
            asked("nearly full recall, longer", shape(80, 13, 2, 105), 2, focus=0.0, steps=30_000, polish=2000),
            asked("overfull, longer", shape(80, 13, 2, 99), 2, focus=0.0, steps=30_000, polish=2000),
        ],
    )


def show_held(shapes_held: Sequence[ShapeResult]) -> None:
    print(
        "| N | d | k | H | parameters | accuracy | code | answers | if all | seeds |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for one in shapes_held:
        spec = one.spec
        print(
            f"| {spec.vocab} | {spec.dim} | {spec.head_dim} | {spec.heads} | {spec.parameters():,} "
            f"| {one.accuracy:.4f} | {one.code:.3f} | {one.answers:.3f} | {one.full:.3f} | {one.seeds} |"
        )
    print(flush=True)


def show(ledger: Ledger, wanted: Sequence[Asked]) -> None:
    """Train what the ledger does not hold, then print a Markdown table."""
    done = {TrialKey.of(row.cell, row.seed): row.result for row in ledger.rows()}
    trials = []
    for one in wanted:
        for seed in range(one.seeds):
            if TrialKey.of(cell(one), seed) not in done:
                task = random_associations(one.spec.vocab, 2, seed=seed)
                start = warm_weights(task, one.spec, seed) if one.warm else None
                trials.append(Trial(task, one.spec, one.protocol, seed, key=one, start=start))
    for trial, trained in run_trials(trials, workers=1):
        result = held_by(trained, trial.task)
        ledger.record(cell(trial.key), trial.seed, result, trained.seconds)
        done[TrialKey.of(cell(trial.key), trial.seed)] = result
    print(
        "| | N, d, k, H | parameters | steps + polish | accuracy | code | answers | if all | complete | s |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for one in wanted:
        results = [done[TrialKey.of(cell(one), seed)] for seed in range(one.seeds)]
        spec, parameters = one.spec, one.spec.parameters()
        accuracy = [result["accuracy"] for result in results]
        code, answers, full = (
            [result[name] / parameters for result in results] for name in ("code_bits", "answer_bits", "entropy_bits")
        )
        print(
            f"| {one.name} | {spec.vocab}, {spec.dim}, {spec.head_dim}, {spec.heads} | {parameters:,} "
            f"| {one.protocol.steps:,} + {one.protocol.polish:,} | {spread(accuracy, 4)} | {spread(code, 3)} "
            f"| {spread(answers, 3)} | {np.mean(full):.3f} | {sum(result['complete'] for result in results)} of "
            f"{one.seeds} | {np.mean([result['seconds'] for result in results]):.0f} |",
            flush=True,
        )
    print()


def spread(values: list[float], digits: int) -> str:
    low, high = min(values), max(values)
    shown = f"{np.mean(values):.{digits}f}"
    return shown if low == high else f"{shown} ({low:.{digits}f}-{high:.{digits}f})"


def cell(one: Asked) -> dict[str, Any]:
    start = {"start": f"rote.readout {WARM_FACTS}"} if one.warm else {}
    return {"spec": one.spec.to_config(), "protocol": one.protocol.model_dump(mode="json"), **start}


def warm_weights(task: AssociationTask, spec: AttentionOnly, seed: int) -> dict[str, Tensor]:
    """A built memory of the first facts as a start; queries make up for scores that training divides by sqrt(k)."""
    sizes = {"dim": spec.dim, "head_dim": spec.head_dim, "heads": spec.heads}
    model = build(task.take(slice(0, WARM_FACTS)), "rote.readout", seed=seed, **sizes).model
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
            with Ledger.open(given.output, {"benchmark": "bits per parameter"}, {}) as ledger:
                section(ledger)
    if given.section in ("shapes", "all"):
        shapes(given.output.with_name(given.output.name + "-shapes"), given.figure)


if __name__ == "__main__":
    main()
