"""Capacity of a specification: the most facts that its models recall in full, compared with the bounds on it.

By construction, a method of `rote.build` stores the first T facts of a table. By training, the best of several seeds
recalls them: a lower estimate, since longer training or more seeds may recall more.

The bisection behind every capacity: the largest number of facts that models of one size recall in full.

Tasks are nested (the first T facts of one table), so that more facts are harder and bisection makes sense. The boundary
is not sharp: the result was recalled, which does not mean that one more fact could not be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rote.arguments import typed
from rote.charts import Bar, BarChart
from rote.charts.plotting import Plotted
from rote.constructions.build import build
from rote.display import DataFrame, Tabular, frame_of, html_rows
from rote.errors import InputError, RoteError
from rote.experiments.executor import HERE
from rote.experiments.seeds import SeedTrainer, train_seeds
from rote.experiments.sizing.theory import theorem1_guarantee
from rote.models.attention_only import AttentionOnly
from rote.models.grid import GridName, is_grid
from rote.models.spec import Dtype
from rote.progress import SILENT, Progress, Stage
from rote.tasks import AssociationTask, random_associations, require_associations
from rote.tasks.facts import Facts, facts
from rote.theory import Bound, Bounds, bounds
from rote.training.protocol import EngineName
from rote.training.train import protocol_of, scores_scaled

MOST_FACTS = 2**20
"""Largest number of facts tried, if there are as many contexts."""


@dataclass(frozen=True)
class CapacityTry:
    """One attempt: the number of facts, whether all were recalled, and the reason if not."""

    facts: int
    complete: bool
    seconds: float
    reason: str | None = None


@dataclass(frozen=True)
class Capacity:
    """The largest number of facts that was recalled in full."""

    method: str
    """Id of the construction, or `training`."""
    recalled: int
    rejected: int | None
    """Smallest number of facts that was not recalled in full; None if the table was exhausted first."""
    bits: float
    """Entropy of the recalled answers."""
    parameters: int
    """Of the model, which may be fewer than the sizes allow: on a grid, queries and keys have rank one."""
    tries: tuple[CapacityTry, ...]
    weight_bits: int
    """Bits of all stored weights, with the scales of a grid."""

    @property
    def bits_per_parameter(self) -> float:
        return self.bits / self.parameters

    def summary(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "recalled": self.recalled,
            "rejected": self.rejected,
            "bits_per_parameter": self.bits_per_parameter,
            "bits_per_weight_bit": self.bits / self.weight_bits,
            "tries": len(self.tries),
            "seconds": round(sum(attempt.seconds for attempt in self.tries), 2),
        }


def largest_recalled(
    attempt: Callable[[int], str | None],
    start: int,
    most: int,
    tolerance: float,
    stage: Stage,
    progress: Progress = SILENT,
) -> tuple[int, int | None, list[CapacityTry]]:
    """The largest number of facts for which `attempt` succeeds, the smallest for which it fails, and every attempt.

    `attempt` returns a reason if it fails. From `start` facts the number grows or shrinks by halves until a success
    lies below a failure. The gap is then bisected until it is at most a fraction `tolerance` of the success.
    """
    low, high, tries = 0, most + 1, []
    facts = max(1, min(start, most))
    while high - low > max(1, tolerance * low):
        failure = f"not {high})" if high <= most else "no failure)"
        stage.describe(f"trying {facts} facts (recalled {low}, {failure}")
        began = time.perf_counter()
        reason = attempt(facts)
        progress.record({"facts": facts, "stored": reason is None})
        tries.append(CapacityTry(facts, reason is None, round(time.perf_counter() - began, 3), reason))
        stage.advance()
        low, high = (low, facts) if reason is not None else (facts, high)
        if low == 0:
            facts = high // 2
            if facts == 0:
                break
        elif high > most:
            facts = min(most, low + max(1, low // 2))
        else:
            facts = (low + high) // 2
    return low, high if high <= most else None, tries


def table_for(spec: AttentionOnly, task: AssociationTask | None, seed: int) -> AssociationTask:
    """The table whose first facts are tried: the given one in random order, or a random one of the model's sizes."""
    if task is None:
        contexts = spec.vocab**spec.context
        return random_associations(spec.vocab, spec.context, min(contexts, MOST_FACTS), seed=seed)
    task = task.majority()
    if (task.vocab, task.context) != (spec.vocab, spec.context):
        raise InputError(
            f"task: its vocabulary of {task.vocab} and context of {task.context} tokens differ from the model's "
            f"{spec.vocab} and {spec.context}"
        )
    return task.take(np.random.default_rng(seed).permutation(task.facts))


