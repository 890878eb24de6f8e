"""The densest shape: the sizes of an attention-only model that holds most bits per parameter after training.

Candidates of one budget (`rote.experiments.densest`) are trained on random tables of all contexts with
uniform answers, by successive halving (Jamieson and Talwalkar 2016): each round takes more steps and keeps the better
shapes. Bits are counted in one of two ways:

- `code`: the entropy of the answers minus their codelength under the logits (`rote.measure.softmax_code`). Models are
  trained by plain cross-entropy, which is that codelength.
- `recall`: the Fano bound from right and wrong answers (`rote.measure.recall`). The final result counts models of
  full recall alone, which hold the complete entropy. Models are trained by the protocol's generalized cross-entropy:
  it gives up contexts that do not fit in favour of the others (`rote.training.objective`).

The same arguments give the same result. With a folder, every trial is recorded in its ledger when it ends. An
interrupted search resumes, and another search may reuse its trials.

Candidates for the densest shape: attention-only models that use up a budget of parameters.

Of d(S + 2N + 4kH) parameters (Dana, Pydi and Chevaleyre 2025, equation (2)) the vocabulary N, the dimension d and the
head dimension k are chosen, and H is as large as the budget allows. The table of all contexts has N^S log2 N bits; the
*load* is the bits of that table divided by the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rote.arguments import typed
from rote.charts import TONES, ChartSeries, Mark, XYChart
from rote.charts.plotting import Plotted
from rote.display import DataFrame, Tabular, frame_of
from rote.errors import InputError, problems
from rote.experiments.executor import HERE
from rote.experiments.ledgers.ledger import FailedTrial
from rote.experiments.published_levels import published_levels
from rote.experiments.runner import run
from rote.experiments.token_schedule import RandomTables, TokenSchedule, training_record
from rote.experiments.trial import BitsResult, TokenTrial
from rote.measure import bits_memorized, softmax_code
from rote.models.attention_only import AttentionOnly
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.training.protocol import EngineName, Protocol, best
from rote.training.result import Trained

LOADS = (2.4, 2.8, 3.2, 3.6)
"""Loads that decide which vocabularies are tried, about what the densest trained models hold."""
DIMS = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100)
HEAD_DIMS = (1, 2, 3, 5, 8, 13, 20, 32)
MOST_IN_TOKENS = 0.75
"""Largest share of the parameters for embedding and unembedding, if dimensions are not given."""


def candidates(
    parameters: int,
    *,
    vocabs: Iterable[int] | None = None,
    dims: Iterable[int] | None = None,
    head_dims: Iterable[int] | None = None,
    context: int = 2,
) -> list[AttentionOnly]:
    """Every shape of at most `parameters` parameters, each with as many heads as fit and at least one.

    Sizes that are not given come from a geometric grid, which includes k = d (the advice of Dana et al.) and
    vocabularies whose tables are 2.4 to 3.6 times the budget. Head dimensions above d are left out.
    """
    _check_sizes(parameters, context, vocabs=vocabs, dims=dims, head_dims=head_dims)
    shapes = []
    for vocab in sorted(set(vocabs or (vocab_of_load(load, parameters, context) for load in LOADS))):
        for dim in sorted(set(dims or _affordable(parameters, vocab, context))):
            for head_dim in sorted({k for k in head_dims or (*HEAD_DIMS, dim) if k <= dim}):
                heads = (parameters - dim * (context + 2 * vocab)) // (4 * dim * head_dim)
                if heads >= 1:
                    shapes.append(
                        AttentionOnly(
                            vocab=vocab, context=context, dim=dim, head_dim=head_dim, heads=heads, scale_scores=True
                        )
                    )
    if not shapes:
        raise InputError(
            f"`parameters={parameters}`: too few for any shape of these sizes; raise them, or lower vocabularies or "
            "dimensions"
        )
    return shapes


def vocab_of_load(load: float, parameters: int, context: int = 2) -> int:
    """The vocabulary, at least 3, whose table of all contexts is nearest to `load` bits per parameter."""
    bits = load * parameters
    vocab = 3
    while (vocab + 1) ** context * math.log2(vocab + 1) <= bits:
        vocab += 1
    below, above = (n**context * math.log2(n) for n in (vocab, vocab + 1))
    return vocab + 1 if above - bits < bits - below else vocab


def _affordable(parameters: int, vocab: int, context: int) -> list[int]:
    return [dim for dim in DIMS if dim * (context + 2 * vocab) <= MOST_IN_TOKENS * parameters]


def _check_sizes(parameters: int, context: int, **sizes: Iterable[int] | None) -> None:
    refused = []
    if parameters < 1:
        refused.append(f"`parameters={parameters}`: must be at least 1")
    if context < 2:
        refused.append(f"`context={context}`: leaves attention nothing to do; must be at least 2")
    least = {"vocabs": 2, "dims": 1, "head_dims": 1}
    for name, values in sizes.items():
        given: Sequence[int] = [] if values is None else list(values)
        refused += [f"`{name}`: {value} must be at least {least[name]}" for value in given if value < least[name]]
    if refused:
        raise problems("shapes", refused)


Criterion = Literal["code", "recall"]
ROUNDS = (1000, 3000, 10_000)
KEEP = 0.25
FINALISTS = 3
"""Smallest number of shapes in the last round."""
FORMAT = 1
"""Increased when trials of the same name would give other results; older searches are then not resumed."""
IDENTITY = {"search": "densest", "format": FORMAT}


@dataclass(frozen=True)
class ShapeResult:
    """Results of one shape after a round: means over its seeds. A diverged model counts as recalling nothing."""

    spec: AttentionOnly
    steps: int
    seeds: int
    recall: float
    code: float
    """Bits per parameter by the codelength under the logits."""
    answers: float
    """Bits per parameter by the Fano bound from right and wrong answers."""
    full: float
    """Bits per parameter of a model that recalls everything: the entropy of the answers."""
    complete: int
    """Seeds that recalled every context."""
    diverged: int
    cpu_seconds: float
    """CPU seconds per model."""

    def score(self, by: Criterion) -> float:
        """Bits per parameter, counted as the search counts them."""
        return self.code if by == "code" else self.answers

    @property
    def square(self) -> bool:
        """Whether its heads are as wide as the model: k = d."""
        return self.spec.head_dim == self.spec.dim

    def summary(self, by: Criterion) -> dict[str, Any]:
        sizes = {name: getattr(self.spec, name) for name in ("vocab", "context", "dim", "head_dim", "heads")}
        return {
            **sizes,
            "parameters": self.spec.parameters(),
            "steps": self.steps,
            "seeds": self.seeds,
            "recall": self.recall,
            "bits_per_parameter": self.score(by),
            "bits_per_parameter_code": self.code,
            "bits_per_parameter_answers": self.answers,
            "bits_per_parameter_full": self.full,
            "complete": self.complete,
            "diverged": self.diverged,
            "cpu_seconds": round(self.cpu_seconds, 2),
        }


@dataclass(frozen=True)
class Densest(Tabular, Plotted):
    """The result of a search for the densest shape. `rote.figure` draws it.

    >>> import rote
    >>> search = rote.densest_shape(300, vocabs=[8], dims=[4], rounds=[20], seeds=1)
    >>> search.best in search.rounds[-1], len(search.frame()) == len(search.rounds[0])
    (True, True)
    """

    budget: int
    """Largest number of parameters of a shape."""
    by: Criterion
    rounds: tuple[tuple[ShapeResult, ...], ...]
    """The shapes of each round, best first."""
    trained: int
    """Models trained now; others were in the ledger."""
    folder: Path | None = None
    failed: tuple[FailedTrial, ...] = ()
    """Models whose training failed now, with the reasons. A shape without any ended model is left out."""

    def chart(self) -> XYChart:
        """Bits per parameter against the head dimension: one curve per dimension d, the best vocabulary at each k."""
        return density_chart(self)

    @property
    def best(self) -> ShapeResult | None:
        """The densest shape of the last round. By recall, only shapes with full recall in some seed count."""
        last = self.rounds[-1]
        if self.by == "code":
            return last[0]
        return max((shape for shape in last if shape.complete), key=lambda shape: shape.full, default=None)

    @property
    def square(self) -> ShapeResult | None:
        """The best shape with k = d in the last round, for comparison."""
        return _best_square(self.rounds[-1])

    def frame(self) -> DataFrame:
        """A data frame with one row per shape and round."""
        return frame_of(
            {"round": number, **shape.summary(self.by)}
            for number, shapes in enumerate(self.rounds, 1)
            for shape in shapes
        )

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "run": None if self.folder is None else str(self.folder),
            "budget": self.budget,
            "by": self.by,
            "best": None if self.best is None else self.best.summary(self.by),
            "square": None if self.square is None else self.square.summary(self.by),
            "rounds": [[shape.summary(self.by) for shape in shapes] for shapes in self.rounds],
            "trained_now": self.trained,
            "failed": [{"seed": trial.key.seed, "reason": trial.reason} for trial in self.failed],
        }


@typed
def densest_shape(
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
    on: str = HERE,
    progress: Progress = SILENT,
    **changes: Any,
) -> Densest:
    """The shape of at most `parameters` parameters that holds most bits per parameter.

    `rounds` are the steps of each round under the protocol `best`, whose other fields `changes` may set. The first
    rounds train one model per shape, the last one `seeds`. A fraction `keep` of the shapes, at least three, enters the
    next round. The best shape with k = d always does, for comparison.

    >>> import rote
    >>> search = rote.densest_shape(300, vocabs=[8], dims=[4], rounds=[20], seeds=1)
    >>> search.best.spec.parameters() <= 300
    True
    """
    _check(by, rounds, seeds, keep)
    shapes = candidates(parameters, vocabs=vocabs, dims=dims, head_dims=head_dims, context=context)
    tables, ranked, trained, failed = RandomTables(), [], 0, ()
    for steps in rounds:
        repeats = seeds if steps == rounds[-1] else 1
        planned = {
            shape: [TokenTrial(shape, protocol_of(shape, steps, by, **changes), seed) for seed in range(repeats)]
            for shape in shapes
        }
        trials = [trial for of_shape in planned.values() for trial in of_shape]
        plan = TokenSchedule(IDENTITY, trials, tables, bits_record, engine=engine)
        ended = run(plan, folder, workers=workers, on=on, progress=progress)
        trained += ended.trained
        failed += ended.failed
        results = [
            _shape_result(shape, steps, recorded)
            for shape in shapes
            if (
                recorded := [
                    BitsResult.of(row.result) for trial in planned[shape] if (row := ended.rows.get(trial.key))
                ]
            )
        ]
        results.sort(key=lambda shape: (-shape.score(by), shape.spec.parameters(), shape.spec.dim, shape.spec.head_dim))
        ranked.append(tuple(results))
        shapes = [shape.spec for shape in _going_on(results, keep)]
    return Densest(parameters, by, tuple(ranked), trained, None if folder is None else Path(folder), failed)


def protocol_of(spec: AttentionOnly, steps: int, by: Criterion, **changes: Any) -> Protocol:
    """The protocol `best` with `steps` steps and L-BFGS iterations in proportion; plain cross-entropy for `code`."""
    contexts = spec.vocab**spec.context
    whole = best(spec, contexts)
    cut: dict[str, Any] = {"steps": steps, "polish": whole.polish * steps // whole.steps}
    plain = {"focus": 0.0} if by == "code" else {}
    return best(spec, contexts, **{**cut, **plain, **changes})


def bits_record(trained: Trained, task: AssociationTask) -> dict[str, Any]:
    """The ledger's record of a trained model, with the bits it holds by both counts."""
    record = {**training_record(trained), "entropy_bits": task.entropy_bits, "code_bits": 0.0, "answer_bits": 0.0}
    if trained.accuracy is None:
        return {**record, "complete": False}
    recalled = round(trained.accuracy * task.facts)
    return {
        **record,
        "code_bits": softmax_code(trained.model, task).bits,
        "answer_bits": bits_memorized(task.entropy_bits, task.facts, recalled, task.vocab),
        "complete": recalled == task.facts,
    }


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _shape_result(spec: AttentionOnly, steps: int, results: list[BitsResult]) -> ShapeResult:
    parameters = spec.parameters()
    return ShapeResult(
        spec=spec,
        steps=steps,
        seeds=len(results),
        recall=_mean(result.accuracy or 0.0 for result in results),
        code=_mean(result.code_bits for result in results) / parameters,
        answers=_mean(result.answer_bits for result in results) / parameters,
        full=_mean(result.entropy_bits for result in results) / parameters,
        complete=sum(result.complete for result in results),
        diverged=sum(result.diverged_at is not None for result in results),
        cpu_seconds=_mean(result.seconds for result in results),
    )


