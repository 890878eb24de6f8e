"""Random tasks of chosen sizes: `random:key=value,...`, or a function for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from rote.errors import InputError, nearest
from rote.tasks.generators.associations import AssociationOptions, associations_from
from rote.tasks.generators.associations import random_associations as random_associations
from rote.tasks.generators.distributions import DistributionOptions, distributions_from
from rote.tasks.generators.distributions import random_distributions as random_distributions
from rote.tasks.generators.vectors import VectorOptions, vectors_from
from rote.tasks.generators.vectors import random_vectors as random_vectors
from rote.tasks.grammar import checked, options_of
from rote.tasks.origin import Origin
from rote.tasks.task import Task

KINDS: dict[str, tuple[type[BaseModel], Callable[[Any, Origin], Task]]] = {
    "associations": (AssociationOptions, associations_from),
    "distributions": (DistributionOptions, distributions_from),
    "vectors": (VectorOptions, vectors_from),
}

IMPLY_DISTRIBUTIONS = ("entropy", "rank", "prior", "exponent")
"""Options that make the task one of distributions when its kind is not stated."""


def generated_task(written: str) -> Task:
    """The task that a generator describes, for instance `random:vocab=50,context=2,facts=210,seed=1`."""
    options, make = _described(written)
    return make(options, Origin(source=written))


def numbers_generated(written: str) -> int:
    """Count of the numbers in the task that a generator describes, without making it."""
    return _described(written)[0].numbers


def _described(written: str) -> tuple[Any, Callable[[Any, Origin], Task]]:
    values = options_of(written)
    implied = "distributions" if any(name in values for name in IMPLY_DISTRIBUTIONS) else "associations"
    kind = values.pop("kind", implied)
    if kind not in KINDS:
        raise InputError(f"{written}: kind={kind!r}{nearest(kind, KINDS)} is not one of {', '.join(KINDS)}")
    options, make = KINDS[kind]
    return checked(options, values, written, f" (of kind={kind}; kinds: {', '.join(KINDS)})"), make
