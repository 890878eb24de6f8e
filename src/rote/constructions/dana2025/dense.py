"""One dense solve: random attention, all its features on all facts, one exactly determined linear system.

Memory is about 12 facts^2 bytes (features in float64, factors in float32), time that of one float32 LU of order
`facts` and about as much again.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rote.constructions.common.random_attention.absorbed_skip import SkipBasis
from rote.constructions.common.random_attention.draw import Embeddings, Heads, ScoreSize, draw_embeddings, draw_heads
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.solvers.exactly_determined import refine, solver, usable_columns
from rote.constructions.dana2025.solution import Attempt, Clock, Wanted, best_code, finish, padding, usable_width
from rote.constructions.dana2025.threshold_heads import draw_threshold_embeddings, draw_threshold_heads
from rote.models.attention_only import AttentionOnly
from rote.progress import Progress
from rote.tasks import AssociationTask

CONDITION_GATE = {torch.float64: 1e13, torch.float32: 1e7}
"""Above this the solution's size times the dtype's rounding leaves no margin; half dtypes are held to float32's."""


def dense_attempt(
    task: AssociationTask,
    spec: AttentionOnly,
    dtype: torch.dtype,
    score_size: ScoreSize,
    right_hand_sides: int,
    generator: torch.Generator,
    code_seed: int,
    progress: Progress,
) -> Attempt:
    """Sample attention, solve for every fact, absorb the skip connection."""
    clock = Clock()
    score_std = score_size.plain(spec.heads)
    contexts = torch.from_numpy(task.contexts).long()
    embeddings, differences, heads = _draw(task, contexts, spec, dtype, score_std, generator)
    skip = SkipBasis(differences.last_tokens)
    width = usable_width(differences, skip, spec)
    features = dense_features(spec, heads, differences, skip, width, None, progress)
    clock.lap("features")

    with progress.stage(f"factorising {task.facts} x {task.facts}"):
        factors = solver(features, dtype == torch.float64)
    clock.lap("factorise")
    condition = factors.condition(generator)
    clock.lap("condition")
    measured: dict[str, Any] = {"condition": condition, "score_std": score_std, "seconds": clock.seconds}
    if not condition < CONDITION_GATE.get(dtype, CONDITION_GATE[torch.float32]):
        return Attempt(None, measured)

    wanted = Wanted.draw(task, spec.dim, right_hand_sides, code_seed)
    solved = factors.solve(wanted.right)
    code = best_code(solved[: skip.columns], solved[skip.columns :], skip, heads, width, wanted)
    clock.lap("right-hand sides")
    columns = wanted.columns(code)
    refined = refine(features, factors, wanted.right[:, columns], solved[:, columns].contiguous())
    clock.lap("refine")
    skip_rows, head_rows = refined.solution[: skip.columns], refined.solution[skip.columns :]
    weights, skip_condition = finish(spec, embeddings, heads, skip, skip_rows, head_rows, width, wanted, code)
    clock.lap("skip map")
    measured |= {
        "skip_condition": skip_condition,
        "refinement_passes": refined.passes,
        "residual": refined.residual,
    }
    return Attempt(weights, measured, {"code": code})


def dense_features(
    spec: AttentionOnly,
    heads: Heads,
    differences: Differences,
    skip: SkipBasis,
    width: int,
    rows: Tensor | None,
    progress: Progress,
) -> Tensor:
    """Features of these facts (default: all): as many heads take part as all facts need."""
    facts = differences.facts
    used = -(-(usable_columns(facts, skip.columns + spec.heads * width) - skip.columns) // width)
    place = differences.last_place if rows is None else differences.last_place[rows]
    features = torch.empty(len(place), skip.columns + used * width, dtype=torch.float64)
    features[:, : skip.columns] = skip.features(place)
    differences.features(heads.some(slice(used)), width, features[:, skip.columns :], rows, progress)
    return features


def _draw(
    task: AssociationTask,
    contexts: Tensor,
    spec: AttentionOnly,
    dtype: torch.dtype,
    score_std: float,
    generator: torch.Generator,
) -> tuple[Embeddings, Differences, Heads]:
    """Plain random attention; threshold heads where keys are padded, since plain ones look at little but padding."""
    pad = padding(task)
    if pad is None or spec.rank < 2 or spec.dim < 4:
        embeddings = draw_embeddings(spec, dtype, generator)
        heads = draw_heads(spec.heads, spec, score_std, dtype, generator)
        return embeddings, Differences(embeddings, contexts), heads
    embeddings = draw_threshold_embeddings(spec, pad, dtype, generator)
    differences = Differences(embeddings, contexts)
    return embeddings, differences, draw_threshold_heads(spec.heads, spec, score_std, differences, generator)
