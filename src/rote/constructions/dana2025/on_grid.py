"""Theorem 1 on a grid: attention drawn from the grid, W_U taken from it, W_O solved and then rounded fact by fact.

1. Tokens, positions, queries, keys and values are Gaussian numbers rounded to their grids before anything is computed
   from them, so that their rounding costs nothing.
2. The unembedding is an answer code rounded to its grid; the stream is to end at a multiple of the answer's row.
3. W_O is the least-norm solution of that linear system, with more features than facts and a small ridge: large weights
   would multiply every rounding, of weights here and of activations in other runtimes.
4. W_O is rounded, then its codes are moved one feature after the other to the level that leaves the least squared error
   (coordinate descent); facts that are missed count more in the next sweep.
5. Where `unknown` is a threshold, the last dimension of the stream is constant, and the unembedding's row of `unknown`
   reads it alone: its logit is the same for every key, just below the smallest logit of any stored answer. With several
   times as many features as facts, the least-norm W_O gives most other keys smaller logits than that.

Whole numbers -7, ..., 7 (int4) or -127, ..., 127 (int8) times one scale per tensor, and for W_O one per dimension of
the stream, are exactly what blocks of GGUF's Q4_0 and Q8_0 hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.codes import answer_code
from rote.constructions.common.random_attention.draw import Embeddings, Heads, ScoreSize, draw_heads, gaussian
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.construction import Abandoned, Draft, Request
from rote.constructions.dana2025.interpolation import check_answers
from rote.constructions.dana2025.options import Theorem1Options
from rote.errors import CheckFailed, InputError
from rote.measure.certificate import examine
from rote.models.attention_only import AttentionOnly
from rote.models.grid import GridName, Precision, TensorGrid, grid_up_to, least_squares_grid
from rote.models.model import Model
from rote.progress import Progress
from rote.tasks import AssociationTask
from rote.tasks.unknown import UNKNOWN, by_threshold

BUILT_LEVELS: dict[GridName, int] = {"int8": 255, "int6": 63, "int4": 15, "levels12": 11, "int3": 7, "ternary": 3}
"""Levels of built tensors: odd, so that zero is one of them."""
ROOM: dict[GridName, float] = {
    "int8": 1.1, "int6": 1.25, "int4": 1.5, "levels12": 1.6, "int3": 2.0, "ternary": 3.5
}  # fmt: skip
"""Features of heads per fact that a build begins with: chosen on countries, seed 0."""
SAMPLED_ROOM = 1.8
"""Factor on them where unknown keys were sampled: near the interpolation threshold other keys are guessed at."""
THRESHOLD_ROOM = 4.0
"""The same where `unknown` is a threshold: chosen on 500 product codes, seeds 0 to 2."""
BELOW = 0.99
"""The threshold, as a share of the smallest logit of a stored answer."""
THRESHOLD_LEVELS = 63
"""Fewest levels of a grid that holds both a threshold and answer codes in one matrix."""
DIM, WIDE_DIM, MANY_FACTS = 12, 16, 2_000
"""Dimensions of the stream that it begins with, up to so many facts and beyond."""
GROWTH, GROWTHS, WIDER = 1.15, 4, 2
"""When facts are missed: the factor on features, how often, and the dimensions that are added each time."""
SUMMED = {255: 127, 63: 31, 15: 7, 11: 5, 7: 3}
"""Levels of tokens and positions where both are needed, by those of other tensors. They share one scale, so that their
sums, which targets without positions embed, have the levels of the others."""
LENGTH = 3.0
"""Length of the stream's target, in lengths of an embedded token."""
RIDGE = 1e-3
"""Ridge of the solve, in units of the mean square of a feature row."""
SWEEPS, RAISED = 12, 2.0
"""Sweeps of coordinate descent, and the factor on the weight of a missed fact."""
MOST_FACTS = 12_000
"""Facts of one dense solve: its matrix takes 8 facts^2 bytes."""


