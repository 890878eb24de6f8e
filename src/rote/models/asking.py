"""Asking a model: words in, an answer with its margin out, and `unknown` for a key that was never stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rote.errors import InputError
from rote.tasks.key_reader import KeyReader
from rote.tasks.key_set import KeySet
from rote.tasks.task import Task
from rote.tasks.token_task import TokenTask

if TYPE_CHECKING:
    from rote.models.model import Model

AT_ONCE = 1024
"""Keys that are run together."""


@dataclass(frozen=True)
class RunnerUp:
    """Another answer, and by how much its logit is behind the best one's."""

    answer: str
    behind: float


@dataclass(frozen=True)
class Answer:
    """What a model says to a key. An unknown key has no answer: a model would guess one with all confidence.

    >>> import rote
    >>> model = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).model
    >>> answer = model.ask("capital", "Japan", runners_up=1)
    >>> answer.answer, answer.known, answer.margin == answer.runners_up[0].behind > 0
    ('Tokyo', True, True)
    >>> print(model.ask("capital", "Peru"))
    capital Peru: unknown
    """

    key: tuple[str, ...]
    answer: str | None
    margin: float | None
    """The answer's logit less that of the next best."""
    known: bool
    """Whether the key was stored. Without a set of keys, whether it can be read at all."""
    runners_up: tuple[RunnerUp, ...] = ()

    def __str__(self) -> str:
        if self.answer is None:
            return f"{' '.join(self.key)}: unknown"
        ahead = f" (ahead of {self.runners_up[0].answer} by {self.margin:.3g})" if self.runners_up else ""
        return f"{self.answer}{ahead}"

    def summary(self) -> dict[str, Any]:
        """As one JSON object."""
        return asdict(self)


def reader_of(model: Model) -> KeyReader:
    """How the model reads keys: its own way, or tokens as they are where nothing else is known of it."""
    if model.spec.reads != "tokens":
        raise InputError(f"a {model.spec.architecture} model of this kind reads vectors; it cannot be asked in words")
    if model.reader is not None:
        return model.reader
    if model.vocabulary is None:
        raise InputError("this model has no vocabulary, so its tokens have no words; use `model.logits` on token ids")
    keys = model.weights.get("keys")
    stored = None if keys is None else KeySet.of(keys.numpy().astype(np.int32))
    return KeyReader(model.vocabulary, model.spec.context, stored=stored)


def with_reader(model: Model, task: Task, keep_keys: bool = True) -> Model:
    """The model with its task's way of reading keys, and the set of them unless it is to be left out."""
    return replace(model, reader=KeyReader.of(task, keep_keys)) if isinstance(task, TokenTask) else model


def ask(model: Model, words: Sequence[str], runners_up: int = 3) -> Answer:
    """One question, in words as someone would type them."""
    _refuse(words)
    return next(answers(model, [reader_of(model).taken(list(words))], runners_up))


def answers(model: Model, keys: Sequence[Sequence[str]], runners_up: int = 3) -> Iterator[Answer]:
    """Answers to keys, each given as its cells, in their order."""
    reader = reader_of(model)
    words = reader.vocabulary.tokens
    for start in range(0, len(keys), AT_ONCE):
        some = [tuple(key) for key in keys[start : start + AT_ONCE]]
        ids, known = reader.ids(some)
        if not known.any():
            yield from (Answer(key, None, None, False) for key in some)
            continue
        logits = model.logits(ids[known])
        best = logits.float().topk(min(1 + max(1, runners_up), logits.shape[1]))
        rows = iter(zip(best.values.double().tolist(), best.indices.tolist(), strict=True))
        for key, is_known in zip(some, known.tolist(), strict=True):
            yield _answer(key, *next(rows), words, runners_up) if is_known else Answer(key, None, None, False)


def _answer(
    key: tuple[str, ...], logits: list[float], tokens: list[int], words: Sequence[str], runners_up: int
) -> Answer:
    others = [RunnerUp(words[token], logits[0] - logit) for logit, token in zip(logits[1:], tokens[1:], strict=True)]
    margin = others[0].behind if others else None
    return Answer(key, words[tokens[0]], margin, True, tuple(others[:runners_up]))


def _refuse(words: Sequence[str]) -> None:
    if not words or not all(isinstance(word, str) for word in words):
        raise InputError(f"a question is words, such as ask('J', 'F', 'K'); given {list(words)!r}")
