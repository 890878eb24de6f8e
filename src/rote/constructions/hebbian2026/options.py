"""Settings and sizes of Hebbian MLPs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rote.constructions.construction import Options
from rote.models.bilinear_memory import BilinearMemory
from rote.tasks import AssociationTask


class HebbianOptions(Options):
    """Settings of the Hebbian MLPs."""

    width: Annotated[int | None, Field(ge=1)] = None
    """Neurons. Default: the fewest that recall every fact, within 5 %."""
    ridge: Annotated[float, Field(ge=0)] = 1e-6
    """Penalty on the readout, and on fitted neurons."""


def spec_with(task: AssociationTask, dim: int, width: int) -> BilinearMemory:
    """One input vector per distinct key."""
    return BilinearMemory(vocab=task.vocab, context=task.context, inputs=task.distinct_keys, dim=dim, width=width)
