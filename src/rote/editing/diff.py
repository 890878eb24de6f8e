"""`rote.diff`: which tensors, entries, answers and logit margins differ between two models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rote.arguments import typed
from rote.constructions.build import Built
from rote.display import html_pairs
from rote.editing.edit import Edited
from rote.errors import InputError
from rote.folders import Folder, load
from rote.folders.named_facts import facts_of_folder
from rote.measure.matching import for_model, stream_logits
from rote.measure.recall import margins
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.tasks.facts import Facts
from rote.tasks.facts import facts as read_facts


@dataclass(frozen=True)
class TensorDifference:
    """One tensor in two models. Tensors of different shapes are compared where both have entries."""

    name: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    entries: int
    """Entries that both have."""
    different: int
    """Those that differ in any bit but the sign of zero."""
    largest: float
    rank: int | None
    """Rank of the difference as a matrix, numerically, where entries differ; None for vectors and very large ones."""


@dataclass(frozen=True)
class FactDifference:
    """One fact that two models answer differently."""

    fact: str
    answers: tuple[str, str]
    margins: tuple[float, float]
    """Logit margins of the fact's own answer."""


@dataclass(frozen=True)
class Difference:
    """What differs between two models.

    >>> import rote
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo", ("capital", "Peru"): "Lima"}
    >>> built = rote.build(capitals)
    >>> lyon = rote.edit(built, {("capital", "France"): "Lyon"}, capitals)
    >>> difference = rote.diff(built, lyon, capitals)
    >>> difference.facts, [each.answers for each in difference.answered_otherwise]
    (3, [('Paris', 'Lyon')])
    """

    tensors: tuple[TensorDifference, ...]
    facts: int
    """Facts that both models were asked."""
    answered_otherwise: tuple[FactDifference, ...]
    largest_margin_change: float | None
    """Over facts that both models answer alike; None if there are none."""

    @property
    def same_weights(self) -> bool:
        """Whether both models have the same tensors, bit for bit."""
        return all(not each.different and each.shapes[0] == each.shapes[1] for each in self.tensors)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document: what the command prints as JSON."""
        return {
            "same_weights": self.same_weights,
            "tensors": [
                {
                    "name": each.name,
                    "shapes": [list(shape) for shape in each.shapes],
                    "entries": each.entries,
                    "different": each.different,
                    "largest": each.largest,
                    "rank": each.rank,
                }
                for each in self.tensors
            ],
            "facts": self.facts,
            "answered_otherwise": [
                {"fact": each.fact, "answers": list(each.answers), "margins": list(each.margins)}
                for each in self.answered_otherwise
            ],
            "largest_margin_change": self.largest_margin_change,
        }

    def _repr_html_(self) -> str:
        changed = {each.name: f"{each.different:,} of {each.entries:,} entries" for each in self.tensors}
        return html_pairs(f"{len(self.answered_otherwise)} of {self.facts:,} facts answered otherwise", changed)


MOST_RANKED = 4_000_000
"""Entries of a matrix up to which the rank of a difference is computed."""

Compared = Built | Edited | Folder | Model | str | Path


@typed
def diff(one: Compared, other: Compared, facts: Facts | None = None, progress: Progress = SILENT) -> Difference:
    """What differs between two models: tensors entry by entry, and answers and logit margins fact by fact.

    `facts` are asked of both. Default: those that the first model names.

    >>> import rote
    >>> built = rote.build("random:vocab=6,context=2,facts=9,seed=1")
    >>> rote.diff(built, built).same_weights
    True
    """
    first, second = (load(each) if isinstance(each, str | Path) else each for each in (one, other))
    models = [each if isinstance(each, Model) else each.model for each in (first, second)]
    task = _facts(first, facts)
    tensors = tuple(_tensors(*models))
    own, others = (_asked(model, task, progress) for model in models)
    otherwise = np.flatnonzero(own[0] != others[0])
    alike = (own[0] == others[0]) & np.isfinite(own[1]) & np.isfinite(others[1])
    moved = np.abs(own[1][alike] - others[1][alike])
    return Difference(
        tensors,
        task.facts,
        tuple(
            FactDifference(
                task.fact_in_words(row),
                (str(own[0][row]), str(others[0][row])),
                (float(own[1][row]), float(others[1][row])),
            )
            for row in otherwise.tolist()
        ),
        float(moved.max()) if len(moved) else None,
    )


def _facts(first: Any, facts: Facts | None) -> AssociationTask:
    if facts is not None:
        task = read_facts(facts)
    elif isinstance(first, Model):
        raise InputError("diff: a bare model names no facts; give `facts`")
    else:
        task = facts_of_folder(first.origin, getattr(first, "path", Path("this model")))
    if not isinstance(task, AssociationTask):
        raise InputError(f"diff: models are compared on associations, not on {task.kind}")
    return task


def _asked(model: Model, task: AssociationTask, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """The answer that the model gives to every key, in words, and the margin of the task's own answer."""
    vocabulary = model.vocabulary
    if vocabulary is None:
        raise InputError("diff: a model without a vocabulary cannot be compared in words")
    known = task.known_rows(vocabulary)
    said, seen = np.full(task.facts, "", dtype=object), np.full(task.facts, -np.inf)
    if not known.any():
        raise InputError("diff: none of these facts are in the model's words")
    places = np.flatnonzero(known)
    part = for_model(task.take(places), model)
    if "keys" in model.weights:  # one row per key: a model that never stored a key has nothing to answer it with
        held = set(map(tuple, model.weights["keys"].tolist()))
        asked = np.array([tuple(key) in held for key in part.contexts.tolist()])
        part, places = part.take(asked), places[asked]
    answers = torch.from_numpy(part.answers_to_recall()).long()
    for rows, logits in stream_logits(model, part, progress):
        said[places[rows]] = np.array(vocabulary.words(logits.argmax(1).numpy()), dtype=object)
        seen[places[rows]] = margins(logits, answers[rows]).numpy()
    return said, seen


def _tensors(first: Model, second: Model) -> list[TensorDifference]:
    names = dict.fromkeys([*first.weights, *second.weights])
    found = []
    for name in names:
        one, other = first.weights.get(name), second.weights.get(name)
        if one is None or other is None or one.ndim != other.ndim:
            shapes = tuple(() if tensor is None else tuple(tensor.shape) for tensor in (one, other))
            found.append(TensorDifference(name, (shapes[0], shapes[1]), 0, 0, 0.0, None))
            continue
        common = tuple(slice(min(pair)) for pair in zip(one.shape, other.shape, strict=True))
        change = other[common].double() - one[common].double()
        different = int((change != 0).sum())
        found.append(
            TensorDifference(
                name,
                (tuple(one.shape), tuple(other.shape)),
                change.numel(),
                different,
                float(change.abs().max()) if change.numel() else 0.0,
                _rank(name, change) if different else 0,
            )
        )
    return found


def _rank(name: str, change: Tensor) -> int | None:
    """Rank of a change; output maps of heads are one matrix that maps all heads to the stream."""
    if change.ndim == 3:
        change = change.transpose(0, 1).flatten(1) if name.endswith("output") else change.flatten(0, 1)
    if change.ndim != 2 or change.numel() > MOST_RANKED or not change.isfinite().all():
        return None
    sizes = torch.linalg.svdvals(change)
    # Entries were rounded to the saved dtype: what that leaves of a zero is about 1e-6 of the largest.
    return int((sizes > sizes[0] * 1e-5).sum())