@dataclass(frozen=True, eq=False)
class GridSystem:
    """Attention on its grids, what its heads give W_O, and what W_O has to make of it."""

    weights: dict[str, Tensor]
    grids: dict[str, TensorGrid]
    features: Float[Tensor, "facts features"]
    wanted: Float[Tensor, "facts dim"]


def grid_spec(request: Request[AssociationTask, Theorem1Options], task: AssociationTask, growth: int) -> AttentionOnly:
    """Sizes of a build after so many failed ones; an error where they cannot hold the facts.

    Queries and keys have rank one (Remark 2 of the paper), which is enough and saves most of their weights.
    """
    dim = request.dim or (WIDE_DIM if task.facts > MANY_FACTS else DIM) + WIDER * growth + by_threshold(task)
    head_dim = request.head_dim or dim
    room = ROOM[cast(GridName, request.dtype)] * (SAMPLED_ROOM if task.origin.reading.unknown_keys else 1)
    room *= THRESHOLD_ROOM if by_threshold(task) else 1
    features = room * GROWTH**growth * task.facts
    heads = request.heads or math.ceil(features / head_dim)
    spec = AttentionOnly(
        vocab=task.vocab, context=task.context, dim=dim, head_dim=head_dim, heads=heads,
        query_key_rank=None if head_dim == 1 else 1,
    )  # fmt: skip
    if heads * min(head_dim, dim) < task.facts:
        needed = math.ceil(task.facts / min(head_dim, dim))
        raise InputError(
            f"`heads={heads}`: on a grid heads alone must have one feature per fact, {task.facts:,}; give "
            f"`heads={needed}` or more, or leave it out"
        )
    return spec


def build_on_grid(request: Request[AssociationTask, Theorem1Options]) -> Draft:
    """Store the facts on a grid; more features if some are missed and `heads` was not given."""
    task, dtype = request.task.majority(), cast(GridName, request.dtype)
    if task.context < 2:
        raise InputError(
            f"`dtype={dtype}`: a key of one token leaves attention nothing to do; give keys of two or more"
        )
    if by_threshold(task) and BUILT_LEVELS[dtype] < THRESHOLD_LEVELS:
        able = ", ".join(name for name, levels in BUILT_LEVELS.items() if levels >= THRESHOLD_LEVELS)
        raise InputError(f"`dtype={dtype}`: is too coarse for a threshold; give one of {able}, or `unknown_keys`")
    if by_threshold(task) and request.dim == 1:
        raise InputError("`dim=1`: a threshold takes a dimension of its own; give `dim=2` or more")
    if task.facts > MOST_FACTS:
        raise InputError(
            f"`dtype={dtype}`: {task.facts:,} facts are more than one dense solve takes ({MOST_FACTS:,}); "
            "use a float dtype"
        )
    abandoned: list[Abandoned] = []
    for growth in range(1 + (GROWTHS if request.heads is None else 0)):
        spec = grid_spec(request, task, growth)
        check_answers(task, spec)
        generator = torch.Generator().manual_seed(request.seed)
        system = drawn_system(task, spec, dtype, request.options.score_std, generator, request.progress)
        model, missed, sweeps = rounded_output(system, task, spec, dtype, request.progress)
        if not missed and by_threshold(task):
            model = with_threshold(model, task)
        if not missed:
            measured: dict[str, Any] = {"growths": growth, "sweeps": sweeps}
            examination = examine(model, request.task, progress=request.progress)
            return Draft(model, None, measured, abandoned=tuple(abandoned), examination=examination)
        failed = f"{missed:,} of {task.facts:,} facts are missed in {dtype} after {sweeps} sweeps"
        abandoned.append(Abandoned.model(spec, failed))
    raise CheckFailed(f"{abandoned[-1]}. Give more `heads`, a larger `dim`, or a finer `dtype`")


