"""Gated arrowhead: zero slack beyond ten thousand facts, in memory far below facts^2.

Most heads are gated (see `gated_heads`): on facts outside their group their features vanish, so the system is
block-diagonal but for the skip connection and a few generic heads, which every fact sees:

    [ F_1             G_1 ] [B_1]   [E_1]
    [      ...        ... ] [...] = [...]        F_j: n_j facts x w h_j features, w h_j < n_j.
    [           F_J   G_J ] [B_g]   [E_J]

Eliminating each block leaves n_j - w h_j rows of G_j. Together these rows form the border, the system for B_g that all
blocks share, as square as the whole. An ill-conditioned border means another draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.absorbed_skip import SkipBasis
from rote.constructions.common.random_attention.draw import Heads
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.random_attention.score_size import ScoreSize
from rote.constructions.common.solvers.zero_slack import refine, solver, usable_columns
from rote.constructions.dana2025.arrow_block import Block, block_gate, draw_block
from rote.constructions.dana2025.gated_heads import draw_gated_embeddings, group_last_tokens
from rote.constructions.dana2025.solution import Attempt, Clock, Wanted, best_code, finish, padding, usable_width
from rote.constructions.dana2025.threshold_heads import draw_threshold_heads
from rote.models.attention_only import AttentionOnly
from rote.progress import Progress
from rote.tasks import AssociationTask

BORDER_GATE = 1e7
"""Condition number of the border above which float32 factors leave nothing to refine: 1/eps is 8e6."""
BORDER_ROWS = 2_000
"""Rows of the border that are solved in about the time of a few thousand facts' blocks."""
RUINED = 30.0
"""Times the condition number at which a block is drawn again, beyond which no draw of the same size of scores helps."""
BORDER_DRAWS = 4
"""Draws of the generic heads before all blocks are drawn again."""


def block_target(facts: int, width: int) -> int:
    """Facts per block that balance the blocks (facts n^2) with the border ((facts w / n)^3)."""
    return max(4 * width, round((facts**2 * width**3) ** 0.2))


def block_fill(facts: int) -> float:
    """Share of a block's facts that its own heads eliminate; the border takes the rest.

    On airports float32 moves margins half as far at .8 as where blocks are filled but for one head, in less time:
    well-conditioned blocks are drawn once. The border's time grows as its cube, so it is held to `BORDER_ROWS`.
    """
    return max(0.8, 1 - BORDER_ROWS / facts)


def arrowhead_refusal(task: AssociationTask, spec: AttentionOnly) -> str | None:
    """Why these facts and sizes do not suit the arrowhead; None when they do."""
    if spec.rank < 2:
        return "a gate needs query-key matrices of rank two; leave `rank_one` out and give `head_dim=2` or more"
    last_place = torch.unique(torch.from_numpy(task.contexts[:, -1]), return_inverse=True)[1]
    groups = group_last_tokens(last_place, block_target(task.facts, spec.head_dim))
    if len(groups.rows) < groups.gate_dim + 1:
        return f"its blocks are groups of last tokens, and there are only {len(groups.rows)} of them"
    if spec.dim < groups.gate_dim + 4:
        return (
            f"gates for {len(groups.rows)} groups of last tokens need dim {groups.gate_dim + 4} or more, not {spec.dim}"
        )
    return None


