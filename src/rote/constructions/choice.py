"""Which methods are tried, and in which order, when a task is built without naming one.

The smallest Transformer comes first, by the parameters that each method's own `spec` gives for these facts: those that
every other command takes, which are the attention-only ones. A method whose estimated CPU time exceeds what is left of
the budget is left out, unless none is faster. Beyond `LINEAR_FROM` facts `rote.memory_layer` is always faster: its time
grows with the facts, not with their square. Facts that no attention-only Transformer holds go to the fallbacks, in the
order of the sizes measured on countries and airports; the linear memories come after the integer networks, and last a
plain table with one row per key.

`smallest` compares complete folders over all architectures instead: the methods that take least time first, as long as
the budget lasts, without those whose weights alone are expected to be twice the smallest folder so far.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rote.constructions import CONSTRUCTIONS
from rote.constructions.construction import Abandoned, Construction, Request, parse_options
from rote.errors import CheckFailed, InputError
from rote.models.spec import Dtype, Spec, size_of
from rote.tasks import AssociationTask, DistributionTask, Task, VectorTask
from rote.threads import cpu_time

FLOAT_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "auto": 4}
INDEX_BYTES = 8


@dataclass(frozen=True)
class ExpectedSize:
    """Parameters and bytes of the tensors of a model that has not been built."""

    parameters: int
    weights: int
    cpu_seconds: float
    """Estimate of what building takes."""
    spec: Spec | None = None
    """The specification that the build starts from, where one is known."""
    estimated: str = ""
    """Why the built size may differ; empty where it is exact."""


def expected_size(construction: Construction[Any, Any], request: Request[Any, Any]) -> ExpectedSize | None:
    """The size by the method's own formula or estimate; none if it has neither, an error if it rejects the facts."""
    if construction.spec is None:
        if construction.estimate is None:
            return None
        size = construction.estimate(request)
        seconds = construction.expected_seconds(request)
        return ExpectedSize(size.parameters, size.bytes, seconds, estimated=size.basis)
    spec = construction.spec(request)
    floats, integers = FLOAT_BYTES[request.dtype] * spec.parameters(), INDEX_BYTES * size_of(spec.index_shapes())
    reason = construction.size_may_differ(request) if construction.size_may_differ else ""
    weights = floats + integers
    if construction.estimate is not None:
        size = construction.estimate(request)
        weights, reason = size.bytes, size.basis
    return ExpectedSize(spec.parameters(), weights, construction.expected_seconds(request), spec, estimated=reason)


DEFAULT_METHODS: dict[type, str] = {
    AssociationTask: "dana2025.theorem1",
    DistributionTask: "dana2025.sequence_encoder",
    VectorTask: "mahdavi2024.theorem1",
}
"""Methods for tasks whose sizes or options were given without a method."""


class Shape(NamedTuple):
    """A method that makes attention-only Transformers, at one embedding dimension."""

    method: str
    dim: int | None = None
    """None: the method chooses it."""
    most: int | None = None
    """The most facts that it is tried on."""


TRANSFORMERS = (
    Shape("rote.selector"),
    Shape("dana2025.corollary1", most=500),
    Shape("dana2025.theorem1", dim=3, most=1_000),
    Shape("dana2025.theorem1", dim=4, most=2_000),
    Shape("dana2025.theorem1", dim=6, most=10_000),
    Shape("dana2025.theorem1", dim=8, most=20_000),
    Shape("rote.readout"),
    Shape("dana2025.theorem1"),
)
"""Attention-only Transformers of which the smallest is chosen. Parameters grow with the dimension, but the fewer
dimensions there are, the closer are the answers' vectors, and beyond these numbers of facts float32 rounds away the
margins or most random initializations are too ill-conditioned."""

STURDY = 0.25
"""Rounding of logit margins, as a share of the smallest, above which a larger method is tried instead."""

HOPELESS = 2
"""Weights expected to take so many times the smallest folder so far are not built: estimates were at most 35 % off."""
OVERRUN = 3.0
"""Times its estimate that a candidate may take while a faster one is there: a fit that will fail is slow to say so."""

LINEAR = "rote.memory_layer"
LINEAR_FROM = 20_000
"""Facts beyond which the method that takes linear time is tried as soon as the budget does not allow another."""

LEAST_BUDGET, MOST_BUDGET = 30.0, 120.0
"""CPU seconds of the choice of a method, where the user gives none."""
FACTS_PER_BUDGETED_SECOND = 500
"""Between them the budget grows with the facts: so slow may a Transformer be that every export takes."""

FALLBACKS: dict[str, int] = {
    LINEAR: 1_000_000_000,
    "kajitsuka2025.embedding_table": 200_000,
    "kajitsuka2025.deep_sets": 200_000,
    "madden2025": 20_000,
    "nichani2024.trained": 20_000,
    "cabannes2024.least_squares": 50_000,
    "dana2025.proposition3": 10_000_000,
}
"""Methods for associations that no Transformer holds, with the most facts that each is tried on: beyond it a solve no
longer fits in memory, or takes an hour."""


