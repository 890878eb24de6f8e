"""Build a model by a named construction, or the smallest Transformer that holds the facts, and check every fact."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rote.arguments import typed
from rote.constructions import CONSTRUCTIONS
from rote.constructions.choice import (
    HOPELESS,
    LEAST_BUDGET,
    LINEAR_FROM,
    STURDY,
    Budget,
    Candidate,
    default_method,
    fallbacks,
    none_holds,
    quickest_first,
    smallest_first,
    usual_budget,
)
from rote.constructions.common.solvers.one_blas_thread import one_blas_thread
from rote.constructions.construction import Abandoned, Construction, Request, construction_named, parse_options
from rote.display import html_pairs
from rote.errors import CheckFailed, InputError, problems
from rote.folders import write_folder
from rote.folders.folder import Pushable, folder_files, tensor_bytes, written_bytes
from rote.folders.layout import WEIGHTS
from rote.measure.abstention import stated_abstention
from rote.measure.certificate import Certificate, examine
from rote.models.attention_only import Transformer
from rote.models.grid import GridName, is_grid
from rote.models.model import Model, dtype_named
from rote.models.spec import Dtype
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, Origin, Task, require_associations
from rote.tasks.facts import Facts, facts
from rote.tasks.templates import with_templates
from rote.tasks.unknown import require_unknown_keys


@dataclass(frozen=True)
class Built(Pushable):
    """A model that was built, with the certificate of what it holds.

    >>> import rote, tempfile
    >>> built = rote.build("random:vocab=6,context=2,facts=9,seed=1")
    >>> built.certificate.recalled
    9
    >>> path = built.save(tempfile.mkdtemp() + "/model")
    >>> sorted(file.name for file in path.iterdir())
    ['certificate.json', 'config.json', 'keys.safetensors', 'model.safetensors', 'vocab.json.xz']
    """

    model: Model
    certificate: Certificate
    provenance: dict[str, Any]
    attempts: tuple[Abandoned, ...] = ()
    """What was tried before, and why it was left: smaller models of the same method, or other methods."""
    origin: Origin = field(default_factory=Origin)
    """Where the facts came from."""
    seconds: float = 0.0
    """Time that building and checking took."""
    phases: dict[str, float] = field(default_factory=dict)
    """Seconds of each phase of the solve, where the construction measures them."""
    runner_up: Candidate | None = None
    """The next larger Transformer that was not tried, where the method was chosen."""
    budget: float | None = None
    """CPU seconds that the choice of the method was allowed. None if the method was given."""
    budget_used: float | None = None
    """CPU seconds that the choice took. More than the budget where no faster method was left."""

    @property
    def limits(self) -> str | None:
        """What a chosen model cannot do that its runner-up can: a fallback is no attention-only Transformer."""
        if self.runner_up is None or isinstance(self.model.spec, Transformer):
            return None
        seconds = 10 * math.ceil(self.runner_up.cpu_seconds / 5)
        return (
            f"export to Llama, GGUF and GPT-2 does not take a {self.model.spec.architecture}; every command "
            f"takes {self.runner_up}: `within={seconds}` allows it"
        )

    @typed
    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write the model and its certificate as a model folder, complete or not at all."""
        return write_folder(path, self.model, self.origin, self.provenance, self.certificate, overwrite=overwrite)

    @typed
    def summary(self, folder: str | Path | None = None) -> dict[str, Any]:
        """Everything as one JSON document: what the command prints as JSON. With `folder`, where it was saved.

        >>> import rote
        >>> built = rote.build("random:vocab=6,context=2,facts=9,seed=1")
        >>> summary = built.summary()
        >>> summary["recalled"], summary["missed"], summary["seed"]
        (9, 0, 0)
        """
        certificate = self.certificate
        sizes = _sizes(self) if folder is None else _written(Path(folder))
        return {
            **({} if folder is None else {"folder": str(folder)}),
            "method": self.provenance["method"],
            "spec": self.model.spec.to_config(),
            "dtype": certificate.dtype,
            "facts": certificate.facts,
            "recalled": certificate.recalled,
            "missed": certificate.missed,
            "ceiling": certificate.recallable / certificate.facts,
            "parameters": certificate.parameters,
            **sizes,
            "bits_per_parameter": certificate.bits_per_parameter,
            "bits_per_weight_bit": None if certificate.bits is None else certificate.bits / (8 * sizes["bytes"]),
            "min_margin": certificate.min_margin,
            "margin_rounding": certificate.margin_rounding,
            "divergence": certificate.divergence,
            "largest_error": certificate.largest_error,
            "meets": certificate.meets,
            "guaranteed": certificate.guaranteed,
            "measured": certificate.measured,
            "seconds": round(self.seconds, 3),
            "seed": self.provenance["seed"],
            "attempts": [{"what": attempt.what, "reason": attempt.reason} for attempt in self.attempts],
            "runner_up": None if self.runner_up is None else str(self.runner_up),
            "budget": self.budget,
            "budget_used": None if self.budget_used is None else round(self.budget_used, 3),
            "limits": self.limits,
        }

    def _repr_html_(self) -> str:
        stated = {"method": self.provenance["method"], **self.certificate.shown(), "bytes": self.model.bytes}
        return html_pairs(f"built from {self.origin.source}", stated)


