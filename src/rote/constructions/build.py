"""Build a model by a named construction, then check it on every fact in the dtype that is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.constructions import CONSTRUCTIONS
from rote.constructions.construction import Construction, Request, construction_named, parse_options
from rote.constructions.parts.solvers.blas_threads import blas_threads
from rote.errors import CheckFailed, InputError, problems
from rote.measure.certificate import Certificate, examine
from rote.models.asking import with_reader
from rote.models.model import Model, dtype_named
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, DistributionTask, Task, VectorTask

DEFAULT_METHODS: dict[type, str] = {
    AssociationTask: "dana2025.theorem1",
    DistributionTask: "dana2025.sequence_encoder",
    VectorTask: "mahdavi2024.theorem1",
}


@dataclass(frozen=True)
class Built:
    """A model that was built, with the certificate of what it holds."""

    model: Model
    certificate: Certificate
    provenance: dict[str, Any]


def build(
    task: Task,
    method: str | None = None,
    *,
    dim: int | None = None,
    head_dim: int | None = None,
    heads: int | None = None,
    dtype: str | None = None,
    seed: int = 0,
    keep_keys: bool = True,
    progress: Progress = SILENT,
    **options: Any,
) -> Built:
    """Build a model that stores the task's facts, then run it on every one of them.

    Sizes that are not given are chosen by the method; `options` are the method's own. A method that promises every
    fact and misses one is an error, never a silent miss. The set of stored keys, by which a model knows what it was
    never told, is kept with it unless `keep_keys` is false.
    """
    construction = construction_named(method or DEFAULT_METHODS[type(task)])
    if not isinstance(task, construction.tasks):
        wanted = " or ".join(kind.__name__ for kind in construction.tasks)
        others = ", ".join(sorted(other.id for other in CONSTRUCTIONS.values() if isinstance(task, other.tasks)))
        given = type(task).__name__
        raise InputError(f"{construction.id} stores a {wanted}, not a {given}; for a {given} there are {others}")
    if dtype is not None:
        dtype_named(dtype)
    _refuse_sizes(construction, {"dim": dim, "head_dim": head_dim, "heads": heads}, seed)
    parsed = parse_options(construction, options)
    with blas_threads():
        draft = construction.build(
            Request(task, parsed, dim, head_dim, heads, dtype or construction.default_dtype, seed, progress)
        )
    meets = draft.meets or construction.meets
    certificate = examine(draft.model, task, meets, draft.promised, draft.measured, progress).certificate
    if construction.exact and not certificate.complete:
        margin = "-" if certificate.min_margin is None else f"{certificate.min_margin:.3g}"
        raise CheckFailed(
            f"{construction.id}: {certificate.missed} of {certificate.facts} facts are not recalled in "
            f"{certificate.dtype} (smallest margin {margin}{_numbers(draft.measured)}). "
            "Try another seed, a larger dim, or dtype float64"
        )
    provenance = {
        "method": construction.id,
        "source": construction.source,
        "seed": seed,
        "options": parsed.model_dump(mode="json"),
    }
    return Built(with_reader(draft.model, task, keep_keys), certificate, provenance)


def _refuse_sizes(construction: Construction[Any, Any], given: dict[str, int | None], seed: int) -> None:
    """Sizes that no model has, or that models of this construction do not have; all of them at once."""
    refused = []
    for name, size in given.items():
        if size is None:
            continue
        if name not in construction.sizes:
            known = f"it takes {' and '.join(construction.sizes)}" if construction.sizes else "it chooses its own sizes"
            refused.append(f"{name} {size}: its models have no {name} to choose ({known}); leave {name} out")
        elif size < 1:
            refused.append(f"{name} {size}: a size is 1 or more; leave {name} out to have it chosen")
    if seed < 0:
        refused.append(f"seed {seed}: a seed is 0 or more")
    if refused:
        raise problems(construction.id, refused)


def _numbers(measured: dict[str, Any]) -> str:
    """What was measured as single numbers, for a message."""
    numbers = {name: value for name, value in measured.items() if isinstance(value, int | float)}
    return "".join(f", {name.replace('_', ' ')} {value:.3g}" for name, value in numbers.items())
