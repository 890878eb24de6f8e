"""The densest memory: the shape of an attention-only model that holds most bits per parameter when it is trained.

Candidates of one budget (`rote.experiments.densest_candidates`) are trained on random tables of all contexts, one
uniform answer each, in rounds of more and more steps; after each round the better part goes on (successive halving,
Jamieson and Talwalkar 2016). Bits are counted two ways:

- `code`: the answers' entropy less the code that the logits give (`rote.measure.softmax_code`), trained by plain
  cross-entropy, which is that code's length;
- `recall`: from right and wrong answers alone (Fano, `rote.measure.bits`), and in the end only of models that recall
  every context, whose entropy they then hold whole; trained by the protocol's focused cross-entropy.

The same arguments give the same result. With a folder every trial is kept in its ledger when it ends, so that a search
that was cut short goes on, and another search may use what is there.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from rote import __version__
from rote.errors import InputError
from rote.experiments.densest_candidates import candidates
from rote.experiments.ledger import Ledger, TrialKey
from rote.measure.bits import bits_memorized
from rote.measure.softmax_code import softmax_code
from rote.models.attention_only import AttentionOnly
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.tasks.generators import random_associations
from rote.training.protocol import Protocol, best
from rote.training.result import Trained
from rote.training.trials import EngineName, Trial, run_trials

Criterion = Literal["code", "recall"]
ROUNDS = (1000, 3000, 10_000)
KEEP = 0.25
FINALISTS = 3
"""Shapes of the last round, at least."""
FORMAT = 1
"""Raised when trials of the same name would come out otherwise: older searches are then not resumed."""


@dataclass(frozen=True)
class ShapeResult:
    """What models of one shape held after a round; means over its seeds, a model that diverged holds nothing."""

    spec: AttentionOnly
    steps: int
    seeds: int
    accuracy: float
    code: float
    """Bits per parameter by the logits' code."""
    answers: float
    """Bits per parameter by right and wrong answers."""
    full: float
    """Bits per parameter of a model that recalls everything: the entropy of the answers."""
    complete: int
    """Seeds that recalled every context."""
    diverged: int
    seconds: float
    """Processor time a model."""

    def score(self, by: Criterion) -> float:
        return self.code if by == "code" else self.answers

    def summary(self) -> dict[str, Any]:
        sizes = {name: getattr(self.spec, name) for name in ("vocab", "context", "dim", "head_dim", "heads")}
        return {
            **sizes,
            "parameters": self.spec.parameters(),
            "steps": self.steps,
            "seeds": self.seeds,
            "accuracy": self.accuracy,
            "bits_per_parameter_code": self.code,
            "bits_per_parameter_answers": self.answers,
            "bits_per_parameter_full": self.full,
            "complete": self.complete,
            "diverged": self.diverged,
            "seconds": round(self.seconds, 2),
        }


@dataclass(frozen=True)
class Densest:
    """A finished search."""

    by: Criterion
    rounds: tuple[tuple[ShapeResult, ...], ...]
    """What every shape of each round held, best first."""
    trained: int
    """Models trained now; others were in the ledger."""

    @property
    def best(self) -> ShapeResult | None:
        """The densest of the last round; by recall, of those that some seed recalled whole, if any."""
        last = self.rounds[-1]
        if self.by == "code":
            return last[0]
        return max((held for held in last if held.complete), key=lambda held: held.full, default=None)

    @property
    def square(self) -> ShapeResult | None:
        """The best with k = d in the last round, for comparison."""
        return next((held for held in self.rounds[-1] if held.spec.head_dim == held.spec.dim), None)


def densest(
    parameters: int,
    *,
    vocabs: Iterable[int] | None = None,
    dims: Iterable[int] | None = None,
    head_dims: Iterable[int] | None = None,
    context: int = 2,
    by: Criterion = "code",
    rounds: Sequence[int] = ROUNDS,
    seeds: int = 2,
    keep: float = KEEP,
    folder: str | Path | None = None,
    workers: int | None = None,
    engine: EngineName = "auto",
    progress: Progress = SILENT,
    **changes: Any,
) -> Densest:
    """Search the shapes of at most `parameters` parameters for the one that holds most bits per parameter.

    `rounds` are the steps of each round of the protocol `best` (its other fields may be changed by `changes`). The
    first rounds train one model a shape, the last `seeds` of them. A share `keep` goes on to the next round, at least
    three, and the best shape with k = d with them, so that the last round compares like with like.
    """
    _check(by, rounds, seeds, keep)
    shapes = candidates(parameters, vocabs=vocabs, dims=dims, head_dims=head_dims, context=context)
    arranged, trained = [], 0
    with ExitStack() as opened:
        ledger = None if folder is None else opened.enter_context(Ledger.open(folder, _IDENTITY, _about()))
        for place, steps in enumerate(rounds):
            repeats = seeds if place == len(rounds) - 1 else 1
            asked = [
                _Asked(shape, protocol_of(shape, steps, by, **changes), seed)
                for shape in shapes
                for seed in range(repeats)
            ]
            results, fresh = _results(asked, ledger, workers, engine, progress)
            trained += fresh
            held = [_summed(shape, steps, [results[one.key] for one in asked if one.spec is shape]) for shape in shapes]
            held.sort(key=lambda one: (-one.score(by), one.spec.parameters(), one.spec.dim, one.spec.head_dim))
            arranged.append(tuple(held))
            shapes = [one.spec for one in _going_on(held, keep)]
    return Densest(by, tuple(arranged), trained)