def _sizes(built: Built) -> dict[str, int]:
    """Bytes of the weights and of the complete folder, before it is written."""
    files = folder_files(built.model, built.origin, built.provenance, built.certificate)
    return {"bytes": tensor_bytes(files[WEIGHTS]), "folder_bytes": sum(map(len, files.values()))}


def _written(folder: Path) -> dict[str, int]:
    """The same of a folder on disk, without packing its weights a second time."""
    complete = sum(file.stat().st_size for file in folder.iterdir())
    return {"bytes": written_bytes(folder), "folder_bytes": complete}


@typed
def build(
    task: Facts,
    method: str | None = None,
    *,
    dim: int | None = None,
    head_dim: int | None = None,
    heads: int | None = None,
    dtype: Dtype | GridName | None = None,
    seed: int = 0,
    within: float | None = None,
    smallest: bool = False,
    keep_keys: bool = True,
    templates: tuple[str, ...] | list[str] = (),
    resume: str | Path | None = None,
    progress: Progress = SILENT,
    **options: Any,
) -> Built:
    """Build a model that stores the task's facts, then run it on every one of them.

    Sizes that are not given are chosen by the method; `options` are the method's own. A method that guarantees every
    fact and misses one is an error, never a silent miss. Associations without a method, sizes or options are stored in
    the smallest attention-only Transformer that can be built `within` so many CPU seconds (longer if there is no faster
    one), or by the first of the other methods that recalls every fact. Default: 30 seconds, or 2 per 1,000 facts where
    that is more, at most 120. `attempts` says what was left and why, `runner_up` names the next larger Transformer, and
    `limits` what a model of another architecture cannot do.
    With `smallest`, the model is the one whose complete folder takes fewest bytes, of any architecture, of those built
    `within` so many CPU seconds (default 30).
    With a grid for a `dtype` (int8, int4, ...) weights are packed integers with scales, and every fact is recalled by
    them.
    `templates` are sentences that ask for the facts, such as "The {relation} of {country} is": the model remembers
    them, and an export reads them.
    The set of stored keys, by which a model recognizes unknown keys, is kept with it unless `keep_keys` is false.
    Tables of more than 100,000 facts are solved in parts; with `resume`, a folder keeps the parts that are solved, and
    the same call after a kill ends in the same weights. The folder may be deleted once the model is saved.

    >>> import rote
    >>> built = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"})
    >>> built.model.ask("capital", "France").answer
    'Paris'
    >>> rote.build("random:vocab=6,context=2,facts=9,seed=1", method="rote.readout", dtype="float64").certificate.dtype
    'float64'
    """
    started, task = time.perf_counter(), with_templates(facts(task), templates)
    if dtype is None or not is_grid(dtype):
        require_unknown_keys(task)
    sizes = {"dim": dim, "head_dim": head_dim, "heads": heads}
    if dtype is not None and not is_grid(dtype):
        dtype_named(dtype)
    work = None if resume is None else Path(resume)
    common = {"dtype": dtype, "seed": seed, "keep_keys": keep_keys, "progress": progress, "work": work}
    open_choice = method is None and not options and all(size is None for size in sizes.values())
    if dtype is not None and is_grid(dtype):
        if smallest:
            raise InputError(f"`smallest=True`: is chosen among float dtypes; leave out it or `dtype={dtype}`")
        method = _on_grids(method, dtype)
        open_choice = False
    if smallest and not open_choice:
        raise InputError("`smallest=True`: chooses the method and its sizes; leave `method`, sizes and options out")
    if smallest:
        task = require_associations(task, "the smallest folder is chosen among models that recall every fact")
        budget = Budget(LEAST_BUDGET if within is None else within)
        built = _smallest_folder(task, budget, **common)
        built = replace(built, budget=budget.seconds, budget_used=budget.used)
    elif open_choice and isinstance(task, AssociationTask):
        budget = Budget(usual_budget(task.distinct_keys) if within is None else within)
        built = _smallest_that_holds(task, budget, **common)
        built = replace(built, budget=budget.seconds, budget_used=budget.used)
    else:
        built = _by(construction_named(method or default_method(task)), task, sizes, options, **common)
    return replace(built, seconds=time.perf_counter() - started)


