"""Recall: which facts a model holds.

A fact is recalled when its answer's logit is the strict maximum; a tie is a miss, and so is anything that is not a
number.

Bits: how much information about its facts a model holds, from its answers alone.

If a model is right on a share a of T facts whose answers carry H bits each among N choices, someone who has the model
needs at most h(1 - a) + (1 - a) log2(N - 1) further bits a fact (Fano's inequality, h the binary entropy): one code
for which facts are wrong and one for their answers. So the model holds at least

    T ( H - h(1 - a) - (1 - a) log2(N - 1) )

bits, and T H of them when it recalls everything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.arguments import typed
from rote.display import html_pairs
from rote.measure.matching import for_model, rows_at_once
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import Task
from rote.tasks.facts import Facts, facts
from rote.threads import crew


def bits_memorized(entropy_bits: float, facts: int, recalled: int, choices: int) -> float:
    """Bits held by a model that recalls `recalled` of `facts` facts with `entropy_bits` bits in all.

    `choices` is how many answers the model chooses between. Never negative: a model that is worse than nothing holds
    nothing.
    """
    wrong = 1 - recalled / facts
    doubt = 0.0
    if 0 < wrong < 1:
        doubt = -wrong * math.log2(wrong) - (1 - wrong) * math.log2(1 - wrong)
    if wrong > 0 and choices > 1:
        doubt += wrong * math.log2(choices - 1)
    return max(0.0, entropy_bits - facts * doubt)


@dataclass(frozen=True)
class Recall:
    """What a model holds of a task.

    >>> import rote
    >>> task = rote.facts("random:vocab=6,context=2,facts=9,seed=1")
    >>> seen = rote.recall(rote.build(task).model, task)
    >>> seen.recalled, seen.recall, seen.complete, seen.min_margin > 0
    (9, 1.0, True, True)
    """

    facts: int
    recalled: int
    ceiling: float
    """Best recall any model could reach on this table."""
    min_margin: float
    """Smallest difference between an answer's logit and the best other one; negative where a fact is missed."""
    parameters: int
    bits: float | None
    """Bits memorized (see `rote.measure.recall`)."""
    missed: np.ndarray = field(repr=False)
    """Rows that are not recalled."""
    said: np.ndarray = field(repr=False)
    """For each of them the token that the model says instead; the answer itself where it ties with another."""
    margins: np.ndarray = field(repr=False)
    """Every fact's margin; minus infinity where it is not a number."""

    @property
    def recall(self) -> float:
        return self.recalled / self.facts

    @property
    def bits_per_parameter(self) -> float | None:
        return None if self.bits is None else self.bits / self.parameters

    @property
    def recallable(self) -> int:
        """Facts any model could recall."""
        return round(self.ceiling * self.facts)

    @property
    def complete(self) -> bool:
        """Whether the model recalls all that any model could."""
        return self.recalled >= self.recallable

    def _repr_html_(self) -> str:
        return html_pairs(f"{self.recalled:,} of {self.facts:,} facts recalled", self.summary())

    def summary(self) -> dict[str, float | int | None]:
        """The numbers, by the names the command line prints."""
        return {
            "facts": self.facts,
            "recalled": self.recalled,
            "recall": self.recall,
            "ceiling": self.ceiling,
            "min_margin": self.min_margin,
            "parameters": self.parameters,
            "bits": self.bits,
            "bits_per_parameter": self.bits_per_parameter,
        }


@typed
def recall(model: Model, task: Facts, progress: Progress = SILENT) -> Recall:
    """Run the model on every fact, in the dtype of its weights.

    A distribution task is asked for each context's likeliest token.

    >>> import rote
    >>> model = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).model
    >>> rote.recall(model, {("capital", "France"): "Tokyo"}).recalled
    0
    """
    return recall_of(model, facts(task), progress)


def recall_of(model: Model, task: Task, progress: Progress = SILENT) -> Recall:
    """`recall` of a task."""
    task = for_model(task, model)
    scored = list(_scored(model, task, progress))
    missed, said, seen = ([getattr(part, name) for part in scored] for name in ("missed", "said", "margins"))
    rows_missed, every_margin = np.concatenate(missed), np.concatenate(seen)
    return Recall(
        facts=task.facts,
        recalled=task.facts - len(rows_missed),
        ceiling=task.recall_ceiling,
        min_margin=float(every_margin.min()),
        parameters=model.parameters,
        bits=_bits(task, rows_missed, scored[-1].choices),
        missed=rows_missed,
        said=np.concatenate(said),
        margins=every_margin,
    )


@dataclass(frozen=True)
class _Scored:
    """Some rows of a task: which are missed, what the model says there, and every margin."""

    missed: np.ndarray
    said: np.ndarray
    margins: np.ndarray
    choices: int


def _scored(model: Model, task: Task, progress: Progress) -> Iterator[_Scored]:
    """All rows in order. Where there are many, some are run side by side, each on one thread."""
    step, answers = rows_at_once(model), task.answers_to_recall()
    spans = [slice(start, min(start + step, task.facts)) for start in range(0, task.facts, step)]

    def of_span(span: slice) -> list[_Scored]:
        parts = model.logits_in_parts(task.inputs(span))
        return list(_of_parts(parts, answers, span.start))

    with progress.stage("recalling facts", task.facts) as stage, ExitStack() as stack:
        if len(spans) == 1:
            every = ([part] for part in _of_parts(model.logits_in_parts(task.inputs(spans[0])), answers, 0))
        else:
            every = stack.enter_context(crew()).in_order(of_span, spans)
        for parts in every:
            yield from parts
            stage.advance(sum(len(part.margins) for part in parts))


def _of_parts(parts: Iterable[Tensor], answers: np.ndarray, start: int) -> Iterator[_Scored]:
    for logits in parts:
        margin = margins(logits, torch.from_numpy(answers[start : start + len(logits)]).long(), in_place=True)
        # A margin that is not a number is a miss, hence the negated comparison.
        wrong = np.flatnonzero(~(margin > 0).numpy())
        said = logits[wrong].argmax(1).numpy()
        every = margin.masked_fill(margin.isnan(), -float("inf")).numpy()
        yield _Scored(wrong + start, said, every, logits.shape[1])
        start += len(logits)


def margins(
    logits: Float[Tensor, "batch vocab"], answers: Integer[Tensor, " batch"], in_place: bool = False
) -> Float[Tensor, " batch"]:
    """Answer's logit less the best other logit, per row, in float64 so that unequal logits never give zero.

    `in_place` spares a copy of the logits, which are written to and restored.
    """
    at = answers[:, None]
    given = logits.gather(1, at)
    own = given.squeeze(1).double()
    if logits.shape[1] == 1:
        return torch.where(own.isnan(), own, float("inf"))
    others = logits.scatter_(1, at, -float("inf")) if in_place else logits.scatter(1, at, -float("inf"))
    best = others.amax(1).double()
    if in_place:
        logits.scatter_(1, at, given)
    return own - best


def _bits(task: Task, missed: np.ndarray, choices: int) -> float | None:
    """Bits memorized. Rows that repeat a key add none: a key counts once, as recalled when any of its rows is."""
    if task.answer_bits is None:
        return None
    return bits_memorized(task.answer_bits, task.distinct_keys, task.recalled_keys(missed), choices)