def protocol_of(spec: AttentionOnly, steps: int, by: Criterion, **changes: Any) -> Protocol:
    """`best` cut to so many steps, its polish in proportion; plain cross-entropy where the logits' code counts."""
    contexts = spec.vocab**spec.context
    whole = best(spec, contexts)
    cut: dict[str, Any] = {"steps": steps, "polish": whole.polish * steps // whole.steps}
    plain = {"focus": 0.0} if by == "code" else {}
    return best(spec, contexts, **{**cut, **plain, **changes})


def held_by(trained: Trained, task: AssociationTask) -> dict[str, Any]:
    """One trained model's numbers, with the bits it holds by both counts."""
    told = {**trained.summary(), "entropy_bits": task.entropy_bits, "code_bits": 0.0, "answer_bits": 0.0}
    if trained.accuracy is None:
        return {**told, "complete": False}
    recalled = round(trained.accuracy * task.facts)
    return {
        **told,
        "code_bits": softmax_code(trained.model, task).bits,
        "answer_bits": bits_memorized(task.entropy_bits, task.facts, recalled, task.vocab),
        "complete": recalled == task.facts,
    }


_IDENTITY = {"search": "densest", "format": FORMAT}


class _Asked(NamedTuple):
    spec: AttentionOnly
    protocol: Protocol
    seed: int

    @property
    def cell(self) -> dict[str, Any]:
        return {"spec": self.spec.to_config(), "protocol": self.protocol.model_dump(mode="json")}

    @property
    def key(self) -> TrialKey:
        return TrialKey.of(self.cell, self.seed)


def _results(
    asked: list[_Asked], ledger: Ledger | None, workers: int | None, engine: EngineName, progress: Progress
) -> tuple[dict[TrialKey, dict[str, Any]], int]:
    """Results by name, and how many had to be trained. Seed s trains on the table of seed s."""
    rows = [] if ledger is None else ledger.rows()
    results = {TrialKey.of(row.cell, row.seed): row.result for row in rows}
    waiting = [one for one in asked if one.key not in results]
    tasks: dict[tuple[int, int, int], AssociationTask] = {}
    trials = []
    for one in waiting:
        table = (one.spec.vocab, one.spec.context, one.seed)
        if table not in tasks:
            tasks[table] = random_associations(one.spec.vocab, one.spec.context, seed=one.seed)
        trials.append(Trial(tasks[table], one.spec, one.protocol, one.seed, key=one))
    for trial, trained in run_trials(trials, workers=workers, engine=engine, progress=progress):
        result = held_by(trained, trial.task)  # pyright: ignore[reportArgumentType]
        results[trial.key.key] = result
        if ledger is not None:
            ledger.record(trial.key.cell, trial.seed, result, trained.seconds)
    return results, len(waiting)


def _summed(spec: AttentionOnly, steps: int, results: list[dict[str, Any]]) -> ShapeResult:
    def mean(name: str) -> float:
        return float(np.mean([result[name] or 0.0 for result in results]))

    parameters = spec.parameters()
    return ShapeResult(
        spec=spec,
        steps=steps,
        seeds=len(results),
        accuracy=mean("accuracy"),
        code=mean("code_bits") / parameters,
        answers=mean("answer_bits") / parameters,
        full=mean("entropy_bits") / parameters,
        complete=sum(result["complete"] for result in results),
        diverged=sum(result["diverged_at"] is not None for result in results),
        seconds=mean("seconds"),
    )


def _going_on(held: list[ShapeResult], keep: float) -> list[ShapeResult]:
    count = max(FINALISTS, math.ceil(keep * len(held)))
    kept = held[:count]
    square = next((one for one in held if one.spec.head_dim == one.spec.dim), None)
    return kept if square is None or square in kept else [*kept, square]


def _about() -> dict[str, Any]:
    return {"rote": __version__, "machine": platform.machine(), "python": platform.python_version()}


def _check(by: str, rounds: Sequence[int], seeds: int, keep: float) -> None:
    if by not in ("code", "recall"):
        raise InputError(f"by: {by!r} is not one of code, recall")
    if not rounds or min(rounds) < 1 or list(rounds) != sorted(set(rounds)):
        raise InputError(f"rounds: {list(rounds)} must be growing numbers of steps, at least one")
    if seeds < 1:
        raise InputError(f"seeds: {seeds} must be at least 1")
    if not 0 < keep <= 1:
        raise InputError(f"keep: {keep} must lie in (0, 1], the share of shapes that goes on")
