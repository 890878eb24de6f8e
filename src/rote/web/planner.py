"""The planner: what theory promises a model of given sizes, and the smallest model of each method for given facts.

All that a plan depends on is in its address: the sizes of the model, and the facts by their name or, for a table that
was dropped on the page, by the few numbers that theory needs of it. The table itself is never kept.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlencode

from rote.errors import InputError
from rote.experiments.plan_built import BITS
from rote.experiments.plan_row import PlanRow
from rote.experiments.plan_theory import smallest_by_theory
from rote.experiments.storage import zipped_bytes
from rote.models.attention_only import AttentionOnly
from rote.report.charts import BarChart, XYChart
from rote.report.plan_charts import bounds_chart, growth_chart, plan_chart
from rote.tasks import require_tokens
from rote.tasks.facts import facts, facts_in, source_names
from rote.tasks.shape import TaskShape
from rote.theory import bounds
from rote.theory.bound import Bound
from rote.theory.sizes import theorem1_spec
from rote.web.query import Query

FIRST = "countries"
"""What is shown to someone who asks for nothing."""
Dtype = Literal["float32", "bfloat16", "float16", "float64"]
DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16", "float16", "float64")
Variant = Literal["per-head", "shared"]
VARIANTS: tuple[Variant, ...] = ("per-head", "shared")
LIMITS = {"vocab": (2, 1_000_000), "context": (2, 1024), "dim": (1, 8192), "head_dim": (1, 8192), "heads": (1, 65_536)}
"""Sizes that the page's sliders reach."""
SHAPE = ("associations", "vocab_of_table", "context_of_table", "key_tokens", "last_tokens", "groups", "answers", "bits")
_reading = threading.Lock()


@dataclass(frozen=True)
class FactsChoice:
    """The facts that are planned for."""

    name: str
    """A named source, or the name of a table that was dropped on the page."""
    shape: TaskShape
    zipped: int
    dropped: bool = False

    @property
    def address(self) -> dict[str, Any]:
        """As parameters of an address."""
        if not self.dropped:
            return {"facts": self.name}
        shape = self.shape.model_dump()
        named = {name: shape[name.removesuffix("_of_table")] for name in SHAPE}
        return {"table": self.name, **named, "zipped": self.zipped}


@dataclass(frozen=True)
class PlannerState:
    """Everything that a plan depends on."""

    facts: FactsChoice
    spec: AttentionOnly
    dtype: Dtype

    @property
    def address(self) -> str:
        sizes = {name: getattr(self.spec, name) for name in (*LIMITS, "layers", "variant")}
        return "/planner?" + urlencode({**self.facts.address, **sizes, "dtype": self.dtype})

    @property
    def bound_command(self) -> str:
        sizes = " ".join(f"--{name.replace('_', '-')} {getattr(self.spec, name)}" for name in LIMITS)
        more = f" --layers {self.spec.layers}" if self.spec.layers > 1 else ""
        return f"rote bound {sizes}{more}" + (" --variant shared" if self.spec.variant == "shared" else "")

    @property
    def plan_command(self) -> str:
        return f"rote plan {self.facts.name}" + ("" if self.dtype == "float32" else f" --dtype {self.dtype}")

    @property
    def build_command(self) -> str:
        sizes = f"--dim {self.spec.dim} --head-dim {self.spec.head_dim} --heads {self.spec.heads}"
        return f"rote build {self.facts.name} {sizes} -o model"

    def bounds(self) -> list[Bound]:
        return bounds(self.spec)

    def bounds_chart(self, every: list[Bound]) -> BarChart:
        return bounds_chart(every, self.facts.shape.associations, "What theory promises a model of these sizes")

    def plan(self) -> tuple[PlanRow, ...]:
        return _plan(self.facts, self.dtype)

    def plan_chart(self) -> BarChart:
        return plan_chart(
            self.plan(), f"Bytes of the smallest model by each result for {self.facts.name}, in {self.dtype}"
        )

    def growth_chart(self) -> XYChart:
        return _growth(self.facts, self.dtype)


def state_of(query: Query) -> PlannerState:
    """The state that an address describes; what it leaves open is chosen for the facts."""
    chosen = _facts(query)
    try:
        start = theorem1_spec(chosen.shape)
    except InputError:  # facts that no attention-only model can hold still have bounds to look at
        start = AttentionOnly(
            vocab=max(2, chosen.shape.vocab), context=max(2, chosen.shape.context), dim=16, head_dim=8, heads=16
        )
    sizes: dict[str, Any] = {
        name: query.whole(name, getattr(start, name), 1, high) for name, (_, high) in LIMITS.items()
    }
    layers = query.whole("layers", 1, 1, 256)
    variant: Variant = query.choice("variant", VARIANTS, "per-head")
    dtype: Dtype = query.choice("dtype", DTYPES, "float32")
    query.check()
    return PlannerState(chosen, AttentionOnly(**sizes, layers=layers, variant=variant), dtype)


def dropped(data: bytes, name: str) -> FactsChoice:
    """The table in a file that was sent to the page, by the readers that read files."""
    task = require_tokens(facts_in(data, name), "plans are for token tasks")
    return FactsChoice(name, task.shape, zipped_bytes(task), dropped=True)


def _facts(query: Query) -> FactsChoice:
    if "table" not in query:
        name = query.text("facts") or FIRST
        if name not in source_names():
            names = ", ".join(source_names())
            raise InputError(f"facts={name[:80]}: the page knows {names} by name; drop a file on it for your own")
        return _named(name)
    name = query.text("table")[:120]
    whole = {part: query.whole(part, 1) for part in SHAPE if part != "bits"}
    bits, zipped = query.real("bits", 0.0), query.whole("zipped", 1)
    query.check()
    shape = TaskShape(
        associations=whole["associations"],
        vocab=whole["vocab_of_table"],
        context=whole["context_of_table"],
        key_tokens=whole["key_tokens"],
        last_tokens=whole["last_tokens"],
        groups=whole["groups"],
        answers=whole["answers"],
        bits=bits,
    )
    if shape.key_tokens ** min(shape.context, 60) < shape.associations or shape.last_tokens > shape.key_tokens:
        raise InputError("this address: its table has more facts than its tokens can spell")
    return FactsChoice(name, shape, zipped, dropped=True)


def _named(name: str) -> FactsChoice:
    with _reading:  # so that a source that takes long is read once
        return _read(name)


@lru_cache(maxsize=8)
def _read(name: str) -> FactsChoice:
    task = require_tokens(facts(name), "plans are for token tasks")
    return FactsChoice(name, task.shape, zipped_bytes(task))


@lru_cache(maxsize=64)
def _plan_of(values: tuple[Any, ...], zipped: int, dtype: str) -> tuple[PlanRow, ...]:
    shape = TaskShape(**dict(zip(TaskShape.model_fields, values, strict=True)))
    return tuple(smallest_by_theory(shape, BITS[dtype], zipped))


def _plan(chosen: FactsChoice, dtype: str) -> tuple[PlanRow, ...]:
    return _plan_of(tuple(chosen.shape.model_dump().values()), chosen.zipped, dtype)


@lru_cache(maxsize=64)
def _growth_of(values: tuple[Any, ...], dtype: str) -> XYChart:
    return growth_chart(TaskShape(**dict(zip(TaskShape.model_fields, values, strict=True))), dtype)


def _growth(chosen: FactsChoice, dtype: str) -> XYChart:
    return _growth_of(tuple(chosen.shape.model_dump().values()), dtype)
