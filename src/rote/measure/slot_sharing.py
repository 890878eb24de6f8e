"""Facts that read the same slots of a memory layer: what zero-ablating one slot loses besides the fact itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rote.errors import InputError
from rote.measure.inspection import Inspection, SlotRead
from rote.measure.matching import for_model, rows_at_once
from rote.measure.recall import margins
from rote.models.forward.memory_transformer import MemoryRead, answered, memory_read
from rote.models.memory_transformer import MemoryTransformer
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import TokenTask


@dataclass(frozen=True)
class SharedSlot:
    """One slot that a fact reads, and the other facts that read it."""

    head: int
    slot: SlotRead
    facts: tuple[int, ...]
    """Rows of the other facts that read it."""
    lost: tuple[int, ...]
    """Those of them that are recalled, but not with this slot zero-ablated."""


def shared_slots(
    model: Model, task: TokenTask, seen: Inspection, progress: Progress = SILENT
) -> tuple[SharedSlot, ...]:
    """For every slot that an inspected fact reads, the other facts that read it."""
    spec = memory_spec(model)
    tokens = for_model(task, model)
    own = [part.slot for part in seen.contributions if part.slot is not None]
    group, slots = torch.tensor([slot.group for slot in own[:1]]), torch.tensor([[slot.slot for slot in own]])
    asked = torch.tensor([tokens.vocabulary.index[token] for token in seen.tokens])
    found: list[list[int]] = [[] for _ in own]
    lost: list[list[int]] = [[] for _ in own]
    for first, contexts, read in memory_reads(model, tokens, progress):
        same = (read.group[:, None] == group) & (read.slot == slots) & (contexts != asked).any(1)[:, None]
        for head in range(spec.heads):
            rows = same[:, head].nonzero().flatten()
            if not len(rows):
                continue
            answers = torch.from_numpy(tokens.answers_to_recall()[rows.numpy() + first]).long()
            total = read.values[rows].sum(1)
            before = margins(answered(model.weights, total), answers) > 0
            after = margins(answered(model.weights, total - read.values[rows, head]), answers) > 0
            found[head] += (rows + first).tolist()
            lost[head] += (rows[before & ~after] + first).tolist()
    return tuple(SharedSlot(head, slot, tuple(found[head]), tuple(lost[head])) for head, slot in enumerate(own))


def memory_spec(model: Model) -> MemoryTransformer:
    """The specification of a model whose facts are read from slots."""
    if not isinstance(model.spec, MemoryTransformer):
        raise InputError(f"this {model.spec.architecture} model has no memory layer, whose slots facts share")
    return model.spec


def memory_reads(
    model: Model, tokens: TokenTask, progress: Progress = SILENT
) -> Iterator[tuple[int, Tensor, MemoryRead]]:
    """What all facts read of a model's memory, some at a time, each with the first row and the contexts."""
    spec, step = memory_spec(model), rows_at_once(model)
    with progress.stage("reading slots", tokens.facts) as stage:
        for first in range(0, tokens.facts, step):
            contexts = torch.from_numpy(np.asarray(tokens.inputs(slice(first, first + step)))).long()
            yield first, contexts, memory_read(spec, model.weights, contexts)
            stage.advance(len(contexts))
