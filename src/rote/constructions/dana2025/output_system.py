"""The linear system behind an edit: which change of W_O moves the stream of some facts, and of no other fact.

With attention fixed, the stream is linear in W_O. A change dW_O moves the stream of fact t by

    dr(t) = F(t) dB + x_S L dB,    dB_h = dW_O^hT,    L dB = sum_h W_V^hT dB_h,

with the centred features F of `features`. Let y = L dB be unknowns too. Then dr = D is the system

    [ X_S  F ] [ y]   [D]
    [  I  -L ] [dB] = [0],

whose second row of blocks, the lock, keeps the map of the skip connection and hence W_U. It has a solution for every D
if heads have at least as many features as there are facts, Hw >= T. The rank of dW_O is at most min(changed facts, d).

Heads that are closed (see `gated_heads`) for all last tokens but a few give groups, which are eliminated one by one as
in `bordered`; what is left is the border, solved for the least norm by one QR factorisation.

Theorem 1 with room to spare: W_U is drawn with attention, and W_O alone is solved for.

With as many features of heads as facts, Hw >= T, the skip connection need not take part: the codes of answers are the
rows of W_U, up to a factor, and W_O moves the stream from x_S to each fact's target. Then nothing that is drawn, W_U
included, depends on which answer any fact has, and models that store different answers from one random initialization
differ in W_O alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.random_attention.draw import Embeddings, Heads
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.saturation import CLOSED
from rote.constructions.common.solvers.least_norm import Factored, factor
from rote.constructions.dana2025.bordered_group import Group, Starts, factorise
from rote.constructions.dana2025.solution import Attempt, Wanted
from rote.models.attention_only import AttentionOnly
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask

DENSE_FACTS = 2_500
"""Up to so many facts no groups are looked for: one QR factorisation takes less than a second."""
SEMINORMAL = 1e6
"""Condition number below which the seminormal equations leave residuals far below float32's rounding of W_O."""
WORST = 1e10
"""Condition number of the border beyond which float64 leaves too few digits for a float32 model."""


@dataclass(frozen=True)
class _Part:
    """A group that is eliminated, with its place among the border's rows."""

    group: Group
    heads: Integer[Tensor, " heads"]
    """Numbers of its heads in the layer."""
    first: int
    """Its first row in the border."""
    eliminated: Float[Tensor, "eliminated columns"]
    """The inverse of its features, times what all facts see."""
    values: Float[Tensor, "eliminated dim"]
    """W_V of its heads, features as rows."""


