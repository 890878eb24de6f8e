"""Recall of any model: one that rote built or trained is asked in its own tokens, a language model in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from rote.arguments import typed
from rote.errors import InputError
from rote.lm.language_model import LanguageModel
from rote.lm.recall import LanguageRecall, language_recall
from rote.measure.recall import Recall
from rote.measure.recall import recall as recall_by_tokens
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import Task, require_associations
from rote.tasks.facts import Facts, facts


@overload
def recall(model: Model, task: Facts, *, progress: Progress = SILENT) -> Recall: ...
@overload
def recall(
    model: LanguageModel,
    task: Facts,
    templates: Sequence[str] = (),
    *,
    relation: str | None = None,
    batch: int = 64,
    progress: Progress = SILENT,
) -> LanguageRecall: ...
@typed
def recall(
    model: Model | LanguageModel,
    task: Facts,
    templates: Sequence[str] = (),
    *,
    relation: str | None = None,
    batch: int = 64,
    progress: Progress = SILENT,
) -> Recall | LanguageRecall:
    """Run the model on every fact, in the dtype of its weights.

    A rote model is asked in its own tokens; of a distribution task, for each context's likeliest one. A language model
    (`rote.load_language_model`) is asked in words, under each of the `templates` (`"The capital of {country} is"`),
    or under those that come with a named source.

    >>> import rote
    >>> model = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).model
    >>> rote.recall(model, {("capital", "France"): "Tokyo"}).recalled
    0
    """
    if isinstance(model, Model):
        if templates or relation is not None:
            raise InputError("a rote model reads its own tokens, not words; leave `templates` and `relation` out")
        return recall_by_tokens(model, task, progress)
    # A prompt is made of whole cells, however a rote model would read them.
    asked = task if isinstance(task, Task) else facts(task, keys="words")
    asked = require_associations(asked, "a language model is asked for facts with one answer each")
    return language_recall(model, asked, templates, relation=relation, batch=batch, progress=progress)
