"""One dense zero-slack solve: random attention, all its features on all facts, one linear system.

Memory is about 12 facts^2 bytes (features in float64, factors in float32), time that of one float32 LU of order
`facts` and about as much again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rote.constructions.codes import answer_code, targets
from rote.constructions.features import Differences
from rote.constructions.random_attention import Heads, draw_embeddings, draw_heads, model_weights
from rote.constructions.skip_gauge import SkipBasis, output_maps, value_part
from rote.constructions.zero_slack import refine, solver, usable_columns
from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.progress import Progress
from rote.tasks import AssociationTask

CONDITION_GATE = {torch.float64: 1e13, torch.float32: 1e7}
"""Above this the solution's size times the dtype's rounding leaves no margin; half dtypes are held to float32's."""


@dataclass(frozen=True)
class Attempt:
    """One draw's outcome: weights, or none with the reason in `conditions`."""

    weights: dict[str, Tensor] | None
    conditions: dict[str, Any]


class Clock:
    """Seconds per phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + now - self._since, 3)
        self._since = now


def dense_attempt(
    task: AssociationTask,
    spec: AttentionOnly,
    dtype: torch.dtype,
    score_std: float,
    right_hand_sides: int,
    generator: torch.Generator,
    progress: Progress,
) -> Attempt:
    """Draw attention, solve for every fact, fold the skip connection in."""
    clock = Clock()
    embeddings = draw_embeddings(spec, dtype, generator)
    drawn = draw_heads(spec.heads, spec, score_std, dtype, generator)
    differences = Differences(embeddings, torch.from_numpy(task.contexts).long())
    skip = SkipBasis(differences.last_tokens)
    features, heads, width = _features(differences, skip, drawn, spec, progress)
    clock.lap("features")

    double = dtype == torch.float64
    gate = CONDITION_GATE.get(dtype, CONDITION_GATE[torch.float32])
    with progress.stage(f"factorising {task.facts} x {task.facts}"):
        factors = solver(features, double)
    clock.lap("factorise")
    estimate = factors.condition(generator)
    measured: dict[str, Any] = {"condition": estimate, "score_std": score_std, "seconds": clock.seconds}
    clock.lap("condition")
    if not estimate < gate:
        return Attempt(None, measured)

    answers, place = torch.unique(torch.from_numpy(task.answers).long(), return_inverse=True)
    codes = [answer_code(len(answers), spec.dim, generator) for _ in range(right_hand_sides)]
    wanted = torch.cat([targets(code, place, generator) for code in codes], 1)
    solved = factors.solve(wanted)
    chosen = _best_skip(solved, skip, drawn, heads, width, right_hand_sides)
    columns = slice(chosen * spec.dim, (chosen + 1) * spec.dim)
    clock.lap("right-hand sides")

    refined = refine(features, factors, wanted[:, columns], solved[:, columns].contiguous())
    clock.lap("refine")
    skip_rows, head_rows = _split(refined.solution, skip, heads, width)
    gauge = skip.skip_map(skip_rows, value_part(drawn, head_rows))
    unembed = torch.zeros(spec.vocab, spec.dim, dtype=torch.float64)
    unembed[answers] = codes[chosen] @ gauge.T
    output = output_maps((spec.heads, spec.dim, spec.head_dim), head_rows, gauge)
    clock.lap("gauge")
    measured |= {
        "skip_condition": float(torch.linalg.cond(gauge)),
        "refinement_passes": refined.passes,
        "residual": refined.residual,
    }
    return Attempt(model_weights(embeddings, drawn, output, unembed), measured)


def _features(
    differences: Differences, skip: SkipBasis, drawn: Heads, spec: AttentionOnly, progress: Progress
) -> tuple[Tensor, int, int]:
    """Skip columns and the heads' features that take part, with how many heads and how many columns of each."""
    width = min(spec.head_dim, differences.rank())
    facts = differences.facts
    available = skip.columns + spec.heads * width
    if available < facts:
        raise InputError(
            f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: cannot hold {facts} facts. The features "
            f"of these contexts have rank {skip.columns} (last tokens) + {spec.heads} x {width} (what a head can tell "
            f"apart) = {available}; give at least {-(-(facts - skip.columns) // width)} heads"
        )
    columns = usable_columns(facts, available)
    heads = -(-(columns - skip.columns) // width) if columns > skip.columns else 0
    features = torch.empty(facts, skip.columns + heads * width, dtype=torch.float64)
    features[:, : skip.columns] = skip.features(differences.last_place)
    if heads:
        differences.features(drawn.some(slice(heads)), width, features[:, skip.columns :], progress=progress)
    return features, heads, width


def _split(solution: Tensor, skip: SkipBasis, heads: int, width: int) -> tuple[Tensor, Tensor]:
    return solution[: skip.columns], solution[skip.columns :].view(heads, width, solution.shape[1])


def _best_skip(solved: Tensor, skip: SkipBasis, drawn: Heads, heads: int, width: int, candidates: int) -> int:
    """The right-hand side whose skip map is best conditioned; unrefined solutions are near enough to tell."""
    dim = solved.shape[1] // candidates
    conditions = []
    for number in range(candidates):
        part = solved[:, number * dim : (number + 1) * dim]
        skip_rows, head_rows = _split(part.contiguous(), skip, heads, width)
        conditions.append(float(torch.linalg.cond(skip.skip_map(skip_rows, value_part(drawn, head_rows)))))
    return min(range(candidates), key=conditions.__getitem__)