class OutputSystem:
    """The factorised system of one layer and the keys of its facts."""

    def __init__(
        self,
        spec: AttentionOnly,
        weights: dict[str, Tensor],
        contexts: Integer[Tensor, "facts context"],
        progress: Progress = SILENT,
    ) -> None:
        self.spec, self.facts = spec, len(contexts)
        embeddings = Embeddings(weights["tokens"], weights["positions"])
        self._heads = Heads(*(weights[f"layers.0.{name}"] for name in ("query", "key", "value")))
        self._differences = Differences(embeddings, contexts)
        self.width = min(spec.head_dim, self._differences.rank())
        self.room = spec.heads * self.width - self.facts
        """Facts that could be added before the layer needs another head; negative where it needs one now."""
        self._parts: list[_Part] = []
        if self.room >= 0:
            self._factorise(embeddings, contexts, progress)

    @property
    def solvable(self) -> bool:
        """Whether any change of any fact has a solution that rounding does not spoil."""
        return self.room >= 0 and self.condition < WORST

    def change(
        self, rows: Integer[Tensor, " changed"], moved: Float[Tensor, "changed dim"]
    ) -> Float[Tensor, "heads dim head_dim"]:
        """The change of W_O that moves the streams of these facts by `moved` and leaves all others."""
        if len(rows) > self.spec.dim:
            right, to_stream = moved, torch.eye(self.spec.dim, dtype=torch.float64)
        else:
            right, to_stream = torch.eye(len(rows), dtype=torch.float64), moved
        seen, tops = self._border_solution(rows, right)
        change = torch.zeros(self.spec.heads, self.spec.dim, self.spec.head_dim, dtype=torch.float64)
        for part, top in zip(self._parts, tops, strict=True):
            solved = -(part.eliminated @ seen) if top is None else top - part.eliminated @ seen
            self._write(change, part.heads, solved, to_stream)
        self._write(change, self._generic, seen[self.spec.dim :], to_stream)
        return change

    def _write(self, change: Tensor, heads: Tensor, solved: Tensor, moved: Tensor) -> None:
        if len(heads):
            maps = (solved @ moved).view(len(heads), self.width, self.spec.dim)
            change[heads, :, : self.width] = maps.transpose(1, 2)

    def _border_solution(self, rows: Tensor, right: Tensor) -> tuple[Tensor, list[Tensor | None]]:
        """The solution for these changes: the part seen by all, and what the pivots alone give in every group."""
        border = torch.zeros(self._border_rows + self.spec.dim, right.shape[1], dtype=torch.float64)
        tops: list[Tensor | None] = [None] * len(self._parts)
        for number, part in enumerate(self._parts):
            place = self._place_in_group(part.group.rows, rows)
            inside = (place >= 0).nonzero().flatten()
            if not len(inside):
                continue
            own = torch.zeros(len(part.group.rows), right.shape[1], dtype=torch.float64)
            own[place[inside]] = right[inside]
            reduced = part.group.reduce(own)
            top = part.group.solve(reduced.eliminated)
            border[part.first : part.first + len(reduced.left)] = reduced.left
            border[self._border_rows :] += part.values.T @ top
            tops[number] = top
        alone = self._alone_place[rows]
        outside = (alone >= 0).nonzero().flatten()
        border[alone[outside]] = right[outside]
        if right.shape[1] == 1 and self._single:
            return self._factors.solve_few(self._border, border), tops
        return self._factors.solve(border), tops

    def _place_in_group(self, group_rows: Tensor, rows: Tensor) -> Tensor:
        place = torch.full((self.facts,), -1)
        place[group_rows] = torch.arange(len(group_rows))
        return place[rows]

    def _factorise(self, embeddings: Embeddings, contexts: Tensor, progress: Progress) -> None:
        spec, differences, width = self.spec, self._differences, self.width
        groups = _groups(embeddings, self._heads, differences, contexts) if self.facts > DENSE_FACTS else []
        generator = torch.Generator().manual_seed(0)
        eliminated, own = torch.zeros(self.facts, dtype=torch.bool), torch.zeros(spec.heads, dtype=torch.bool)
        drawn: list[tuple[Group, Tensor]] = []
        for rows, numbers in groups:
            count = min(len(numbers), len(rows) // width - 1)
            if count < 1:
                continue
            numbers = numbers[:count]
            features = torch.empty(len(rows), count * width, dtype=torch.float64)
            heads = _chosen(self._heads, numbers)
            differences.features(heads, width, features, rows)
            group = factorise(rows, heads, features, Starts.draw(features.shape[1], generator))
            if group.condition < WORST:
                drawn.append((group, numbers))
                own[numbers], eliminated[rows] = True, True
        self._generic = (~own).nonzero().flatten()
        alone = (~eliminated).nonzero().flatten()
        self._alone_place = torch.full((self.facts,), -1)
        self._alone_place[alone] = torch.arange(len(alone))
        left = sum(len(group.below) for group, _ in drawn)
        self._border_rows = len(alone) + left
        seen = _SeenByAll(differences, _chosen(self._heads, self._generic), width, spec.dim)
        border = torch.empty(self._border_rows + spec.dim, seen.columns, dtype=torch.float64)
        border[: len(alone)] = seen.features(alone)
        lock = border[self._border_rows :]
        lock[:, : spec.dim] = torch.eye(spec.dim, dtype=torch.float64)
        lock[:, spec.dim :] = -_value_rows(self._heads, self._generic, width).T
        at = len(alone)
        with progress.stage("eliminating", max(1, len(drawn))) as stage:
            for group, numbers in drawn:
                reduced = group.reduce(seen.features(group.rows))
                solved, values = group.solve(reduced.eliminated), _value_rows(self._heads, numbers, width)
                border[at : at + len(reduced.left)] = reduced.left
                lock += values.T @ solved
                self._parts.append(_Part(group, numbers, at, solved, values))
                at += len(reduced.left)
                stage.advance(1)
        with progress.stage(f"factorising {border.shape[0]} x {border.shape[1]}"):
            self._factors: Factored = factor(border)
        self.condition = self._factors.condition
        self._border = border
        self._single = self._heads.query.dtype == torch.float32 and self.condition < SEMINORMAL


@dataclass(frozen=True)
class _SeenByAll:
    """x_S and the features of heads that are in no group."""

    differences: Differences
    heads: Heads
    width: int
    dim: int

    @property
    def columns(self) -> int:
        return self.dim + len(self.heads) * self.width

    def features(self, rows: Tensor) -> Tensor:
        part = torch.empty(len(rows), self.columns, dtype=torch.float64)
        part[:, : self.dim] = self.differences.last_tokens[self.differences.last_place[rows]]
        if len(self.heads) and len(rows):
            self.differences.features(self.heads, self.width, part[:, self.dim :], rows)
        return part


def _chosen(heads: Heads, numbers: Tensor) -> Heads:
    return Heads(heads.query[numbers], heads.key[numbers], heads.value[numbers])


def _value_rows(heads: Heads, numbers: Tensor, width: int) -> Float[Tensor, "features dim"]:
    return heads.value[numbers][:, :width].double().flatten(0, 1)


def _groups(
    embeddings: Embeddings, heads: Heads, differences: Differences, contexts: Tensor
) -> list[tuple[Tensor, Tensor]]:
    """Facts and heads of each group: heads that are open for the same few last tokens, and the facts that end in them.

    A head is open for a last token if some token of an earlier position gets a score above -CLOSED. Groups are
    disjoint, smallest first.
    """
    everywhere = embeddings.everywhere()
    last = differences.last_tokens
    asked = torch.einsum("ud,hrd->uhr", last, heads.query.double())
    asked = torch.einsum("uhr,hrd->uhd", asked, heads.key.double())
    highest = torch.full(asked.shape[:2], -float("inf"), dtype=torch.float64)
    for position in range(contexts.shape[1] - 1):
        tokens = everywhere[position, contexts[:, position].unique()]
        for place in range(len(last)):
            scores = asked[place] @ (tokens - last[place]).T
            highest[place] = torch.maximum(highest[place], scores.amax(1))
    opened = highest > -CLOSED
    sets, of_head = torch.unique(opened.T, dim=0, return_inverse=True)
    taken, found = torch.zeros(len(last), dtype=torch.bool), []
    for number in sets.sum(1).argsort(stable=True).tolist():
        tokens = sets[number]
        if not tokens.any() or bool((tokens & taken).any()) or tokens.sum() > len(last) // 2:
            continue
        taken |= tokens
        rows = tokens[differences.last_place].nonzero().flatten()
        found.append((rows, (of_head == number).nonzero().flatten()))
    return found


def output_attempt(
    attempt: Attempt, task: AssociationTask, spec: AttentionOnly, code_seed: int, progress: Progress
) -> Attempt:
    """The same attention, with W_U from the codes and W_O solved for alone."""
    if attempt.weights is None:
        return attempt
    rows = torch.arange(task.facts)
    weights, condition = solved_output(attempt.weights, spec, task, rows, code_seed, progress)
    measured = {name: attempt.measured[name] for name in ("score_std", "seconds") if name in attempt.measured}
    return replace(attempt, weights=weights, measured={**measured, "condition": condition}, choices={"code": 0})


def solved_output(
    attention: dict[str, Tensor],
    spec: AttentionOnly,
    task: AssociationTask,
    kept: Tensor,
    code_seed: int,
    progress: Progress,
) -> tuple[dict[str, Tensor] | None, float]:
    """Weights that store the rows `kept` of a task, and the condition number of the solve; none if it is too large."""
    contexts = torch.from_numpy(task.contexts).long()[kept]
    system = OutputSystem(spec, attention, contexts, progress)
    if not system.solvable:
        return None, math.inf
    wanted = Wanted.draw(task, spec.dim, 1, code_seed, every_token=spec.dim > 1)
    # Streams as long as x_S is wide, so that adding up to one rounds no more than x_S does.
    size = math.sqrt(spec.dim)
    dtype = attention["tokens"].dtype
    unembed = torch.zeros(spec.vocab, spec.dim, dtype=torch.float64)
    unembed[wanted.answers] = wanted.codes[0] / size
    last = (attention["positions"][-1] + attention["tokens"][contexts[:, -1]]).double()
    output = system.change(torch.arange(len(kept)), wanted.right[kept] * size - last)
    names = ("tokens", "positions", "layers.0.query", "layers.0.key", "layers.0.value")
    solved = {"layers.0.output": output.to(dtype), "unembed": unembed.to(dtype)}
    return {**{name: attention[name] for name in names}, **solved}, system.condition
