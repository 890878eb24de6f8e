"""The planner's state: the facts, the sizes of a model, the precision. All of it is in the address.

What theory guarantees for the sizes (`rote bounds`) is answered at once. What building makes of the facts (`rote plan`)
is computed in the queue and does not depend on the sliders.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlencode

from rote.charts import BarChart, XYChart
from rote.errors import InputError
from rote.experiments.sizing.charts import theory_chart
from rote.experiments.sizing.row import BITS, PlanRow
from rote.experiments.sizing.theory import smallest_by_theory
from rote.models.attention_only import AttentionOnly
from rote.models.spec import Dtype
from rote.report.build_command import build_command
from rote.report.plan_charts import growth_charts
from rote.tasks.shape import TaskShape
from rote.theory import Bounds, bounds
from rote.theory.sizes import theorem1_spec
from rote.web.facts_choice import MOST_FACTS, FactsChoice, chosen_facts
from rote.web.query import Query

DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16", "float16", "float64")
Variant = Literal["per-head", "shared"]
VARIANTS: tuple[Variant, ...] = ("per-head", "shared")
LIMITS = {"vocab": (2, 1_000_000), "context": (2, 1024), "dim": (1, 8192), "head_dim": (1, 8192), "heads": (1, 65_536)}
"""Sizes that the page's sliders reach."""
FACTS_LIMITS = (1, MOST_FACTS)


@dataclass(frozen=True)
class PlannerState:
    """Everything that a plan depends on."""

    facts: FactsChoice
    spec: AttentionOnly
    dtype: Dtype | None
    """Precision of the builds. Default: each method's own, as for `rote plan`."""

    @property
    def precision(self) -> Dtype:
        """In which the bytes of a model are counted."""
        return self.dtype or "float32"

    @property
    def model_bytes(self) -> int:
        return self.spec.parameters() * BITS[self.precision] // 8

    @property
    def address(self) -> str:
        sizes = {name: getattr(self.spec, name) for name in (*LIMITS, "layers", "variant")}
        return "/planner?" + urlencode({**self.facts.address, **sizes, **self._dtype})

    @property
    def plan_address(self) -> str:
        """Of the plan alone, which the sizes do not change."""
        return "/planner/plan?" + urlencode({**self.facts.address, **self._dtype})

    @property
    def _dtype(self) -> dict[str, str]:
        return {} if self.dtype is None else {"dtype": self.dtype}

    @property
    def bound_command(self) -> str:
        sizes = " ".join(f"--{name.replace('_', '-')} {getattr(self.spec, name)}" for name in LIMITS)
        more = f" --layers {self.spec.layers}" if self.spec.layers > 1 else ""
        return f"rote bounds {sizes}{more}" + (" --variant shared" if self.spec.variant == "shared" else "")

    @property
    def plan_command(self) -> str:
        return f"rote plan {self._source}" + ("" if self.dtype is None else f" --dtype {self.dtype}")

    @property
    def build_command(self) -> str:
        sizes = f"--dim {self.spec.dim} --head-dim {self.spec.head_dim} --heads {self.spec.heads}"
        return f"rote build {self._source} {sizes} -o model"

    @property
    def _source(self) -> str:
        if self.facts.kind != "none":
            return shlex.quote(self.facts.name)
        shape = self.facts.shape
        return f"random:vocab={shape.vocab},context={shape.context},facts={shape.associations},seed=1"

    def row_command(self, row: PlanRow) -> str | None:
        """The command that builds a row of the plan."""
        return build_command(row, self.facts.name, self.dtype)

    def bounds(self) -> Bounds:
        return bounds(self.spec)

    def bounds_chart(self, every: Bounds) -> BarChart:
        return every.chart(self.facts.shape.associations, "What theory guarantees a model of these sizes")

    def theory(self) -> list[PlanRow]:
        """The smallest model that each result gives for the shape of the facts."""
        return smallest_by_theory(self.facts.shape, BITS[self.precision])

    def theory_chart(self, rows: list[PlanRow]) -> BarChart:
        return theory_chart(rows, f"Bytes of the smallest model by each result, in {self.precision}")

    def growth_charts(self) -> tuple[XYChart, XYChart]:
        return _growth(tuple(self.facts.shape.model_dump().values()), self.precision)


def state_of(query: Query) -> PlannerState:
    """The state that an address describes, with defaults chosen for the facts."""
    chosen = chosen_facts(query)
    start = _start(chosen.shape)
    sizes: dict[str, Any] = {
        name: query.whole(name, getattr(start, name), 1, high) for name, (_, high) in LIMITS.items()
    }
    layers = query.whole("layers", 1, 1, 256)
    variant: Variant = query.choice("variant", VARIANTS, "per-head")
    named: Dtype = query.choice("dtype", DTYPES, "float32")
    dtype = named if "dtype" in query else None
    query.check()
    return PlannerState(chosen, AttentionOnly(**sizes, layers=layers, variant=variant), dtype)


def _start(shape: TaskShape) -> AttentionOnly:
    """The model by Theorem 1, within the sliders' range; bounds are shown for facts that it cannot hold too."""
    try:
        spec = theorem1_spec(shape)
    except InputError:
        spec = AttentionOnly(vocab=max(2, shape.vocab), context=max(2, shape.context), dim=16, head_dim=8, heads=16)
    return spec.model_copy(update={name: min(high, getattr(spec, name)) for name, (_, high) in LIMITS.items()})


@lru_cache(maxsize=64)
def _growth(values: tuple[Any, ...], dtype: str) -> tuple[XYChart, XYChart]:
    shape = TaskShape(**dict(zip(TaskShape.model_fields, values, strict=True)))
    return growth_charts(shape, dtype)