def built_capacity(
    spec: AttentionOnly,
    method: str,
    *,
    task: AssociationTask | None = None,
    start: int | None = None,
    tolerance: float = 0.02,
    dtype: Dtype | GridName = "float32",
    seed: int = 0,
    progress: Progress = SILENT,
    **options: Any,
) -> Capacity:
    """The largest T, within `tolerance`, such that `rote.build` stores the first T facts of the task with full recall.

    Default of `task`: a random look-up table of the specification's sizes. The search starts at `start` facts. Default:
    the guarantee of Theorem 1. `dtype` is that of the stored weights, a grid such as int8 included. `options` are those
    of the method.
    """
    table = table_for(spec, task, seed)
    stored = {}

    def attempt(facts: int) -> str | None:
        try:
            stored[facts] = build(
                table.take(slice(0, facts)), method,
                dim=spec.dim, head_dim=spec.head_dim, heads=spec.heads,
                dtype=dtype, seed=seed, **options,
            ).model  # fmt: skip
        except RoteError as error:
            return str(error)
        return None

    start = start or theorem1_guarantee(spec) or 1
    with progress.stage(f"capacity of {method}") as stage:
        recalled, rejected, tries = largest_recalled(attempt, start, table.facts, tolerance, stage, progress)
    if not recalled:
        raise InputError(f"{method} stores not even one fact in this model. {tries[-1].reason}")
    bits = table.take(slice(0, recalled)).entropy_bits
    model = stored[recalled]
    return Capacity(method, recalled, rejected, bits, model.parameters, tuple(tries), 8 * model.bytes)


STEPS = 4000
"""Steps per model. Fewer than the 10,000 of the protocol `best`, since a search trains a dozen models."""
POLISH = 300
"""L-BFGS iterations after the last step."""


def trained_capacity(
    spec: AttentionOnly,
    *,
    task: AssociationTask | None = None,
    start: int | None = None,
    tolerance: float = 0.02,
    seed: int = 0,
    seeds: int = 2,
    protocol: str = "best",
    dtype: GridName | None = None,
    workers: int | None = None,
    engine: EngineName = "auto",
    on: str = HERE,
    progress: Progress = SILENT,
    **changes: Any,
) -> Capacity:
    """The largest T, within `tolerance`, such that the best of `seeds` models recalls the first T facts of the task.

    Each attempt takes 4000 steps of the protocol and 300 iterations of L-BFGS unless `changes` (fields of the protocol,
    as in `rote.train`) say otherwise. With `dtype`, models are trained on that grid, by its own protocol. `on` names
    the executor of the models of one attempt; attempts run in sequence. The same arguments give the same result.
    """
    table = table_for(spec, task, seed)
    model = scores_scaled(spec)
    settings = changes if protocol == "paper" or dtype else {"steps": STEPS, "polish": POLISH, **changes}
    if dtype is not None:
        protocol, settings = "fast", {**settings, "dtype": dtype}
    stored = {}

    def attempt(facts: int) -> str | None:
        part = table.take(slice(0, facts))
        trainer = SeedTrainer(part, model, protocol_of(protocol, model, part, **settings), engine)
        trained = train_seeds(trainer, range(seed, seed + seeds), on=on, workers=workers, progress=SILENT)
        accuracies = [model.accuracy for model in trained.models]
        recalled = [round(accuracy * facts) for accuracy in accuracies if accuracy is not None]
        if not recalled:
            return f"training diverged in all of {seeds} seeds"
        most, stored[facts] = max(recalled), trained.models[0].model.bytes
        return None if most == facts else f"the best of {seeds} models recalls {most} of {facts} facts"

    start = start or theorem1_guarantee(spec) or 1
    with progress.stage("capacity by training") as stage:
        recalled, rejected, tries = largest_recalled(attempt, start, table.facts, tolerance, stage, progress)
    bits = table.take(slice(0, recalled)).entropy_bits if recalled else 0.0
    size = 8 * next(iter(stored.values()), 4 * spec.parameters())
    return Capacity("training", recalled, rejected, bits, spec.parameters(), tuple(tries), size)