def _on_grids(method: str | None, dtype: str) -> str:
    """The method that builds on a grid; another one is an error that names those that do."""
    able = [construction.id for construction in CONSTRUCTIONS.values() if construction.on_grids]
    if method is not None and not construction_named(method).on_grids:
        raise InputError(f"`dtype={dtype}`: {method} does not build on a grid; {', '.join(able)} does")
    return method or able[0]


def _smallest_that_holds(
    task: AssociationTask,
    budget: Budget,
    dtype: Dtype | None,
    seed: int,
    keep_keys: bool,
    progress: Progress,
    work: Path | None,
) -> Built:
    """The smallest Transformer that recalls all that can be recalled, or the first fallback that does."""
    if seed < 0:
        raise InputError(f"seed {seed}: a seed is 0 or more")
    candidates, abandoned = smallest_first(task, dtype)
    too_slow: list[Candidate] = []
    large = task.distinct_keys > LINEAR_FROM

    def attempt(candidate: Candidate, deadline: float | None = None, rounding: float = math.inf) -> Built | None:
        construction, sizes = construction_named(candidate.method), {"dim": candidate.dim}
        try:
            built = _by(construction, task, sizes, {}, dtype, seed, keep_keys, progress, work, deadline)
        except (InputError, CheckFailed) as error:
            abandoned.append(Abandoned(candidate.name, str(error).removeprefix(f"{candidate.method}: ")))
            return None
        certificate = built.certificate
        if not certificate.complete:
            reason = f"{certificate.missed:,} of {certificate.facts:,} facts are not recalled"
        elif (certificate.margin_rounding or 0.0) > rounding:
            reason = f"rounding moves logit margins by {certificate.margin_rounding:.0%} of the smallest"
        else:
            return built
        abandoned.append(Abandoned(candidate.name, reason))
        return None

    for place, candidate in enumerate(candidates):
        rest = candidates[place + 1 :]
        faster = large or any(other.cpu_seconds < candidate.cpu_seconds for other in rest)
        reserved = budget.reserve(rest) if large else 0.0
        if faster and candidate.cpu_seconds > budget.left - reserved:
            late = f"about {candidate.cpu_seconds:.0f} CPU seconds, more than are left; a larger `within` allows them"
            abandoned.append(Abandoned(str(candidate), late))
            too_slow.append(candidate)
            continue
        deadline = budget.deadline_for(candidate, reserved) if faster else None
        if built := attempt(candidate, deadline, STURDY if rest else math.inf):
            return replace(built, attempts=(*abandoned, *built.attempts), runner_up=next(iter(rest), None))
    methods, left_out = fallbacks(task)
    for method in methods:
        if built := attempt(Candidate(method, 0)):
            quickest = min(too_slow, key=lambda candidate: candidate.cpu_seconds, default=None)
            return replace(built, attempts=(*abandoned, *built.attempts), runner_up=quickest)
    raise none_holds(task, dtype, [*abandoned, *left_out])


def _smallest_folder(
    task: AssociationTask,
    budget: Budget,
    dtype: Dtype | None,
    seed: int,
    keep_keys: bool,
    progress: Progress,
    work: Path | None,
) -> Built:
    """The model whose complete folder is smallest, of the methods that the budget allows."""
    if seed < 0:
        raise InputError(f"seed {seed}: a seed is 0 or more")
    candidates, abandoned = quickest_first(task, dtype)
    tried: list[tuple[int, Built]] = []
    for candidate in candidates:
        if tried and candidate.weights > HOPELESS * tried[0][0]:
            large = f"about {candidate.weights:,} bytes of weights, against a folder of {tried[0][0]:,}"
            abandoned.append(Abandoned(str(candidate), large))
            continue
        if tried and candidate.cpu_seconds > budget.left:
            late = f"about {candidate.cpu_seconds:.0f} CPU seconds, more than are left; a larger `within` allows them"
            abandoned.append(Abandoned(str(candidate), late))
            continue
        try:
            construction, deadline = construction_named(candidate.method), budget.deadline if tried else None
            built = _by(construction, task, {}, {}, dtype, seed, keep_keys, progress, work, deadline)
        except (InputError, CheckFailed) as error:
            abandoned.append(Abandoned(candidate.method, str(error).removeprefix(f"{candidate.method}: ")))
            continue
        tried.append((_sizes(built)["folder_bytes"], built))
        tried.sort(key=lambda pair: pair[0])
    if not tried:
        raise none_holds(task, dtype, abandoned)
    larger = [Abandoned(built.provenance["method"], f"a folder of {size:,} bytes") for size, built in tried[1:]]
    best = tried[0][1]
    return replace(best, attempts=(*larger, *abandoned, *best.attempts))


