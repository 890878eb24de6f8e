"""Capacity of a specification: the most facts that its models recall in full, compared with the bounds on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rote.arguments import typed
from rote.display import Tabular, frame_of, html_rows
from rote.errors import InputError
from rote.experiments.capacities.built import built_capacity
from rote.experiments.capacities.search import Capacity
from rote.experiments.capacities.trained import trained_capacity
from rote.experiments.executor import HERE
from rote.models.attention_only import AttentionOnly
from rote.progress import SILENT, Progress
from rote.tasks import require_associations
from rote.tasks.facts import Facts, facts
from rote.theory import Bound, bounds

if TYPE_CHECKING:
    import polars

METHODS = ("dana2025.theorem1", "rote.readout")
"""Constructions that fill a model of given sizes."""


@dataclass(frozen=True)
class Capacities(Tabular):
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

    def frame(self) -> polars.DataFrame:
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
        rows = tuple(built_capacity(spec, method, **search) for method in methods)
    return Capacities(spec, rows, tuple(bound for bound in bounds(spec) if bound.applies), seed)
