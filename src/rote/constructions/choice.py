"""Which methods are tried, and in which order, when a task is built without naming one.

The default method comes first, with its own redraws and added heads. What comes after it is in the order of the sizes
measured on countries and airports, smallest first; the linear memories follow, which hold anything in any dtype at the
price of a vector per key, and last a plain table with a row per key. `rote.readout` makes smaller models than most of
these, but its fits take minutes: it is there to be asked for by name.
"""

from __future__ import annotations

from rote.constructions.construction import Abandoned
from rote.errors import CheckFailed
from rote.tasks import AssociationTask, DistributionTask, Task, VectorTask

DEFAULT_METHODS: dict[type, str] = {
    AssociationTask: "dana2025.theorem1",
    DistributionTask: "dana2025.sequence_encoder",
    VectorTask: "mahdavi2024.theorem1",
}

FALLBACKS: dict[str, int] = {
    "kajitsuka2025.embedding_table": 200_000,
    "kajitsuka2025.deep_sets": 200_000,
    "madden2025": 20_000,
    "nichani2024.trained": 20_000,
    "cabannes2024.least_squares": 50_000,
    "dana2025.proposition3": 10_000_000,
}
"""Methods for associations after the default one, with the most facts that each is tried on: beyond it a solve no
longer fits in memory, or takes an hour."""


def methods_for(task: Task) -> tuple[list[str], list[Abandoned]]:
    """Methods to try in turn on this task, and those that are left out because it has too many facts for them."""
    methods, left = [DEFAULT_METHODS[type(task)]], []
    if isinstance(task, AssociationTask):
        for method, most in FALLBACKS.items():
            if task.distinct_keys <= most:
                methods.append(method)
            else:
                left.append(Abandoned(method, f"not tried beyond {most:,} facts; ask for it by name"))
    return methods, left


def none_holds(task: AssociationTask, dtype: str | None, abandoned: list[Abandoned]) -> CheckFailed:
    """Why no method ended in a model that recalls everything, one line for each."""
    remedy = (
        "name a `method` and its sizes, or try another `seed`" if dtype in (None, "float64") else "leave `dtype` out"
    )
    reasons = "\n".join(f"  - {attempt}" for attempt in abandoned)
    return CheckFailed(f"no method stored all {task.facts:,} facts in {dtype or 'float32'}; {remedy}\n{reasons}")