def arrowhead_attempt(
    task: AssociationTask,
    spec: AttentionOnly,
    dtype: torch.dtype,
    score_size: ScoreSize,
    right_hand_sides: int,
    generator: torch.Generator,
    progress: Progress,
) -> Attempt:
    """Draw gated and generic heads, eliminate block by block, solve the border, fold the skip connection in."""
    clock = Clock()
    contexts = torch.from_numpy(task.contexts).long()
    last, last_place = torch.unique(contexts[:, -1], return_inverse=True)
    groups = group_last_tokens(last_place, block_target(task.facts, spec.head_dim))
    embeddings, codes = draw_gated_embeddings(spec, groups, last, padding(task), dtype, generator)
    differences = Differences(embeddings, contexts)
    skip = SkipBasis(differences.last_tokens)
    width = usable_width(differences, skip, spec)

    with progress.stage("blocks", task.facts) as stage:
        blocks, filled = [], block_fill(task.facts)
        for rows, code in zip(groups.rows, codes, strict=True):
            draw = partial(draw_block, rows, code, differences, width, spec, generator, filled)
            block, score_size = _softened(draw, score_size, block_gate(len(rows)))
            blocks.append(block)
            stage.advance(len(rows))
    clock.lap("blocks")

    gated = sum(len(block.square) for block in blocks) // width
    border_rows = task.facts - gated * width
    columns = usable_columns(border_rows, skip.columns + (spec.heads - gated) * width)
    used = -(-(columns - skip.columns) // width)
    wanted = Wanted.draw(task, spec.dim, right_hand_sides, generator)
    measured: dict[str, Any] = {
        "condition": float("inf"),
        "block_condition": max((block.condition for block in blocks if block.heads is not None), default=1.0),
        "blocks": len(blocks),
        "largest_block": max(len(block.rows) for block in blocks),
        "border": border_rows,
        "seconds": clock.seconds,
    }
    # Another draw of the generic heads costs a fraction of another draw of all blocks.
    for draw in range(BORDER_DRAWS):
        score_std = score_size.plain(spec.heads - gated) * (1.0 if draw % 2 == 0 else 0.5)
        generic = draw_threshold_heads(spec.heads - gated, spec, score_std, differences, generator)
        seen = _SeenByAll(skip, differences, generic.some(slice(used)), width)
        border = _eliminate(blocks, seen, wanted.right, border_rows, progress)
        factors = solver(border.features, dtype == torch.float64)
        measured |= {"condition": factors.condition(generator), "score_std": score_std, "border_draws": draw + 1}
        clock.lap("border")
        if measured["condition"] < BORDER_GATE:
            break
    else:
        return Attempt(None, measured)
    refined = refine(border.features, factors, border.wanted)

    solved_blocks = [
        block.solve(of_wanted - of_seen @ refined.solution)
        for block, (of_seen, of_wanted) in zip(blocks, border.eliminated, strict=True)
        if len(block.square)
    ]
    heads = Heads.together([block.heads for block in blocks if block.heads is not None] + [generic])
    solved = torch.cat([*solved_blocks, refined.solution[skip.columns :]])
    clock.lap("back substitution")

    skip_rows = refined.solution[: skip.columns]
    code = best_code(skip_rows, solved, skip, heads, width, wanted)
    columns = wanted.columns(code)
    weights, skip_condition = finish(
        spec, embeddings, heads, skip, skip_rows[:, columns], solved[:, columns], width, wanted, code
    )
    clock.lap("gauge")
    measured |= {
        "skip_condition": skip_condition,
        "refinement_passes": refined.passes,
        "residual": refined.residual,
    }
    return Attempt(weights, measured)


def _softened(draw: Callable[[ScoreSize], Block], score_size: ScoreSize, gate: float) -> tuple[Block, ScoreSize]:
    """A block, with smaller scores where the usual ones ruin it, and the size of scores for the blocks to come.

    Codes of a few letters and digits differ in few places: sharp heads then look at the same ones.
    """
    block = draw(score_size)
    while block.condition > RUINED * gate and score_size.may_soften:
        softer = score_size.softer()
        again = draw(softer)
        if again.condition >= block.condition:
            break
        block, score_size = again, softer
    return block, score_size


@dataclass(frozen=True)
class _SeenByAll:
    """The skip connection and the generic heads, which every fact sees: G_j."""

    skip: SkipBasis
    differences: Differences
    heads: Heads
    width: int

    @property
    def columns(self) -> int:
        return self.skip.columns + len(self.heads) * self.width

    def features(self, rows: Tensor) -> Tensor:
        part = torch.empty(len(rows), self.columns, dtype=torch.float64)
        part[:, : self.skip.columns] = self.skip.features(self.differences.last_place[rows])
        self.differences.features(self.heads, self.width, part[:, self.skip.columns :], rows)
        return part


@dataclass(frozen=True)
class _Border:
    """What elimination leaves of G_j and of E_j, all blocks together, and what it makes of their pivot rows."""

    features: Float[Tensor, "border columns"]
    wanted: Float[Tensor, "border outputs"]
    eliminated: list[tuple[Tensor, Tensor]]


def _eliminate(blocks: list[Block], seen: _SeenByAll, wanted: Tensor, border_rows: int, progress: Progress) -> _Border:
    """The border system, block by block."""
    border = torch.empty(border_rows, seen.columns, dtype=torch.float64)
    border_wanted = torch.empty(border_rows, wanted.shape[1], dtype=torch.float64)
    sizes, eliminated, at = [seen.columns, wanted.shape[1]], [], 0
    with progress.stage("eliminating", sum(len(block.rows) for block in blocks)) as stage:
        for block in blocks:
            reduced = block.reduce(torch.cat([seen.features(block.rows), wanted[block.rows]], 1))
            eliminated.append(reduced.eliminated.split(sizes, 1))
            span = slice(at, at + len(reduced.left))
            border[span], border_wanted[span] = reduced.left.split(sizes, 1)
            at = span.stop
            stage.advance(len(block.rows))
    return _Border(border, border_wanted, eliminated)
