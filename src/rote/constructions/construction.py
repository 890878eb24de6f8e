"""Constructions: weights in closed form (or by a convex solve) that store given facts.

A construction takes a `Request` and returns a `Draft`: a model in the dtype asked for, the bound it meets and the
what it measured on the way. `rote.build` then runs the model on every fact and certifies what it found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rote.errors import InputError, problems
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import Task


class Options(BaseModel):
    """Settings of one construction beyond the common ones; each construction subclasses it."""

    # The strings below fields become their descriptions, which `rote methods` prints.
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


@dataclass(frozen=True)
class Request:
    """What is to be built. Sizes that are absent are chosen by the construction."""

    task: Task
    dim: int | None = None
    head_dim: int | None = None
    heads: int | None = None
    dtype: str = "float32"
    seed: int = 0
    options: Any = None
    """An instance of the construction's own `Options`."""
    progress: Progress = SILENT


@dataclass(frozen=True)
class Draft:
    """A construction's result, before it is checked."""

    model: Model
    meets: str | None = None
    """Id of the result that promises this, if any."""
    promised: int | None = None
    """Associations that result promises for this specification."""
    measured: dict[str, Any] = field(default_factory=dict)
    """What was measured on the way: condition numbers, redraws, the method chosen."""


@dataclass(frozen=True)
class Construction:
    """A registered construction."""

    id: str
    summary: str
    source: str
    tasks: tuple[type, ...]
    build: Callable[[Request], Draft]
    options: type[Options] = Options
    exact: bool = True
    """Whether every fact must be recalled; otherwise the certificate says how many are."""
    default_dtype: str = "float32"
    """Precision when the user names none; `auto` lets the construction choose the smallest that is exact."""


CONSTRUCTIONS: dict[str, Construction] = {}


def register(construction: Construction) -> Construction:
    CONSTRUCTIONS[construction.id] = construction
    return construction


def construction_named(id: str) -> Construction:
    if id not in CONSTRUCTIONS:
        raise InputError(f"method: {id!r} is not one of {', '.join(sorted(CONSTRUCTIONS))}")
    return CONSTRUCTIONS[id]


def parse_options(construction: Construction, given: dict[str, Any]) -> Options:
    """A construction's options from names and values; every unknown or ill-typed one is named at once."""
    try:
        return construction.options(**given)
    except ValidationError as error:
        known = ", ".join(construction.options.model_fields) or "none"
        found = [f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors()]
        raise problems(f"options of {construction.id} (it knows: {known})", found) from None
