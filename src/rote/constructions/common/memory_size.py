"""The specification of a linear memory for a task, without tensors."""

from __future__ import annotations

from rote.models.linear_memory import LinearMemory
from rote.tasks import AssociationTask


def memory_spec(task: AssociationTask, dim: int) -> LinearMemory:
    """One input vector per distinct key."""
    return LinearMemory(vocab=task.vocab, context=task.context, inputs=task.distinct_keys, dim=dim)
