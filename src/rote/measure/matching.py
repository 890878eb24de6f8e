"""Bringing a task and a model together: same kind, same sizes, the model's vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, cast

from torch import Tensor

from rote.errors import InputError, problems
from rote.models import QueryAttention, Spec
from rote.models.model import Model
from rote.models.spec import FORWARD_FLOATS
from rote.progress import SILENT, Progress
from rote.tasks import Task, TokenTask, VectorTask

MOST_ROWS = 2**14
"""Beyond so many rows at once nothing is gained."""


def rows_at_once(model: Model) -> int:
    """The largest power of two of rows whose forward pass stays within `FORWARD_FLOATS`; at least one."""
    rows = MOST_ROWS
    while rows > 1 and model.spec.floats_held(rows) > FORWARD_FLOATS:
        rows //= 2
    return rows


def stream_logits(
    model: Model,
    task: Task,
    progress: Progress = SILENT,
    label: str = "recalling facts",
    rows: int | None = None,
) -> Iterator[tuple[slice, Tensor]]:
    """Slices of the task's rows with their logits; at most `rows` at a time, or as many as are fast."""
    step = rows_at_once(model) if rows is None else rows
    with progress.stage(label, task.facts) as stage:
        for start in range(0, task.facts, step):
            end = min(start + step, task.facts)
            for logits in model.logits_in_parts(task.inputs(slice(start, end))):
                taken = slice(start, start + len(logits))
                yield taken, logits
                stage.advance(len(logits))
                start = taken.stop


TaskKind = TypeVar("TaskKind", bound=Task)


def for_model(task: TaskKind, model: Model) -> TaskKind:
    """The task in the model's vocabulary; a mismatch of kind or sizes is one clear error."""
    if model.spec.reads != task.reads:
        raise InputError(
            f"a {model.spec.architecture} model of this kind reads {model.spec.reads}, but these facts are {task.reads}"
        )
    if isinstance(task, VectorTask):
        _refuse_other_vectors(task, model.spec)
    elif isinstance(task, TokenTask):
        _refuse_other_tokens(task, model)
    return task if model.vocabulary is None else cast(TaskKind, task.in_vocabulary(model.vocabulary))


def _refuse_other_tokens(task: TokenTask, model: Model) -> None:
    context, vocab = model.spec.context, model.spec.vocab
    if context != task.context:
        raise InputError(
            f"the model reads contexts of {context} tokens but these facts have {task.context}; "
            "read the facts the way the model's were (`keys`, `key`, `context`)"
        )
    if model.vocabulary is None and vocab != task.vocab:
        raise InputError(
            f"the model has {vocab} tokens and no vocabulary to tell which, but these facts have {task.vocab}; "
            "give the model its vocabulary"
        )


def _refuse_other_vectors(task: VectorTask, spec: Spec) -> None:
    differences = [
        f"the model's {name} is {size} but the task's is {given}"
        for name, size, given in (("context", spec.context, task.context), ("dim", spec.dim, task.dim))
        if size != given
    ]
    outputs = spec.outputs if isinstance(spec, QueryAttention) else spec.vocab or 0
    # Classes that no example carries are still classes, but a target has a fixed length.
    if outputs < task.outputs or (task.targets is not None and outputs != task.outputs):
        differences.append(f"the model gives {outputs} outputs but the task has {task.outputs}")
    if differences:
        raise problems("the model does not fit these vectors", differences)
