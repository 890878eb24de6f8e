"""All constructions at a glance, without making anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.arguments import typed
from rote.constructions import CONSTRUCTIONS
from rote.constructions.construction import Construction
from rote.display import Records


@dataclass(frozen=True)
class Method:
    """What a construction stores, how, and where it is from.

    >>> import rote
    >>> [method.meets for method in rote.methods() if method.id == "dana2025.theorem1"]
    ['dana2025.theorem1']
    """

    id: str
    summary: str
    tasks: tuple[str, ...]
    """Kinds of tasks that it stores."""
    exact: bool
    """Whether it stores every fact or fails, in place of as many as it can."""
    dtype: str
    """Default precision of its models."""
    options: dict[str, dict[str, Any]]
    """Settings of its own, each with its default and what it means."""
    source: str
    meets: str | None
    """Id of the result that guarantees what it stores."""
    unguaranteed: str | None
    """Why no result does, where none does."""


@typed
def methods() -> Records[Method]:
    """Every construction that `rote.build` takes as its `method`.

    >>> import rote
    >>> "dana2025.theorem1" in [method.id for method in rote.methods()]
    True
    """
    rows = [overview(CONSTRUCTIONS[id]) for id in sorted(CONSTRUCTIONS)]
    return Records(rows, ("id", "tasks", "summary"))


def overview(construction: Construction[Any, Any]) -> Method:
    return Method(
        id=construction.id,
        summary=construction.summary,
        tasks=tuple(kind.__name__.removesuffix("Task").lower() for kind in construction.tasks),
        exact=construction.exact,
        dtype=construction.default_dtype,
        options={
            name: {"default": field.default, "help": " ".join((field.description or "").split())}
            for name, field in construction.options.model_fields.items()
        },
        source=construction.source,
        meets=construction.meets,
        unguaranteed=construction.unguaranteed,
    )