@dataclass(frozen=True)
class Candidate:
    """A method that may hold the facts, with the size it starts from."""

    method: str
    parameters: int
    cpu_seconds: float = 0.0
    weights: int = 0
    """Expected bytes of the weights."""
    dim: int | None = None
    """Embedding dimension. None: the method chooses it."""

    @property
    def name(self) -> str:
        """The method, with the dimension if it is given."""
        return self.method if self.dim is None else f"{self.method} dim={self.dim}"

    def __str__(self) -> str:
        return f"{self.name}, {self.parameters:,} parameters"


def usual_budget(facts: int) -> float:
    """CPU seconds for the choice of a method among so many facts, if none are given."""
    return min(MOST_BUDGET, max(LEAST_BUDGET, math.ceil(facts / FACTS_PER_BUDGETED_SECOND)))


@dataclass
class Budget:
    """CPU seconds for the choice of a method, from when it begins: of the building thread and of those it starts.

    CPU seconds, so that a busy machine chooses the same method.
    """

    seconds: float
    began: float = field(default_factory=cpu_time)

    @property
    def deadline(self) -> float:
        return self.began + self.seconds

    @property
    def left(self) -> float:
        return self.deadline - cpu_time()

    @property
    def used(self) -> float:
        return cpu_time() - self.began

    def reserve(self, others: Sequence[Candidate]) -> float:
        """CPU seconds to keep for the quickest of these, if the budget allows it at all."""
        quickest = min((other.cpu_seconds for other in others), default=0.0)
        return quickest if quickest <= self.left else 0.0

    def deadline_for(self, candidate: Candidate, reserved: float = 0.0) -> float:
        """When to give a candidate up: where the time is spent, or well after it should have ended."""
        return min(self.deadline - reserved, cpu_time() + OVERRUN * candidate.cpu_seconds)


def smallest_first(task: AssociationTask, dtype: Dtype | None) -> tuple[list[Candidate], list[Abandoned]]:
    """Transformers that may hold the facts, fewest parameters first, and methods that reject them."""
    candidates, left = [], []
    for method, dim, most in TRANSFORMERS:
        if most is not None and task.distinct_keys > most:
            continue
        construction = CONSTRUCTIONS[method]
        request: Request[Any, Any] = Request(
            task, parse_options(construction, {}), dim=dim, dtype=dtype or construction.default_dtype
        )
        if construction.spec is None:
            raise ValueError(f"{method} does not tell its size, so it cannot be compared")
        try:
            spec = construction.spec(request)
        except InputError as error:
            rejected = Abandoned(method, str(error).removeprefix(f"{method}: "))
            left.extend([rejected] if rejected not in left else [])
            continue
        seconds = 0.0 if construction.cpu_seconds is None else construction.cpu_seconds(request)
        candidates.append(Candidate(method, spec.parameters(), seconds, dim=dim))
    return sorted(candidates, key=lambda candidate: candidate.parameters), left


def quickest_first(task: AssociationTask, dtype: Dtype | None) -> tuple[list[Candidate], list[Abandoned]]:
    """Every method that guarantees all facts of such a task, least CPU time first, and methods that reject them."""
    candidates, left = [], []
    for method, construction in CONSTRUCTIONS.items():
        if not isinstance(task, construction.tasks) or not construction.exact:
            continue
        request: Request[Any, Any] = Request(
            task, parse_options(construction, {}), dtype=dtype or construction.default_dtype
        )
        try:
            size = expected_size(construction, request)
        except InputError as error:
            left.append(Abandoned(method, str(error).removeprefix(f"{method}: ")))
            continue
        if size is None:
            candidates.append(Candidate(method, 0, construction.expected_seconds(request)))
        else:
            candidates.append(Candidate(method, size.parameters, size.cpu_seconds, size.weights))
    return sorted(candidates, key=lambda candidate: candidate.cpu_seconds), left


def fallbacks(task: AssociationTask) -> tuple[list[str], list[Abandoned]]:
    """Methods to try when no Transformer holds the facts, and those that are left out because there are too many."""
    methods, left = [], []
    for method, most in FALLBACKS.items():
        if task.distinct_keys <= most:
            methods.append(method)
        else:
            left.append(Abandoned(method, f"not tried beyond {most:,} facts; name it to try it"))
    return methods, left


def default_method(task: Task) -> str:
    """The method for a task whose sizes or options are given but whose method is not."""
    return DEFAULT_METHODS[type(task)]


def none_holds(task: AssociationTask, dtype: str | None, abandoned: list[Abandoned]) -> CheckFailed:
    """Why no method ended in a model that recalls everything, one line for each."""
    remedy = (
        "name a `method` and its sizes, or try another `seed`" if dtype in (None, "float64") else "leave `dtype` out"
    )
    reasons = "\n".join(f"  - {attempt}" for attempt in Abandoned.grouped(abandoned))
    return CheckFailed(f"no method stored all {task.facts:,} facts in {dtype or 'float32'}; {remedy}\n{reasons}")