def placed(task: AssociationTask) -> bool:
    """Whether every token stands at one position only, so that no position has to be told."""
    return sum(len(np.unique(column)) for column in task.contexts.T) == len(np.unique(task.contexts))


def drawn_system(
    task: AssociationTask,
    spec: AttentionOnly,
    dtype: GridName,
    score_std: float | None,
    generator: torch.Generator,
    progress: Progress,
) -> GridSystem:
    """Attention and answer code on their grids, features of every fact, and the right-hand side."""
    levels = BUILT_LEVELS[dtype]
    drawn: dict[str, np.ndarray] = {}
    grids: dict[str, TensorGrid] = {}

    def put(name: str, values: Tensor) -> Tensor:
        grids[name] = least_squares_grid(values.double().numpy(), levels)
        drawn[name] = grids[name].nearest(values.double().numpy())
        return torch.from_numpy(drawn[name])

    heads = draw_heads(spec.heads, spec, ScoreSize(score_std).plain(spec.heads), torch.float64, generator)
    tokens, positions = gaussian((spec.vocab, spec.dim), generator), gaussian((spec.context, spec.dim), generator)
    if by_threshold(task):
        largest = float(max(tokens.abs().max(), positions.abs().max()))
        tokens[:, -1], positions[:, -1], positions[-1, -1] = 0, 0, largest
    if placed(task):
        positions[:, : spec.dim - by_threshold(task)] = 0
        embeddings = Embeddings(put("tokens", tokens), put("positions", positions))
    else:
        both = least_squares_grid(torch.cat([tokens, positions]).numpy(), SUMMED.get(levels, levels))
        for name, values in (("tokens", tokens), ("positions", positions)):
            grids[name], drawn[name] = both, both.nearest(values.numpy())
        embeddings = Embeddings(torch.from_numpy(drawn["tokens"]), torch.from_numpy(drawn["positions"]))
    heads = Heads(
        put("layers.0.query", heads.query), put("layers.0.key", heads.key), put("layers.0.value", heads.value)
    )
    differences = Differences(embeddings, torch.from_numpy(task.contexts).long())
    last = differences.last()
    length = LENGTH * float(last.square().sum(1).mean().sqrt())
    answers, index = torch.unique(torch.from_numpy(task.answers).long(), return_inverse=True)
    unembed = torch.zeros(spec.vocab, spec.dim, dtype=torch.float64)
    coded = spec.dim - by_threshold(task)
    unembed[answers, :coded] = answer_code(len(answers), coded, generator)
    if by_threshold(task):
        # Room for the logit of `unknown` up to that of an answer; its level is set once W_O is rounded.
        grids["unembed"] = grid_up_to(length / float(last[0, -1]), levels, unembed.ndim)
        drawn["unembed"] = grids["unembed"].nearest(unembed.numpy())
        rows = torch.from_numpy(drawn["unembed"]).double()[answers]
    else:
        rows = put("unembed", unembed).double()[answers]
    features = torch.empty(task.facts, spec.heads * spec.head_dim, dtype=torch.float64)
    differences.features(heads, spec.head_dim, features, progress=progress)
    features += last @ heads.value.double().flatten(0, 1).T
    wanted = length * rows[index] / rows[index].norm(dim=1, keepdim=True) - last
    wanted[:, coded:] = 0
    weights = {name: torch.from_numpy(array) for name, array in drawn.items()}
    return GridSystem(weights, grids, features, wanted)


def with_threshold(model: Model, task: AssociationTask) -> Model:
    """The same model, whose `unknown` has the same logit for every key, below that of every stored answer."""
    if model.precision is None:
        raise CheckFailed("a threshold is set on the grid of the unembedding, and this model is not on a grid")
    grid, constant = model.precision.grids["unembed"], float(model.weights["positions"][-1, -1])
    logits = torch.cat(list(model.logits_in_parts(task.contexts)))
    smallest = float(logits.gather(1, torch.from_numpy(task.answers).long()[:, None]).min())
    unembed = model.weights["unembed"].clone()
    step = float(grid.scales.reshape(-1)[0])
    level = math.floor(BELOW * smallest / constant / step)
    unembed[task.vocabulary.index[UNKNOWN], -1] = step * min(grid.middle, level)
    return Model(model.spec, {**model.weights, "unembed": unembed}, model.vocabulary, precision=model.precision)


