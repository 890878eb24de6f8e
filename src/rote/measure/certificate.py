"""Certificates: what a model holds, measured on every fact in the dtype that is saved.

A certificate is a claim. `rote.folders.verification` makes it again from the tensors and the facts and compares.

Rounding: how far a model's margins move when the same weights are run in float64.

A model whose margins move by a large share of the smallest one recalls its facts by luck: a library that sums in
another order, or keeps fewer digits, loses some of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from torch import Tensor

from rote.display import html_pairs, number
from rote.measure.measures import measures
from rote.measure.recall import Recall, recall
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import Task

COMPARED = 10_000
"""Facts up to which all are run in float64, which takes twice as long as float32."""
SAMPLED = 4_000
"""Of more, so many: half are those with the smallest margins, which rounding endangers, and half are spread evenly. The
largest of their errors is near that of all."""

MOST_ROUNDING = 0.05
"""Share of the smallest margin that rounding may move a margin by in a float32 model that is built by default."""


@dataclass(frozen=True)
class Compared:
    """Facts that an edit runs in float64, fewer than a build."""

    facts: int
    """So many at most: half are those with the smallest margins, half are spread evenly."""
    changed: np.ndarray
    """Rows that are among them in any case."""
    margins: Callable[[np.ndarray], np.ndarray] | None = None
    """Margins of some rows in float64. Default: those of the model in float64."""

    def rows(self, recalled: np.ndarray, margins: np.ndarray) -> np.ndarray:
        """Those of the facts that are recalled, in order."""
        compared = np.zeros(len(margins), dtype=bool)
        compared[_sample(recalled, margins, self.facts, self.facts)] = True
        compared[self.changed] = margins[self.changed] > 0
        return np.flatnonzero(compared)


def margin_rounding(
    model: Model, task: Task, seen: Recall, progress: Progress = SILENT, compared: Compared | None = None
) -> float | None:
    """Largest change of a recalled fact's margin between the model's dtype and float64, over the smallest such margin.

    `seen` is what the model recalls in its own dtype. At 1 or more, rounding may decide an answer. Weights in float64
    are compared with themselves, which gives 0; where no fact is recalled there is no margin to speak of.

    `compared` are facts that are run in float64. Default: all, or `SAMPLED` of more than `COMPARED`.
    """
    return _rounding(model, task, seen, progress, compared)[0]


def _rounding(
    model: Model, task: Task, seen: Recall, progress: Progress, compared: Compared | None
) -> tuple[float | None, int]:
    """The same, and the number of facts that were run in float64."""
    recalled = np.flatnonzero(seen.margins > 0)
    if not len(recalled):
        return None, 0
    if model.dtype_name == "float64":
        return 0.0, task.facts
    if compared is None:
        rows = _sample(recalled, seen.margins, COMPARED, SAMPLED)
    else:
        rows = compared.rows(recalled, seen.margins)
    if compared is not None and compared.margins is not None:
        exact = compared.margins(rows)
    else:
        part = task if len(rows) == task.facts else task.take(rows)
        exact = recall(model.to("float64"), part, progress).margins
    own = seen.margins[rows]
    # A vocabulary of one word has infinite margins, which rounding does not move.
    change = np.subtract(own, exact, where=own != exact, out=np.zeros_like(own))
    return float(np.abs(change).max() / own.min()), len(rows)


def _sample(recalled: np.ndarray, margins: np.ndarray, most: int, sampled: int) -> np.ndarray:
    """Rows that are run in float64, in order: all that are recalled, or a sample of very many."""
    if len(recalled) <= most:
        return recalled
    smallest = recalled[np.argsort(margins[recalled], kind="stable")[: sampled // 2]]
    spread = recalled[np.linspace(0, len(recalled) - 1, sampled // 2).astype(np.int64)]
    return np.union1d(smallest, spread)


def weights_fingerprint(weights: dict[str, Tensor]) -> str:
    """SHA-256 over names, dtypes, shapes and bytes, in order of names."""
    state = hashlib.sha256()
    for name in sorted(weights):
        tensor = weights[name].detach().contiguous()
        state.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        state.update(tensor.view(-1).view(torch.uint8).numpy().data if tensor.numel() else b"")
    return "sha256:" + state.hexdigest()


class Certificate(BaseModel):
    """The claim. Everything above `meets` is seen by running the model; the rest says how it was made.

    >>> import rote
    >>> certificate = rote.build("random:vocab=6,context=2,facts=9,seed=1").certificate
    >>> certificate.recalled, certificate.facts, certificate.complete, certificate.dtype
    (9, 9, True, 'float32')
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    facts_fingerprint: str
    weights_fingerprint: str
    architecture: str
    dtype: str
    parameters: int
    facts: int
    recalled: int
    """Facts the model recalls."""
    recallable: int
    """Facts any model could recall: fewer than `facts` when keys contradict each other."""
    min_margin: float | None = None
    """Smallest margin between an answer's logit and the next best (association tasks and labels)."""
    margin_rounding: float | None = None
    """Largest change of a recalled fact's margin between this dtype and float64, as a share of the smallest margin of
    a fact that is recalled (association tasks and labels)."""
    bits: float | None = None
    divergence: float | None = None
    """Expected KL divergence in nats (distribution tasks)."""
    largest_error: float | None = None
    """Largest relative error (vector tasks with real targets)."""
    meets: str | None = None
    """Id of the result whose guarantee the construction meets."""
    guaranteed: int | None = Field(None, validation_alias=AliasChoices("guaranteed", "promised"))
    """Associations that result guarantees for this specification; some older certificates call it `promised`."""
    measured: dict[str, Any] = {}
    """What the construction measured on the way: condition numbers, redraws, the method chosen."""

    def __repr__(self) -> str:
        return f"Certificate({', '.join(f'{name} {number(value)}' for name, value in self.shown().items())})"

    def _repr_html_(self) -> str:
        return html_pairs("certificate", self.shown())

    def shown(self) -> dict[str, Any]:
        """What is said of a model at a glance."""
        numbers = (
            "min_margin",
            "margin_rounding",
            "bits_per_parameter",
            "divergence",
            "largest_error",
            "meets",
            "guaranteed",
        )
        stated = {name.replace("_", " "): getattr(self, name) for name in numbers}
        return {
            "recalled": f"{self.recalled:,} of {self.facts:,} facts",
            "architecture": self.architecture,
            "parameters": f"{self.parameters:,} in {self.dtype}",
            **{name: value for name, value in stated.items() if value is not None},
        }

    @property
    def missed(self) -> int:
        return self.facts - self.recalled

    @property
    def bits_per_parameter(self) -> float | None:
        return None if self.bits is None else self.bits / self.parameters

    @property
    def complete(self) -> bool:
        return self.recalled >= self.recallable


