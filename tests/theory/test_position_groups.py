"""Positions that share no tokens cost rank: the shape of a task counts their groups."""

from __future__ import annotations

import numpy as np
import torch

from rote.models import AttentionOnly
from rote.models.forward.attention_only import head_values
from rote.tasks import AssociationTask, Vocabulary
from rote.theory.sizes import task_rank


def table(columns: list[range]) -> AssociationTask:
    """Every combination of one token from each column."""
    contexts = np.stack(np.meshgrid(*map(np.asarray, columns), indexing="ij"), -1).reshape(-1, len(columns))
    return AssociationTask(contexts, np.zeros(len(contexts), dtype=int), Vocabulary.numbered(64))


def numerical_rank(task: AssociationTask, dim: int, heads: int) -> int:
    spec = AttentionOnly(vocab=task.vocab, context=task.context, dim=dim, head_dim=dim, heads=heads)
    generator = torch.Generator().manual_seed(0)
    draw = {name: torch.randn(shape, generator=generator).double() for name, shape in spec.shapes().items()}
    x = draw["tokens"][torch.from_numpy(task.contexts).long()] + draw["positions"]
    part = {name: draw[f"layers.0.{name}"] for name in ("query", "key", "value")}
    part["query"] = part["query"] / (4 * dim)  # scores of about one: saturated attention hides rank in rounding
    features = torch.cat([x[:, -1], head_values(part, x[:, -1:], x).flatten(1)], 1)
    return int(torch.linalg.matrix_rank(features, rtol=1e-11))


def test_groups_are_counted():
    assert table([range(3), range(3, 7)]).shape.groups == 2
    assert table([range(5), range(4, 7)]).shape.groups == 1
    assert table([range(2), range(2, 4), range(4, 6)]).shape.groups == 3
    # The first and the last position share nothing but are joined through the middle one.
    assert table([range(3), range(2, 5), range(4, 6)]).shape.groups == 1


def test_each_group_beyond_the_first_costs_a_dimension_per_head():
    for columns in ([range(3), range(3, 7)], [range(4), range(3, 7)], [range(2), range(2, 5), range(5, 8)]):
        task = table(columns)
        bound = task_rank(task.shape, 12, 12, 1)
        assert bound < task.facts
        assert numerical_rank(task, 12, 1) == bound
