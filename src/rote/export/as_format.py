"""Which facts a format of few bits would lose, computed here before anything is exported.

A format of GGUF (Q8_0, Q4_0, ...) is computed as llama.cpp does, inputs rounded to 8 bits included. A grid of rote's
(int8, int4, ...) is the model's weights rounded to the nearest level, one scale per row. Neither solves anything again:
`rote build --dtype` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch

from rote.arguments import typed
from rote.errors import InputError, nearest, problems
from rote.export.common.gguf_blocks import FORMATS
from rote.export.common.places import inputs_of, pairs_of
from rote.export.requirement import refuse_missing
from rote.export.subject import Exportable, ExportSubject, subject_of
from rote.export.targets.gguf_state import BlockState
from rote.export.targets.llama_cpp import LlamaCpp, token_texts
from rote.measure.precision import on_grid
from rote.measure.recall import margins, recall
from rote.models.grid import GRID_NAMES, GridName
from rote.progress import SILENT, Progress
from rote.tasks import Task
from rote.tasks.facts import Facts
from rote.tasks.facts import facts as read_facts

ROWS = 512
"""Facts that are computed at once."""


@dataclass(frozen=True, eq=False)
class FormatRecall:
    """What a model recalls in a format."""

    format: str
    facts: int
    recalled: int
    recalled_before: int
    """Facts that the model recalls as it is."""
    min_margin: float
    missed: np.ndarray
    """Rows of the facts that are missed."""
    said: np.ndarray
    """Token that is answered instead, for each of them."""

    def summary(self) -> dict[str, Any]:
        """Everything but the rows as one JSON document."""
        return {
            "format": self.format,
            "facts": self.facts,
            "recalled": self.recalled,
            "recalled_before": self.recalled_before,
            "missed": len(self.missed),
            "min_margin": self.min_margin,
        }


@typed
def recall_as(model: Exportable, format: str, facts: Facts | None = None, progress: Progress = SILENT) -> FormatRecall:
    """What the model would recall in a format of GGUF or on a grid, without writing anything.

    >>> import rote
    >>> task = rote.facts("random:vocab=6,context=2,facts=9,seed=1")
    >>> rote.export.recall_as(rote.build(task, dtype="int8"), "int8", task).recalled
    9
    """
    known = (*FORMATS, *GRID_NAMES)
    if format not in known:
        raise InputError(f"`as={format}`: is not one of {', '.join(known)}{nearest(format, known)}")
    given = facts if facts is None or isinstance(facts, str | Task) else read_facts(facts)
    subject = subject_of(model, given)
    if format in GRID_NAMES:
        rounded = on_grid(subject.model, cast(GridName, format))
        seen = recall(rounded, subject.task, progress)
        return FormatRecall(
            format, seen.facts, seen.recalled, subject.recalled, seen.min_margin, seen.missed, seen.said
        )
    target = LlamaCpp()
    refuse_missing(target.id, target.requirements[:1], target.extra)
    if refused := target.refusals(subject):
        raise problems(f"{format} cannot hold this model", refused)
    return _in_blocks(subject, format, progress)


def _in_blocks(subject: ExportSubject, format: str, progress: Progress) -> FormatRecall:
    pairs, vocab = pairs_of(subject.contexts), len(subject.spelling.tokens)
    state = BlockState.of(subject, format, len(token_texts(subject.spelling, subject.contexts, pairs)))
    rows_of = inputs_of(subject.contexts, pairs, vocab)
    ids = torch.tensor([[rows_of[int(token), place] for place, token in enumerate(key)] for key in subject.contexts])
    answers = torch.from_numpy(subject.task.answers).long()
    every, said = [], []
    with progress.stage(f"computing in {format}", len(ids)) as stage, torch.no_grad():
        for start in range(0, len(ids), ROWS):
            logits = state.logits(ids[start : start + ROWS])
            every.append(margins(logits, answers[start : start + ROWS]) / state.gain)
            said.append(logits.argmax(1))
            stage.advance(len(logits))
    margin = torch.cat(every).nan_to_num(nan=-float("inf"))
    missed = np.flatnonzero(~(margin > 0).numpy())
    return FormatRecall(
        format, len(ids), len(ids) - len(missed), subject.recalled, float(margin.min()), missed,
        torch.cat(said).numpy()[missed],
    )  # fmt: skip