def _by(
    construction: Construction[Any, Any],
    task: Task,
    sizes: dict[str, int | None],
    options: dict[str, Any],
    dtype: Dtype | GridName | None,
    seed: int,
    keep_keys: bool,
    progress: Progress,
    work: Path | None,
    deadline: float | None = None,
) -> Built:
    """Build by one construction, with its own retries, and examine the model."""
    if not isinstance(task, construction.tasks):
        wanted = " or ".join(kind.__name__ for kind in construction.tasks)
        others = ", ".join(sorted(other.id for other in CONSTRUCTIONS.values() if isinstance(task, other.tasks)))
        given = type(task).__name__
        raise InputError(f"{construction.id} stores a {wanted}, not a {given}; for a {given} there are {others}")
    _refuse_sizes(construction, sizes, seed)
    parsed = parse_options(construction, options)
    with one_blas_thread():
        draft = construction.build(
            Request(
                task,
                parsed,
                **sizes,
                dtype=dtype or construction.default_dtype,
                seed=seed,
                progress=progress,
                deadline=deadline,
                work=work,
            )
        )
    meets = draft.meets or construction.meets
    examination = draft.examination or examine(draft.model, task, progress=progress)
    # Times differ between two builds of the same weights, whose folders must not.
    measured = {name: value for name, value in draft.measured.items() if name != "seconds"}
    measured |= stated_abstention(draft.model, task)
    claims = {"meets": meets, "guaranteed": draft.guaranteed, "measured": measured}
    certificate = examination.certificate.model_copy(update=claims)
    if construction.exact and not certificate.complete:
        margin = "-" if certificate.min_margin is None else f"{certificate.min_margin:.3g}"
        raise CheckFailed(
            f"{construction.id}: {certificate.missed} of {certificate.facts} facts are not recalled in "
            f"{certificate.dtype} (smallest margin {margin}{_numbers(draft.measured)}). "
            "Try another `seed`, a larger `dim`, or `dtype=float64`"
        )
    provenance = {
        "method": construction.id,
        "source": construction.source,
        "seed": seed,
        "options": parsed.model_dump(mode="json"),
        "given": {name: value for name, value in {**sizes, "dtype": dtype, **options}.items() if value is not None},
        **({"sample": draft.sample} if draft.sample else {}),
    }
    seconds = draft.measured.get("seconds", {})
    return Built(
        draft.model.with_reader(task, keep_keys),
        certificate,
        provenance,
        draft.abandoned,
        task.origin,
        phases=seconds if isinstance(seconds, dict) else {"all": seconds},
    )


def _refuse_sizes(construction: Construction[Any, Any], given: dict[str, int | None], seed: int) -> None:
    """Sizes that no model has, or that models of this construction do not have; all of them at once."""
    refused = []
    for name, size in given.items():
        if size is None:
            continue
        if name not in construction.sizes:
            known = (
                f"it takes {' and '.join(f'`{size}`' for size in construction.sizes)}"
                if construction.sizes
                else "it chooses its own sizes"
            )
            refused.append(f"`{name}={size}`: its models have no {name} to choose ({known}); leave it out")
        elif size < 1:
            refused.append(f"`{name}={size}`: a size is 1 or more; leave it out to have one chosen")
    if seed < 0:
        refused.append(f"`seed={seed}`: a seed is 0 or more")
    if refused:
        raise problems(construction.id, refused)


def _numbers(measured: dict[str, Any]) -> str:
    """What was measured as single numbers, for a message."""
    numbers = {name: value for name, value in measured.items() if isinstance(value, int | float)}
    return "".join(f", {name.replace('_', ' ')} {value:.3g}" for name, value in numbers.items())