def rounded_output(
    system: GridSystem, task: AssociationTask, spec: AttentionOnly, dtype: GridName, progress: Progress
) -> tuple[Model, int, int]:
    """The model with W_O on its grid, how many facts it misses, and the sweeps that were taken."""
    # The ridge bounds the condition number, so that float32 does for many facts; rounding mends the rest.
    dtype_solved = torch.float32 if task.facts > MANY_FACTS else torch.float64
    features, wanted = system.features.to(dtype_solved), system.wanted.to(dtype_solved)
    with progress.stage(f"solving for {task.facts} facts"):
        gram = features @ features.T
        gram.diagonal().add_(RIDGE * float(gram.diagonal().mean()))
        solved = features.T @ torch.cholesky_solve(wanted, torch.linalg.cholesky(gram))
        del gram
    solved = solved.double()
    grid = least_squares_grid(solved.T.numpy(), BUILT_LEVELS[dtype], shared=(1,))
    codes = grid.codes(solved.T.numpy()).T - grid.middle
    columns = np.ascontiguousarray(features.T.float().numpy())
    scale = grid.scales.astype(np.float32).reshape(-1)
    weight = np.ones(task.facts, np.float32)
    best, fewest, sweep = _model(system, codes, grid, task, spec, dtype), task.facts + 1, 0
    with progress.stage("rounding W_O", SWEEPS) as stage:
        for sweep in range(1, SWEEPS + 1):
            residual = wanted.float().numpy() - columns.T @ (codes.astype(np.float32) * scale)
            descend(codes, columns, residual, weight, scale, grid.middle)
            model = _model(system, codes, grid, task, spec, dtype)
            missed = examine(model, task).missed
            if len(missed) < fewest:
                best, fewest = model, len(missed)
            stage.advance(1)
            if not len(missed) and sweep > 1:
                break
            weight[missed] *= RAISED
    return best, fewest, sweep


def descend(
    codes: np.ndarray, columns: np.ndarray, residual: np.ndarray, weight: np.ndarray, scale: np.ndarray, most: float
) -> None:
    """One sweep: each feature's codes, for all dimensions, to where the weighted squared error is least."""
    weighted = columns * weight
    sizes = np.einsum("pf,pf->p", weighted, columns)
    steps = np.where(scale > 0, scale, np.inf)
    for place, column in enumerate(columns):
        if not sizes[place]:
            continue
        moved = np.rint(weighted[place] @ residual / (sizes[place] * steps))
        moved = np.clip(codes[place] + moved, -most, most) - codes[place]
        if moved.any():
            codes[place] += moved
            residual -= np.outer(column, (moved * scale).astype(np.float32))


def _model(
    system: GridSystem, codes: np.ndarray, grid: TensorGrid, task: AssociationTask, spec: AttentionOnly, dtype: GridName
) -> Model:
    heads, dim, k = spec.heads, spec.dim, spec.head_dim
    scales = np.ascontiguousarray(grid.scales.reshape(1, dim, 1))
    output = TensorGrid(grid.levels, scales)
    arranged = (codes + grid.middle).astype(np.uint8).reshape(heads, k, dim).transpose(0, 2, 1)
    weights = {**system.weights, "layers.0.output": torch.from_numpy(output.values(np.ascontiguousarray(arranged)))}
    grids = {**system.grids, "layers.0.output": output}
    return Model(
        spec, {name: weights[name] for name in spec.shapes()}, task.vocabulary, precision=Precision(dtype, grids)
    )
