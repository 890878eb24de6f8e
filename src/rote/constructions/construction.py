"""Constructions: weights in closed form (or by a convex solve) that store given facts.

A construction takes a `Request` and returns a `Draft`: a model in the requested dtype, with what was measured on the
way. `rote.build` then runs the model on every fact and certifies what it recalls.

What a construction says of itself (a `Construction`) is read without importing torch, so that methods are listed at
once: a construction's own module holds its settings, its sizes and what it refuses; its `build` imports what computes
with tensors when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ForwardRef, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from rote.errors import InputError, details_of, nearest, problems, validation_problems
from rote.models.grid import GridName
from rote.models.spec import Dtype, Spec, in_words
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, Task
from rote.tasks.change import Change
from rote.tasks.changes import changed, changed_further
from rote.theory import PAPERS, RESULTS

if TYPE_CHECKING:
    from rote.measure.certificate import Examination
    from rote.models.model import Model
else:
    # Importing them would import torch; checkers of types resolve the names when they need them.
    Examination = ForwardRef("rote.measure.certificate.Examination")
    Model = ForwardRef("rote.models.model.Model")


SIZES = ("dim", "head_dim", "heads")
"""Sizes of a model that a request may give."""


class Options(BaseModel):
    """Settings of one construction beyond the common ones; each construction subclasses it."""

    # The strings below fields become their descriptions, which `rote list methods` prints.
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


TaskT = TypeVar("TaskT", bound=Task)
OptionsT = TypeVar("OptionsT", bound=Options)
TaskT_co = TypeVar("TaskT_co", bound=Task, covariant=True)
OptionsT_co = TypeVar("OptionsT_co", bound=Options, covariant=True)


@dataclass(frozen=True)
class Request(Generic[TaskT_co, OptionsT_co]):
    """What is to be built. Default sizes are chosen by the construction."""

    task: TaskT_co
    options: OptionsT_co
    dim: int | None = None
    head_dim: int | None = None
    heads: int | None = None
    dtype: Dtype | GridName | Literal["auto"] = "float32"
    seed: int = 0
    progress: Progress = SILENT
    deadline: float | None = None
    """CPU time (`rote.threads.cpu_time`) at which a fit stops; a solve in closed form runs to its end."""
    work: Path | None = None
    """Folder in which a long build may keep what it has solved, so that the same build resumes after a kill."""


@dataclass(frozen=True)
class Abandoned:
    """Something that was tried on the way to a model, and why it was abandoned."""

    what: str
    """The method, or the model in words where the method was kept and its size was not."""
    reason: str

    @classmethod
    def model(cls, spec: Spec, reason: str) -> Abandoned:
        """A model of these sizes, by a reason that may begin with them."""
        what = in_words(spec)
        sizes, _, rest = reason.partition(": ")
        return cls(what, rest if rest and sizes in what else reason)

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"

    @staticmethod
    def grouped(abandoned: Iterable[Abandoned]) -> list[str]:
        """One text per reason, in order: what was abandoned for it, and why."""
        names: dict[str, list[str]] = {}
        for attempt in abandoned:
            known = names.setdefault(attempt.reason, [])
            known.extend([attempt.what] if attempt.what not in known else [])
        return [f"{', '.join(known)}: {reason}" for reason, known in names.items()]


@dataclass(frozen=True)
class SizeEstimate:
    """Parameters and bytes of the weights that `build` is expected to end in, where no specification tells them."""

    parameters: int
    bytes: int
    basis: str
    """What the estimate was fitted to, and how far it was off there."""


@dataclass(frozen=True)
class Draft:
    """A construction's result, before it is checked."""

    model: Model
    guaranteed: int | None = None
    """Facts that the result it meets guarantees for this specification."""
    measured: dict[str, Any] = field(default_factory=dict)
    """What was measured on the way: condition numbers, resamples, the chosen solve."""
    meets: str | None = None
    """Id of the result that guarantees this, if it is another than the construction's own."""
    abandoned: tuple[Abandoned, ...] = ()
    """Smaller models that were tried first, and why they were abandoned."""
    examination: Examination | None = None
    """Result of running the model on every fact of the request, if the construction has done so."""
    sample: dict[str, Any] = field(default_factory=dict)
    """What was chosen among random samples: with the seed and the tensors of attention, enough to solve again."""


@dataclass(frozen=True)
class EditRequest(Generic[OptionsT_co]):
    """Changes of a model that this construction built."""

    model: Model
    base: AssociationTask
    """The facts it was built from, one per key."""
    history: tuple[Change, ...]
    """Changes that were made to the model before."""
    changes: tuple[Change, ...]
    request: Request[AssociationTask, OptionsT_co]
    """What it was built by. Its task is the base."""
    sample: dict[str, Any] = field(default_factory=dict)
    """What `Draft.sample` was when it was built."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What an earlier edit in this process left for the next one."""
    keep_bits: bool = False
    """Whether the logits of all other facts are to stay the same bit for bit; only `edits_bitwise` has it."""
    held: AssociationTask | None = None
    """The facts that the model holds, where they are at hand. Default: read from the history."""

    @cached_property
    def before(self) -> AssociationTask:
        """The facts that the model holds."""
        return changed(self.base, self.history) if self.held is None else self.held

    @cached_property
    def after(self) -> AssociationTask:
        """The facts that it is to hold."""
        return changed_further(self.base, self.history, self.before, self.changes)

    @property
    def progress(self) -> Progress:
        return self.request.progress


