"""Rejecting a task of the wrong kind, where only one kind will do."""

from __future__ import annotations

from rote.errors import InputError
from rote.tasks.association import AssociationTask
from rote.tasks.distribution import DistributionTask
from rote.tasks.task import Task
from rote.tasks.token_task import TokenTask


def require_associations(task: Task, why: str) -> AssociationTask:
    """The task itself, if it is one of associations; `why` ends the message for any other."""
    if not isinstance(task, AssociationTask):
        raise InputError(f"{task.origin.source}: holds {task.kind}; {why}")
    return task


def require_distributions(task: Task) -> DistributionTask:
    """The task itself, if it is one of distributions."""
    if not isinstance(task, DistributionTask):
        raise InputError(
            f"{task.origin.source}: holds {task.kind}; divergence is from distributions, so give facts with a `weight`"
        )
    return task


def require_tokens(task: Task, why: str) -> TokenTask:
    """The task itself, if its contexts are tokens; `why` ends the message for vectors."""
    if not isinstance(task, TokenTask):
        raise InputError(f"{task.origin.source}: holds {task.kind}; {why}")
    return task
