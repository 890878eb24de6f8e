"""Asking a model: words in, an answer with its margin out, and `unknown` for a key that was never stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rote.errors import InputError
from rote.models.spec import Spec
from rote.tasks.cells import cell_texts
from rote.tasks.key_reader import WAYS, KeyReader
from rote.tasks.key_set import KeySet
from rote.tasks.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = 1024
"""Keys per forward pass."""


@dataclass(frozen=True)
class RunnerUp:
    """Another answer, and by how much its logit is below the best one."""

    answer: str
    behind: float


@dataclass(frozen=True)
class Answer:
    """A model's answer to a key. An unknown key has no answer: a model would guess one with full confidence.

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
    """Logit margin: the answer's logit minus that of the runner-up."""
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


class Askable(Protocol):
    """What asking needs of a model; `rote.Model` has it."""

    @property
    def spec(self) -> Spec: ...

    @property
    def weights(self) -> dict[str, Tensor] | dict[str, np.ndarray]: ...

    @property
    def vocabulary(self) -> Vocabulary | None: ...

    @property
    def reader(self) -> KeyReader | None: ...

    def logits(self, inputs: Any) -> Tensor | np.ndarray: ...


def reader_of(model: Askable) -> KeyReader:
    """How the model reads keys: by its own reader, or token by token where it has none."""
    if model.spec.reads != "tokens":
        raise InputError(f"a {model.spec.architecture} model of this kind reads vectors; it cannot be asked in words")
    if model.reader is not None:
        return model.reader
    if model.vocabulary is None:
        raise InputError("this model has no vocabulary, so its tokens have no words; use `model.logits` on token ids")
    keys = model.weights.get("keys")
    stored = None if keys is None else KeySet.of(np.asarray(keys).astype(np.int32))
    return KeyReader(model.vocabulary, model.spec.context, stored=stored)


def ask(model: Askable, words: Sequence[Any], runners_up: int = 3) -> Answer:
    """One question, in words as someone would type them or in values as the table held them."""
    reader = reader_of(model)
    return next(answers(model, stored_forms(reader, [[reader.taken(way) for way in written(words)]]), runners_up))


def ask_all(model: Askable, keys: Iterable[Any], runners_up: int = 3) -> list[Answer]:
    """Answers to many keys, each the tuple of its cells, or the one cell it has."""
    ways = [written(key if isinstance(key, list | tuple) else (key,)) for key in keys]
    return list(answers(model, stored_forms(reader_of(model), ways), runners_up))


def answers(model: Askable, keys: Sequence[Sequence[str]], runners_up: int = 3) -> Iterator[Answer]:
    """Answers to keys, each given as its cells, in their order."""
    reader = reader_of(model)
    words = reader.vocabulary.tokens
    for start in range(0, len(keys), AT_ONCE):
        some = [tuple(key) for key in keys[start : start + AT_ONCE]]
        ids, known = reader.ids(some)
        if not known.any():
            yield from (Answer(key, None, None, False) for key in some)
            continue
        logits = _numbers(model.logits(ids[known]))
        best = _largest(logits, 1 + max(1, runners_up))
        rows = iter(zip(np.take_along_axis(logits, best, 1).tolist(), best.tolist(), strict=True))
        for key, is_known in zip(some, known.tolist(), strict=True):
            yield _answer(key, *next(rows), words, runners_up) if is_known else Answer(key, None, None, False)


def _numbers(logits: Tensor | np.ndarray) -> np.ndarray:
    return logits.astype(np.float64) if isinstance(logits, np.ndarray) else logits.double().numpy()


def _largest(logits: np.ndarray, count: int) -> np.ndarray:
    """Indices of the largest logits of each row, largest first; ties by the smaller token."""
    if count < logits.shape[1]:
        some = np.sort(np.argpartition(-logits, count - 1, axis=1)[:, :count], axis=1)
    else:
        some = np.tile(np.arange(logits.shape[1]), (len(logits), 1))
    order = np.argsort(-np.take_along_axis(logits, some, 1), axis=1, kind="stable")
    return np.take_along_axis(some, order, 1)


def _answer(
    key: tuple[str, ...], logits: list[float], tokens: list[int], words: Sequence[str], runners_up: int
) -> Answer:
    others = [RunnerUp(words[token], logits[0] - logit) for logit, token in zip(logits[1:], tokens[1:], strict=True)]
    margin = others[0].behind if others else None
    return Answer(key, words[tokens[0]], margin, True, tuple(others[:runners_up]))


def stored_forms(reader: KeyReader, keys: Sequence[Sequence[Sequence[str]]]) -> list[Sequence[str]]:
    """For each key, given in every way in which a table writes it, the first way that was stored, or else the first."""
    several = [ways for ways in keys if len(ways) > 1]
    known = reader.ids([way for ways in several for way in ways])[1].tolist()
    starts = np.cumsum([0, *(len(ways) for ways in several)]).tolist()
    # Where none was stored, argmax of nothing but False is the first way.
    chosen = iter(
        ways[int(np.argmax(known[start : start + len(ways)]))] for start, ways in zip(starts[:-1], several, strict=True)
    )
    return [next(chosen) if len(ways) > 1 else ways[0] for ways in keys]


def written(words: Sequence[Any]) -> list[list[str]]:
    """Every way in which a table writes these cells of a key, the plainest first: a date also with its midnight."""
    texts = [cell_texts(word) for word in words]
    if not texts or not all(texts):
        raise InputError(
            f"a question is words, numbers, dates or times, such as ask('J', 'F', 'K'); given {list(words)!r:.200}"
        )
    return [list(way) for way in islice(product(*texts), WAYS)]