def _going_on(ranked: Sequence[ShapeResult], keep: float) -> list[ShapeResult]:
    kept = list(ranked[: max(FINALISTS, math.ceil(keep * len(ranked)))])
    square = _best_square(ranked)
    return kept if square is None or square in kept else [*kept, square]


def _best_square(ranked: Sequence[ShapeResult]) -> ShapeResult | None:
    return next((shape for shape in ranked if shape.square), None)


def _check(by: str, rounds: Sequence[int], seeds: int, keep: float) -> None:
    refused = []
    if by not in ("code", "recall"):
        refused.append(f"`by={by}`: is not one of code, recall")
    if not rounds or min(rounds) < 1 or list(rounds) != sorted(set(rounds)):
        refused.append(f"`rounds`: {list(rounds)} must be increasing numbers of steps, at least one")
    if seeds < 1:
        refused.append(f"`seeds={seeds}`: must be at least 1")
    if not 0 < keep <= 1:
        refused.append(f"`keep={keep}`: must lie in (0, 1], the fraction of shapes that enters the next round")
    if refused:
        raise problems("search", refused)


CURVES = tuple(tone for tone in TONES if tone != "vermilion")
"""Tones of the curves; the other one marks k = d."""


def density_chart(search: Densest, title: str | None = None) -> XYChart:
    """Bits per parameter against the head dimension: one curve per dimension d, the best vocabulary at each k.

    Squares mark k = d. All points are from the longest round in which at least three head dimensions took part, so that
    they had the same training.
    """
    compared = _comparable(search)
    curves = _curves(compared, search)
    series, square = [], []
    for (dim, points), tone in zip(curves.items(), CURVES, strict=False):
        marks = [Mark(shape.spec.head_dim, shape.score(search.by)) for shape in points]
        series.append(ChartSeries(f"d = {dim}", marks, "joined", tone))
        square += [mark for mark in marks if mark.x == dim]
    ks = sorted({shape.spec.head_dim for points in curves.values() for shape in points})
    vocabs = {shape.spec.vocab for shape in compared}
    tables = f"N = {vocabs.pop()}, " if len(vocabs) == 1 else ""
    most = max(shape.spec.parameters() for shape in compared)
    return XYChart(
        title or f"{tables}at most {most:,} parameters, heads as many as they pay for, {compared[0].steps:,} steps",
        "head dimension k",
        "bits per parameter" if search.by == "code" else "bits per parameter (from answers)",
        [
            *series,
            ChartSeries("k = d", square, "points", "vermilion", shape="square"),
            *published_levels(ks[0], ks[-1]),
        ],
        log_x=True,
        y_range=(0.0, 4.0),
        x_ticks=ks,
    )


def _comparable(search: Densest) -> tuple[ShapeResult, ...]:
    for shapes in reversed(search.rounds):
        if len({shape.spec.head_dim for shape in shapes}) >= 3:
            return shapes
    raise InputError("figure: the search compared fewer than three head dimensions; leave `head_dims` out, or add some")


def _curves(shapes: tuple[ShapeResult, ...], search: Densest) -> dict[int, list[ShapeResult]]:
    """The best shape at each k, for the densest dimensions that have more than one k."""
    best: dict[tuple[int, int], ShapeResult] = {}
    for shape in shapes:  # best first
        best.setdefault((shape.spec.dim, shape.spec.head_dim), shape)
    dims: dict[int, list[ShapeResult]] = {}
    for (dim, _), shape in sorted(best.items()):
        dims.setdefault(dim, []).append(shape)
    several = [dim for dim, members in dims.items() if len(members) > 1]
    order = sorted(several, key=lambda dim: -max(shape.score(search.by) for shape in dims[dim]))
    return {dim: dims[dim] for dim in sorted(order[: len(CURVES)])}