METHODS = ("dana2025.theorem1", "rote.readout")
"""Constructions that fill a model of given sizes. On a grid: the first alone."""


@dataclass(frozen=True)
class Capacities(Tabular, Plotted):
    """Capacities of one specification, one row per method, and every bound that applies to it.

    >>> import rote
    >>> spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    >>> found = rote.capacity(spec, methods=["rote.readout"])
    >>> found.rows[0].recalled <= 36, found.frame().columns[:2]
    (True, ['method', 'recalled'])
    """

    spec: AttentionOnly
    rows: tuple[Capacity, ...]
    bounds: tuple[Bound, ...]
    seed: int

    def chart(self) -> BarChart:
        """Facts recalled in full by each method, beside the bounds of this specification."""
        bars = [Bar(row.method, float(row.recalled), f"{row.method}: {row.recalled:,} facts") for row in self.rows]
        best = max((row.recalled for row in self.rows), default=0)
        title = f"{best:,} facts recalled in full by {self.spec.parameters():,} parameters"
        stated = Bounds(self.bounds).chart()
        return replace(stated, title=title, bars=[*(replace(bar, tone="green") for bar in bars), *stated.bars],
                       legend={"green": "measured here", **stated.legend})  # fmt: skip

    def frame(self) -> DataFrame:
        """A data frame with one row per method."""
        return frame_of(row.summary() for row in self.rows)

    def _repr_html_(self) -> str:
        rows = [row.summary() for row in self.rows]
        return html_rows(f"{self.spec.parameters():,} parameters", list(rows[0]), [list(row.values()) for row in rows])

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "spec": self.spec.to_config(),
            "parameters": self.spec.parameters(),
            "capacities": [row.summary() for row in self.rows],
            "bounds": {bound.id: bound.associations for bound in self.bounds},
            "seed": self.seed,
        }


@typed
def capacity(
    spec: AttentionOnly,
    *,
    by: Literal["building", "training"] = "building",
    methods: Sequence[str] = METHODS,
    task: Facts | None = None,
    tolerance: float = 0.02,
    seed: int = 0,
    on: str = HERE,
    progress: Progress = SILENT,
    **options: Any,
) -> Capacities:
    """The most facts that models of these sizes recall in full, by each of `methods` or by training.

    The facts are the first ones of a random look-up table, or of `task` in random order. The search ends when the
    largest success and the smallest failure differ by at most a fraction `tolerance`. `options` are those of
    `built_capacity` (`dtype`, options of the method) or `trained_capacity` (`seeds`, `steps`, ...). `on` names the
    executor of the seeds of one attempt (`here`, `ray` or the address of a Ray cluster); attempts run in sequence.

    >>> import rote
    >>> spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    >>> found = rote.capacity(spec, methods=["dana2025.theorem1"])
    >>> found.rows[0].recalled >= 12  # Hk + d of them, at least
    True
    """
    if task is not None:
        task = require_associations(facts(task), "capacity counts associations; give a table without weights")
    if by not in ("building", "training"):
        raise InputError(f"`by={by}`: is not one of building, training")
    if by == "building" and on != HERE:
        raise InputError(
            f"`on={on}`: a search by building tries one size after another, so there is nothing to distribute; "
            "leave it out, or search `by=training`, whose seeds are trained in parallel"
        )
    if not 0 <= tolerance < 1:
        raise InputError(f"`tolerance={tolerance}`: must be at least 0 and less than 1")
    search: dict[str, Any] = {"task": task, "tolerance": tolerance, "seed": seed, "progress": progress, **options}
    if by == "training":
        rows = (trained_capacity(spec, on=on, **search),)
    else:
        chosen = METHODS[:1] if tuple(methods) == METHODS and is_grid(options.get("dtype") or "") else methods
        rows = tuple(built_capacity(spec, method, **search) for method in chosen)
    return Capacities(spec, rows, tuple(bound for bound in bounds(spec) if bound.applies), seed)
