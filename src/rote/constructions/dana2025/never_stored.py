"""Theorem 1 without some of its facts, from the same random initialization.

Attention, answer codes, targets and groups are those of the complete table; the solve sees only the facts that are
kept. Of the built model nothing but attention (embeddings, W_Q, W_K, W_V) is read: W_O and W_U, which hold the facts,
have no say. With room to spare (`output_attempt`) no answer of any fact has a say in what was drawn. Without it, which
of the answer codes was taken may depend on a single fact; the choice is part of the sample.

Each solve has one answer: the dense one is the solution of least norm, the bordered one that of least norm in what all
groups share.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rote.constructions.common.random_attention.absorbed_skip import SkipBasis
from rote.constructions.common.random_attention.draw import Embeddings, Heads
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.solvers.exactly_determined import refine, usable_columns
from rote.constructions.common.solvers.least_norm import Factored, factor
from rote.constructions.dana2025.bordered import SeenByAll, eliminate, facts_per_group
from rote.constructions.dana2025.bordered_group import Group, Starts, factorise, no_heads
from rote.constructions.dana2025.dense import dense_features
from rote.constructions.dana2025.gated_heads import group_last_tokens
from rote.constructions.dana2025.interpolation import code_seed
from rote.constructions.dana2025.output_system import solved_output
from rote.constructions.dana2025.solution import Wanted, finish, usable_width
from rote.errors import CheckFailed, InputError
from rote.models.attention_only import AttentionOnly
from rote.progress import Progress
from rote.tasks import AssociationTask


def never_stored(
    attention: dict[str, Tensor],
    spec: AttentionOnly,
    task: AssociationTask,
    kept: Tensor,
    seed: int,
    sample: dict[str, Any],
    right_hand_sides: int,
    progress: Progress,
) -> dict[str, Tensor]:
    """Weights that store the rows `kept` of `task`, as if the others had never been asked for.

    `attention` has the tensors of a model that was built from the complete task with this seed, and `sample` says which
    of its random samples was taken. `spec` is the layer as it was built.
    """
    codes_from = code_seed(seed, sample["redraws"])
    if sample["solve"] == "output":
        weights, condition = solved_output(attention, spec, task, kept, codes_from, progress)
        if weights is None:
            raise CheckFailed(f"{len(kept):,} of the facts cannot be solved for: condition number {condition:.1e}")
        return weights
    contexts = torch.from_numpy(task.contexts).long()
    embeddings = Embeddings(attention["tokens"], attention["positions"])
    heads = Heads(*(attention[f"layers.0.{name}"] for name in ("query", "key", "value")))
    differences = Differences(embeddings, contexts)
    skip = SkipBasis(differences.last_tokens)
    width = usable_width(differences, skip, spec)
    codes = Wanted.draw(task, spec.dim, right_hand_sides, codes_from)
    wanted = codes.of(torch.arange(task.facts), sample["code"])
    if sample["solve"] == "dense":
        features = dense_features(spec, heads, differences, skip, width, kept, progress)
        with progress.stage(f"factorising {len(features)} x {features.shape[1]}"):
            refined = refine(features, _Solver(factor(features)), wanted.right[kept], tolerance=0.0)
        solved = refined.solution
    else:
        solved = _bordered(spec, heads, differences, skip, width, kept, wanted.right, sample["group_heads"], progress)
    weights, _ = finish(spec, embeddings, heads, skip, solved[: skip.columns], solved[skip.columns :], width, wanted, 0)
    return weights


def _bordered(
    spec: AttentionOnly,
    heads: Heads,
    differences: Differences,
    skip: SkipBasis,
    width: int,
    kept: Tensor,
    right: Tensor,
    group_heads: list[int],
    progress: Progress,
) -> Tensor:
    """The bordered solve of `bordered` for the kept facts: skip columns first, then all heads in order."""
    facts = differences.facts
    token_groups = group_last_tokens(differences.last_place, facts_per_group(facts, spec.head_dim))
    if len(token_groups.rows) != len(group_heads):
        raise InputError("the model folder names other groups of facts than these; name the table it was built from")
    is_kept = torch.zeros(facts, dtype=torch.bool)
    is_kept[kept] = True
    generator = torch.Generator().manual_seed(0)
    groups: list[Group] = []
    first = 0
    for rows, count in zip(token_groups.rows, group_heads, strict=True):
        rows, own = rows[is_kept[rows]], heads.some(slice(first, first + count))
        first += count
        own = own.some(slice(len(rows) // width))
        if not len(own):
            groups.append(no_heads(rows))
            continue
        features = torch.empty(len(rows), len(own) * width, dtype=torch.float64)
        differences.features(own, width, features, rows)
        groups.append(factorise(rows, own, features, Starts.draw(features.shape[1], generator)))
    gated = first
    columns = usable_columns(facts - gated * width, skip.columns + (spec.heads - gated) * width)
    used = -(-(columns - skip.columns) // width)
    seen = SeenByAll(skip, differences, heads.some(slice(gated, gated + used)), width)
    border_rows = sum(len(group.below) for group in groups)
    border = eliminate(groups, seen, right, border_rows, progress)
    with progress.stage(f"factorising {border_rows} x {seen.columns}"):
        refined = refine(border.features, _Solver(factor(border.features)), border.wanted, tolerance=0.0)
    solved = torch.zeros(skip.columns + (gated + used) * width, spec.dim, dtype=torch.float64)
    solved[: skip.columns] = refined.solution[: skip.columns]
    solved[skip.columns + gated * width :] = refined.solution[skip.columns :]
    parts = iter(border.back_substituted(groups, refined.solution))
    at = skip.columns
    for group, count in zip(groups, group_heads, strict=True):
        if len(group.square):
            solved[at : at + len(group.square)] = next(parts)
        at += count * width
    return solved


class _Solver:
    """A QR factorisation as `refine` takes it: least norm, whichever columns are zero."""

    def __init__(self, factored: Factored) -> None:
        self._factored = factored

    def solve(self, right: Tensor) -> Tensor:
        return self._factored.solve(right)

    def condition(self, generator: torch.Generator) -> float:
        return self._factored.condition
