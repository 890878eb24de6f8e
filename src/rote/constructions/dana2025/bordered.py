"""A bordered block-diagonal system: Theorem 1 beyond ten thousand facts, in memory far below facts^2.

Most heads are gated (see `gated_heads`): their features vanish on facts outside their group, so the system is
block-diagonal but for the skip connection and a few generic heads, which every fact sees:

    [ F_1             G_1 ] [B_1]   [E_1]
    [      ...        ... ] [...] = [...]        F_j: n_j facts x w h_j features, w h_j < n_j.
    [           F_J   G_J ] [B_g]   [E_J]

Eliminating each group leaves n_j - w h_j rows of G_j. Together these rows are the border: the system for B_g that all
groups share (the Schur complement), as square as the complete one. An ill-conditioned border is resampled.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.absorbed_skip import SkipBasis
from rote.constructions.common.random_attention.draw import Heads, ScoreSize
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.solvers.exactly_determined import refine, solver, usable_columns
from rote.constructions.dana2025.bordered_group import Group, GroupDraw, Reduced
from rote.constructions.dana2025.gated_heads import draw_gated_embeddings, group_last_tokens
from rote.constructions.dana2025.solution import Attempt, Clock, Wanted, best_code, finish, padding, usable_width
from rote.constructions.dana2025.threshold_heads import draw_threshold_heads
from rote.models.attention_only import AttentionOnly
from rote.progress import Progress
from rote.tasks import AssociationTask
from rote.threads import Crew, Started, crew

BORDER_LIMIT = 1e7
"""Largest condition number of the border: above it float32 factors leave nothing to refine (1/eps is 8e6)."""
BORDER_ROWS = 2_000
"""Rows of a border that is solved in about the time of the groups of a few thousand facts."""
HOPELESS = 30.0
"""A group this many times above the limit is not saved by resampling; its scores are made smaller instead."""
AHEAD = 16
"""Groups per thread that are drawn ahead: the first is often as large as all others."""
BORDER_DRAWS = 4
"""Samples of the generic heads before all groups are resampled."""


def facts_per_group(facts: int, width: int) -> int:
    """Facts n per group that balance the cost of the groups (facts n^2) with that of the border ((facts w / n)^3)."""
    return max(4 * width, round((facts**2 * width**3) ** 0.2))


def filled_share(facts: int) -> float:
    """Share of a group's facts that its own heads eliminate; the border takes the rest.

    On airports float32 moves margins half as far at 0.8 as where groups are filled but for one head, in less time:
    well-conditioned groups are drawn once. The border costs the cube of its rows, so it is held to `BORDER_ROWS`.
    """
    return max(0.8, 1 - BORDER_ROWS / facts)


def bordered_refusal(task: AssociationTask, spec: AttentionOnly) -> str | None:
    """Why these facts and sizes do not suit a bordered system; None if they do."""
    if spec.rank < 2:
        return "a gate needs query-key matrices of rank two; leave `rank_one` out and give `head_dim=2` or more"
    last_place = torch.unique(torch.from_numpy(task.contexts[:, -1]), return_inverse=True)[1]
    token_groups = group_last_tokens(last_place, facts_per_group(task.facts, spec.head_dim))
    number, dim = len(token_groups.rows), token_groups.gate_dim + 4
    if number < token_groups.gate_dim + 1:
        return f"its groups are those of last tokens, and there are only {number} of them"
    if spec.dim < dim:
        return f"gates for {number} groups of last tokens need dim {dim} or more, not {spec.dim}"
    return None


def bordered_attempt(
    task: AssociationTask,
    spec: AttentionOnly,
    dtype: torch.dtype,
    score_size: ScoreSize,
    right_hand_sides: int,
    generator: torch.Generator,
    code_seed: int,
    progress: Progress,
) -> Attempt:
    """Draw gated and generic heads, eliminate group by group, solve the border, absorb the skip connection."""
    with crew() as threads:
        return _attempt(task, spec, dtype, score_size, right_hand_sides, generator, code_seed, progress, threads)


def _attempt(
    task: AssociationTask,
    spec: AttentionOnly,
    dtype: torch.dtype,
    score_size: ScoreSize,
    right_hand_sides: int,
    generator: torch.Generator,
    code_seed: int,
    progress: Progress,
    threads: Crew,
) -> Attempt:
    clock = Clock()
    contexts = torch.from_numpy(task.contexts).long()
    last, last_place = torch.unique(contexts[:, -1], return_inverse=True)
    token_groups = group_last_tokens(last_place, facts_per_group(task.facts, spec.head_dim))
    embeddings, codes = draw_gated_embeddings(spec, token_groups, last, padding(task), dtype, generator)
    differences = Differences(embeddings, contexts)
    skip = SkipBasis(differences.last_tokens)
    width = usable_width(differences, skip, spec)

    filled = filled_share(task.facts)
    draws = [
        GroupDraw(rows, code, differences, width, spec, filled)
        for rows, code in zip(token_groups.rows, codes, strict=True)
    ]
    answers = threads.start(lambda: Wanted.draw(task, spec.dim, right_hand_sides, code_seed))
    groups, score_size = draw_groups(draws, score_size, generator, threads, progress)
    wanted = answers.result()
    clock.lap("groups")

    gated = sum(len(group.square) for group in groups) // width
    border_rows = task.facts - gated * width
    columns = usable_columns(border_rows, skip.columns + (spec.heads - gated) * width)
    used = -(-(columns - skip.columns) // width)
    measured: dict[str, Any] = {
        "condition": float("inf"),
        "group_condition": max((group.condition for group in groups if group.heads is not None), default=1.0),
        "groups": len(groups),
        "largest_group": max(len(group.rows) for group in groups),
        "border": border_rows,
        "seconds": clock.seconds,
    }
    # Resampling the generic heads costs a fraction of resampling all groups.
    for draw in range(BORDER_DRAWS):
        score_std = score_size.plain(spec.heads - gated) * (1.0 if draw % 2 == 0 else 0.5)
        generic = draw_threshold_heads(spec.heads - gated, spec, score_std, differences, generator)
        seen = SeenByAll(skip, differences, generic.some(slice(used)), width)
        border = eliminate(groups, seen, wanted.right, border_rows, progress)
        factors = solver(border.features, dtype == torch.float64)
        measured |= {"condition": factors.condition(generator), "score_std": score_std, "border_draws": draw + 1}
        clock.lap("border")
        if measured["condition"] < BORDER_LIMIT:
            break
    else:
        return Attempt(None, measured)
    refined = refine(border.features, factors, border.wanted)
    solved_groups = border.back_substituted(groups, refined.solution)
    heads = Heads.together([group.heads for group in groups if group.heads is not None] + [generic])
    solved = torch.cat([*solved_groups, refined.solution[skip.columns :]])
    clock.lap("back substitution")

    skip_rows = refined.solution[: skip.columns]
    code = best_code(skip_rows, solved, skip, heads, width, wanted)
    columns = wanted.columns(code)
    weights, skip_condition = finish(
        spec, embeddings, heads, skip, skip_rows[:, columns], solved[:, columns], width, wanted, code
    )
    clock.lap("skip map")
    measured |= {
        "skip_condition": skip_condition,
        "refinement_passes": refined.passes,
        "residual": refined.residual,
    }
    own = [0 if group.heads is None else len(group.heads) for group in groups]
    return Attempt(weights, measured, {"code": code, "group_heads": own})


def draw_groups(
    draws: list[GroupDraw], score_size: ScoreSize, generator: torch.Generator, threads: Crew, progress: Progress
) -> tuple[list[Group], ScoreSize]:
    """A sample of every group, with the size of scores that is left.

    The next groups are factorised while one is looked at, as if its first sample were accepted, which is nearly always
    so. Where it is not, they are drawn again: the samples are those that one group after the other would get.
    """
    most = 1 if threads.size == 1 else AHEAD * threads.size
    groups: list[Group] = []
    ahead: deque[tuple[Started[Group], Tensor]] = deque()
    with progress.stage("groups", sum(len(draw.rows) for draw in draws)) as stage:
        while len(groups) < len(draws):
            for draw in draws[len(groups) + len(ahead) : len(groups) + most]:
                ahead.append((threads.start(draw.sample(score_size, generator)), generator.get_state()))
            draw, (started, state) = draws[len(groups)], ahead.popleft()
            group = started.result()
            if not draw.accepts(group):
                for later, _ in ahead:
                    later.cancel()
                ahead.clear()
                generator.set_state(state)
                group, score_size = _softened(draw, draw.best(group, score_size, generator), score_size, generator)
            groups.append(group)
            stage.advance(len(draw.rows))
    return groups, score_size


def _softened(
    draw: GroupDraw, group: Group, score_size: ScoreSize, generator: torch.Generator
) -> tuple[Group, ScoreSize]:
    """A group, with smaller scores where these leave it ill-conditioned, and the score size for later groups.

    Codes of a few letters and digits differ in few places: sharp heads then attend to the same ones.
    """
    while group.condition > HOPELESS * draw.limit and score_size.may_soften:
        softer = score_size.softer()
        again = draw.best(draw.sample(softer, generator)(), softer, generator)
        if again.condition >= group.condition:
            break
        group, score_size = again, softer
    return group, score_size


@dataclass(frozen=True)
class SeenByAll:
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
class Border:
    """What elimination leaves of G_j and E_j over all groups, and what it makes of their pivot rows."""

    features: Float[Tensor, "border columns"]
    wanted: Float[Tensor, "border outputs"]
    eliminated: list[tuple[Tensor, Tensor]]

    def back_substituted(self, groups: list[Group], solution: Tensor) -> list[Tensor]:
        """B_j of every group that has heads, given B_g."""

        def solved(place: int) -> Tensor:
            of_seen, of_wanted = self.eliminated[place]
            return groups[place].solve(of_wanted - of_seen @ solution)

        with crew() as threads:
            return list(threads.in_order(solved, [place for place, group in enumerate(groups) if len(group.square)]))


def eliminate(groups: list[Group], seen: SeenByAll, wanted: Tensor, border_rows: int, progress: Progress) -> Border:
    """The border system, assembled group by group."""
    border = torch.empty(border_rows, seen.columns, dtype=torch.float64)
    border_wanted = torch.empty(border_rows, wanted.shape[1], dtype=torch.float64)
    sizes, eliminated, at = [seen.columns, wanted.shape[1]], [], 0

    def reduced_group(group: Group) -> Reduced:
        return group.reduce(torch.cat([seen.features(group.rows), wanted[group.rows]], 1))

    with progress.stage("eliminating", sum(len(group.rows) for group in groups)) as stage, crew() as threads:
        for group, reduced in zip(groups, threads.in_order(reduced_group, groups), strict=True):
            eliminated.append(reduced.eliminated.split(sizes, 1))
            span = slice(at, at + len(reduced.left))
            border[span], border_wanted[span] = reduced.left.split(sizes, 1)
            at = span.stop
            stage.advance(len(group.rows))
    return Border(border, border_wanted, eliminated)