@dataclass(frozen=True)
class Construction(Generic[TaskT, OptionsT]):
    """A registered construction: what it stores, how, whose it is and which result it meets."""

    id: str
    summary: str
    paper: str
    """Id of the paper it is from."""
    tasks: tuple[type[TaskT], ...]
    build: Callable[[Request[TaskT, OptionsT]], Draft]
    options: type[OptionsT]
    spec: Callable[[Request[TaskT, OptionsT]], Spec] | None = None
    """The specification that `build` starts from, chosen by the same code; an error if it would reject the request.
    None if only building tells."""
    size_may_differ: Callable[[Request[TaskT, OptionsT]], str] | None = None
    """Reason why `build` may end in another size than `spec` says, or in none; None or "" if it cannot."""
    estimate: Callable[[Request[TaskT, OptionsT]], SizeEstimate] | None = None
    """Estimate of the size, where there is no `spec` to start from, or where weights are packed."""
    cpu_seconds: Callable[[Request[TaskT, OptionsT]], float] | None = None
    """Estimate of the CPU time of `build`, by which a choice within a time budget leaves it out. Default: 3 seconds at
    `quick_facts`, growing with the square of the facts."""
    quick_facts: int = 20_000
    """Facts up to which building takes seconds. Up to there a plan whose size may differ builds to find out, and the
    default method tries it."""
    passage: str = ""
    """Where in the paper it is, and what is not the paper's own."""
    edit: Callable[[EditRequest[OptionsT]], Draft] | None = None
    """How facts of a model are changed, added and forgotten. None if that takes building again."""
    edits_bitwise: bool = False
    """Whether `edit` can add facts so that all others keep every bit of their logits."""
    sizes: tuple[str, ...] = SIZES
    """Which of dim, head_dim and heads its models have; giving another is an error."""
    meets: str | None = None
    """Id of the result whose guarantee it keeps."""
    unguaranteed: str | None = None
    """Why it meets no result, if it meets none."""
    exact: bool = True
    """Whether every fact must be recalled; otherwise the certificate says how many are."""
    on_grids: bool = False
    """Whether `build` takes a grid such as int8 for a dtype."""
    default_dtype: Dtype | Literal["auto"] = "float32"
    """Precision if the user names none; `auto` lets the construction choose the smallest that is exact."""

    def expected_seconds(self, request: Request[TaskT, OptionsT]) -> float:
        """Estimate of the CPU time of `build`."""
        if self.cpu_seconds is not None:
            return self.cpu_seconds(request)
        return 0.1 + 3 * (request.task.facts / self.quick_facts) ** 2

    @property
    def source(self) -> str:
        """The paper, and the passage in it."""
        return PAPERS[self.paper].source(self.passage)


CONSTRUCTIONS: dict[str, Construction[Any, Any]] = {}


def register_construction(construction: Construction[TaskT, OptionsT]) -> Construction[TaskT, OptionsT]:
    """Add a construction to those that `rote.build` knows; mistakes in its record are reported all at once.

    >>> import rote.extend
    >>> from dataclasses import replace
    >>> twice = replace(rote.extend.CONSTRUCTIONS["bietti2023"], meets="nobody1999.theorem1")
    >>> rote.extend.register_construction(twice)
    Traceback (most recent call last):
    rote.errors.InputError: construction bietti2023...
    """
    id, meets = construction.id, construction.meets
    mistakes = []
    if id in CONSTRUCTIONS:
        mistakes.append("this id is registered already; give another")
    if meets is not None and meets not in RESULTS:
        mistakes.append(f"meets: {meets!r} is no registered result; register it first, or give unguaranteed")
    if construction.paper not in PAPERS:
        mistakes.append(f"paper: {construction.paper!r} is no known paper; register it first")
    if (meets is None) == (construction.unguaranteed is None):
        mistakes.append("give either meets (the id of a result) or unguaranteed (why it meets none)")
    if mistakes:
        raise problems(f"construction {id}", mistakes)
    CONSTRUCTIONS[id] = construction
    return construction


def construction_named(id: str) -> Construction[Any, Any]:
    if id not in CONSTRUCTIONS:
        raise InputError(f"`method={id}`: there is no such method{nearest(id, CONSTRUCTIONS)}; see `rote list methods`")
    return CONSTRUCTIONS[id]


def parse_options(construction: Construction[Any, OptionsT], given: dict[str, Any]) -> OptionsT:
    """A construction's options from names and values; every unknown or ill-typed one is named at once."""
    try:
        return construction.options(**given)
    except ValidationError as error:
        known = ", ".join(construction.options.model_fields) or "none"
        mistakes = validation_problems(details_of(error), construction.options.model_fields)
        raise problems(f"options of {construction.id} (it knows: {known})", mistakes) from None
