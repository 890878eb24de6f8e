"""Heads over all facts: their direct logit attribution to margins, and the facts lost under zero-ablation.

The number of facts lost is the impact of an ablation. It does not count what a head stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.measure.inspection import HeadIndex, inspected_spec, is_linear, transformer_of, without_heads
from rote.measure.matching import for_model
from rote.measure.recall import margins, recall
from rote.measure.slot_sharing import memory_reads, memory_spec
from rote.models.forward.decomposition import Decomposition, decomposed
from rote.models.forward.memory_transformer import answered
from rote.models.memory_transformer import MemoryTransformer
from rote.models.model import Model
from rote.models.spec import FORWARD_FLOATS
from rote.progress import SILENT, Progress
from rote.tasks import Task, TokenTask, require_tokens

MOST_TOKENS = 16
"""Most tokens that are distinguished, the commonest first."""


@dataclass(frozen=True)
class Specialisation:
    """What heads add to margins, by a token of the key."""

    position: int
    """Of the key, counted from 0: the one that takes fewest values, so that a group is many facts."""
    tokens: tuple[str, ...]
    facts: tuple[int, ...]
    """Facts of each token."""
    added: np.ndarray
    """Tokens x heads, layer by layer: the mean of what the head adds to these facts' margins."""


def specialisation(task: TokenTask, added: np.ndarray) -> Specialisation | None:
    """From what every head adds to every fact's margin (facts x heads); nothing where no position tells facts apart."""
    distinct = [len(np.unique(column)) for column in task.contexts.T]
    varying = [position for position, count in enumerate(distinct) if count > 1]
    if not varying:
        return None
    position = min(varying, key=lambda place: distinct[place])
    ids, group, counts = np.unique(task.contexts[:, position], return_inverse=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")[:MOST_TOKENS]
    return Specialisation(
        position=position,
        tokens=task.vocabulary.words(ids[common]),
        facts=tuple(counts[common].tolist()),
        added=np.stack([added[group == place].mean(0, dtype=np.float64) for place in common]),
    )


MOST_LOGITS = 5 * 10**9
"""Facts x heads x vocabulary up to which every head of a one-layer model is ablated for every fact."""

MOST_RUNS = 200_000
"""Facts x heads up to which a deeper model is run again with each head ablated."""


@dataclass(frozen=True)
class HeadUse:
    """One head over all facts."""

    layer: int
    head: int
    mean_to_margin: float
    """Its direct attribution to a fact's logit margin, on average."""
    largest_to_margin: float
    strongest: tuple[int, ...]
    """Rows of the facts to whose margins it adds most, best first."""
    decides: int
    """Facts whose margin is smaller than what it adds: without it the same runner-up would win."""
    loses: int | None
    """Ablation impact: recalled facts that zero-ablating this head loses. None where that takes too long to compute."""

    @property
    def name(self) -> str:
        return str(HeadIndex(self.layer, self.head))


@dataclass(frozen=True)
class HeadTable:
    """All facts and all heads of a model."""

    margins: np.ndarray
    """Of every fact, in the order of the task."""
    heads: tuple[HeadUse, ...]
    skip_to_margin: float
    """Direct attribution of the direct path (with a memory layer: of the bias and the MLP) to a fact's logit margin, on
    average."""
    specialisation: Specialisation | None = None
    """What each head adds, by a token of the key; in the order of `heads`."""

    @property
    def recalled(self) -> int:
        return int((self.margins > 0).sum())

    def by_margin(self) -> np.ndarray:
        """Rows of the facts, smallest margin first."""
        return np.argsort(self.margins, kind="stable")

    def summary(self) -> dict[str, Any]:
        return {
            "facts": len(self.margins),
            "recalled": self.recalled,
            "min_margin": float(self.margins.min()),
            "median_margin": float(np.median(self.margins)),
            "skip_to_margin": self.skip_to_margin,
            "heads": [vars(head) for head in self.heads],
        }


def facts_lost(
    model: Model, task: Task, off: Iterable[HeadIndex | tuple[int, int]], progress: Progress = SILENT
) -> np.ndarray:
    """Rows that the model recalls, but not with these heads zero-ablated; the model is run both times."""
    inspected_spec(model)
    before = recall(model, task, progress).missed
    after = recall(without_heads(model, [HeadIndex(*head) for head in off]), task, progress).missed
    return np.setdiff1d(after, before)


def head_table(model: Model, task: Task, progress: Progress = SILENT, strongest: int = 3) -> HeadTable:
    """Run the model over all facts and attribute every margin to its heads."""
    tokens = for_model(require_tokens(task, "heads are inspected over tokens"), model)
    if isinstance(model.spec, MemoryTransformer):
        return _memory_table(model, tokens, progress, strongest)
    spec = transformer_of(model)
    # bfloat16 and float16 are slow on a CPU and too coarse to sum in.
    exact = model if model.dtype in (torch.float32, torch.float64) else model.to("float32")
    linear = is_linear(spec)
    off_by_linearity = linear and tokens.facts * spec.heads * spec.vocab <= MOST_LOGITS
    every_margin, gathered, skip, lost = [], [], 0.0, np.zeros((spec.layers, spec.heads), dtype=np.int64)
    for rows, parts, contexts in _batches(exact, tokens, progress):
        logits = model.logits(contexts).to(exact.dtype)
        answers = torch.from_numpy(tokens.answers_to_recall()[rows]).long()
        margin = margins(logits, answers)
        nearest = logits.scatter(1, answers[:, None], -float("inf")).argmax(1)
        direction = exact.weights["unembed"][answers] - exact.weights["unembed"][nearest]
        every_margin.append(margin.numpy())
        skip += float((direction * parts.skip).sum())
        gathered.append(torch.stack([layer.heads_along(direction) for layer in parts.layers], 1))
        if off_by_linearity:
            lost[0] += _lost_by_linearity(exact, parts, logits, answers, margin > 0)
    added = torch.cat(gathered)
    margin = np.concatenate(every_margin)
    known = off_by_linearity
    if not linear and tokens.facts * spec.heads * spec.layers <= MOST_RUNS:
        known = True
        for layer in range(spec.layers):
            for head in range(spec.heads):
                lost[layer, head] = len(facts_lost(model, tokens, [(layer, head)]))
    uses = _uses(added, margin, lost if known else None, strongest)
    return HeadTable(margin, tuple(uses), skip / tokens.facts, specialisation(tokens, added.flatten(1).numpy()))


def _memory_table(model: Model, tokens: TokenTask, progress: Progress, strongest: int) -> HeadTable:
    """The heads of a memory layer: each reads one slot for every fact, and is zero-ablated in all groups."""
    exact = model.to("float64")
    weights, unembed = exact.weights, exact.weights["unembed.weight"]
    every_margin, gathered, rest, lost = [], [], 0.0, np.zeros((1, memory_spec(model).heads), dtype=np.int64)
    for first, _, read in memory_reads(exact, tokens, progress):
        answers = torch.from_numpy(tokens.answers_to_recall()[first : first + len(read.group)]).long()
        total = read.values.sum(1)
        logits = answered(weights, total)
        margin = margins(logits, answers)
        nearest = logits.scatter(1, answers[:, None], -float("inf")).argmax(1)
        direction = unembed[answers] - unembed[nearest]
        adds = (read.values * direction[:, None]).sum(2)
        rest += float((margin - adds.sum(1)).sum())
        for head in range(adds.shape[1]):
            left = margins(answered(weights, total - read.values[:, head]), answers)
            lost[0, head] += int(((margin > 0) & ~(left > 0)).sum())
        every_margin.append(margin.numpy())
        gathered.append(adds[:, None])
    margin = np.concatenate(every_margin)
    return HeadTable(margin, tuple(_uses(torch.cat(gathered), margin, lost, strongest)), rest / tokens.facts)


def _batches(
    model: Model, task: TokenTask, progress: Progress
) -> Iterator[tuple[slice, Decomposition, Integer[Tensor, "batch context"]]]:
    spec = transformer_of(model)
    positions = 1 if spec.layers == 1 else spec.context
    per_fact = spec.layers * spec.heads * positions * (spec.context + 3 * spec.dim + 2 * spec.head_dim) + 4 * spec.vocab
    step = max(1, FORWARD_FLOATS // (4 * per_fact))
    with progress.stage("attributing margins", task.facts) as stage, torch.no_grad():
        for start in range(0, task.facts, step):
            rows = slice(start, min(start + step, task.facts))
            contexts = torch.from_numpy(np.ascontiguousarray(task.contexts[rows])).long()
            parts = decomposed(spec, model.weights, contexts)
            yield rows, parts, contexts
            stage.advance(rows.stop - rows.start)


def _lost_by_linearity(
    model: Model,
    parts: Decomposition,
    logits: Float[Tensor, "batch vocab"],
    answers: Integer[Tensor, " batch"],
    recalled: Tensor,
) -> np.ndarray:
    """Facts of a batch that a one-layer model loses without each head: from the logits minus what the head adds."""
    (layer,) = parts.layers
    unembed = model.weights["unembed"]
    lost = np.zeros(layer.values.shape[1], dtype=np.int64)
    for head in range(len(lost)):
        added = layer.values[:, head] @ (unembed @ layer.outward[head]).T
        lost[head] = int((recalled & ~(margins(logits - added, answers) > 0)).sum())
    return lost


def _uses(
    added: Float[Tensor, "facts layers heads"], margin: np.ndarray, lost: np.ndarray | None, strongest: int
) -> Iterator[HeadUse]:
    recalled = torch.from_numpy(margin > 0)[:, None, None]
    decides = (recalled & (added >= torch.from_numpy(margin).to(added.dtype)[:, None, None])).sum(0)
    most = added.topk(min(strongest, len(added)), dim=0)
    means = added.mean(0)
    for layer in range(added.shape[1]):
        for head in range(added.shape[2]):
            yield HeadUse(
                layer,
                head,
                float(means[layer, head]),
                float(most.values[0, layer, head]),
                tuple(most.indices[:, layer, head].tolist()),
                int(decides[layer, head]),
                None if lost is None else int(lost[layer, head]),
            )
