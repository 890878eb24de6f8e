"""Random vector sequences: contexts (one shared by all examples, or a fresh one each) and queries, normal or uniform.

The setting of Mahdavi, Liao and Thrampoulidis 2024: with contexts of n < d normal vectors, their Assumptions 1 and 2
(queries of Kruskal rank n, contexts of rank n) hold almost surely. Their experiments draw every number uniformly from
[0, 1), targets too: `distribution=uniform`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rote.errors import InputError
from rote.tasks.grammar import checked, written
from rote.tasks.origin import Origin
from rote.tasks.vectors import VectorTask

MOST_NUMBERS = 2**28
"""Most numbers in the contexts: 2 GiB."""


class VectorOptions(BaseModel):
    """Random sequences of vectors, each with a query and a label or a target."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    examples: int = Field(ge=1, le=2**24)
    context: int = Field(ge=1, le=2**20)
    dim: int = Field(ge=1, le=2**20)
    shared: bool = False
    """One context for all examples instead of a fresh one each."""
    classes: int | None = Field(None, ge=1, le=2**24)
    """Labels drawn uniformly among this many."""
    targets: int | None = Field(None, ge=1, le=2**20)
    """Targets of this length."""
    distribution: Literal["normal", "uniform"] = "normal"
    """Of contexts, queries and targets: standard normal, or uniform in [0, 1)."""
    seed: int = Field(0, ge=0)

    @property
    def numbers(self) -> int:
        contexts = (1 if self.shared else self.examples) * self.context * self.dim
        return contexts + self.examples * (self.dim + (self.targets or 0))


def random_vectors(
    examples: int,
    context: int,
    dim: int,
    *,
    shared: bool = False,
    classes: int | None = None,
    targets: int | None = None,
    distribution: Literal["normal", "uniform"] = "normal",
    seed: int = 0,
) -> VectorTask:
    """Random sequences of `context` vectors in `dim` dimensions; give either `classes` or `targets`."""
    given = {
        "examples": examples, "context": context, "dim": dim, "shared": shared, "classes": classes,
        "targets": targets, "distribution": distribution, "seed": seed,
    }  # fmt: skip
    options = checked(VectorOptions, given, "random vectors")
    return vectors_from(options, Origin(source=written("random", options, kind="vectors")))


def vectors_from(options: VectorOptions, origin: Origin) -> VectorTask:
    if (options.classes is None) == (options.targets is None):
        raise InputError(
            f"{origin.source}: give either classes=C (labels to recall) or targets=R (R real numbers to fit)"
        )
    sequences = 1 if options.shared else options.examples
    if options.numbers > MOST_NUMBERS:
        raise InputError(
            f"{origin.source}: {options.numbers:.3g} numbers are too many to hold; lower examples, context or dim"
        )
    rng = np.random.default_rng(options.seed)
    draw = rng.standard_normal if options.distribution == "normal" else rng.random
    contexts = draw((sequences, options.context, options.dim))
    queries = draw((options.examples, options.dim))
    if options.classes is not None:
        labels = rng.integers(options.classes, size=options.examples, dtype=np.int32)
        return VectorTask(contexts, queries, labels=labels, origin=origin)
    targets = draw((options.examples, options.targets or 1))
    return VectorTask(contexts, queries, targets=targets, origin=origin)