@dataclass(frozen=True)
class Examination:
    """A certificate together with the rows that are missed."""

    certificate: Certificate
    missed: np.ndarray
    margins: np.ndarray | None = None
    """Every fact's logit margin, where facts have one."""
    compared: int = 0
    """Facts that were run in float64."""


def examine(
    model: Model,
    task: Task,
    meets: str | None = None,
    guaranteed: int | None = None,
    measured: dict[str, Any] | None = None,
    progress: Progress = SILENT,
    compared: Compared | None = None,
) -> Examination:
    """Run the model on every fact and state what it holds; `compared` as in `margin_rounding`."""
    seen = measures(model, task, progress)
    rounding, compared_facts = None, 0
    # Distributions may have equally likely tokens, and real targets have no margin: there is nothing to compare.
    if seen.recall is not None and seen.divergence is None:
        rounding, compared_facts = _rounding(model, task, seen.recall, progress, compared)
    certificate = Certificate(
        facts_fingerprint=task.fingerprint,
        weights_fingerprint=weights_fingerprint(model.weights),
        architecture=model.spec.architecture,
        dtype=model.precision_name,
        parameters=model.parameters,
        facts=task.facts,
        recalled=seen.recalled,
        recallable=task.facts if seen.recall is None else seen.recall.recallable,
        min_margin=None if seen.recall is None else seen.recall.min_margin,
        margin_rounding=rounding,
        bits=None if seen.recall is None else seen.recall.bits,
        divergence=None if seen.divergence is None else seen.divergence.expected,
        largest_error=seen.largest_error,
        meets=meets,
        guaranteed=guaranteed,
        measured=measured or {},
    )
    margins = None if seen.recall is None else seen.recall.margins
    return Examination(certificate, seen.missed, margins, compared_facts)
