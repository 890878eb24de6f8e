"""The interface of every kind of task, so that users of tasks need not know which kind one is.

A task has rows (facts, contexts or examples). Recall compares one answer per row where there is one: an
association's answer, a context's likeliest token, an example's label. Tasks know nothing of models.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from rote.display import html_pairs
from rote.tasks.origin import Origin
from rote.tasks.vocabulary import Vocabulary


def canonical_ids(vocabulary: Vocabulary, used: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The used tokens in alphabetical order, and for each id its place in that order (-1 if unused)."""
    order = used[np.argsort(vocabulary.places[used])]
    ids = np.full(len(vocabulary), -1, dtype=np.int32)
    ids[order] = np.arange(len(order))
    return list(map(vocabulary.tokens.__getitem__, order.tolist())), ids


def digest(kind: str, tokens: Sequence[str], arrays: Sequence[np.ndarray]) -> str:
    """SHA-256 over the kind of task, its tokens and its arrays (shape, type and bytes, little-endian)."""
    state = hashlib.sha256()
    state.update(json.dumps([kind, list(tokens)], ensure_ascii=True).encode())
    for array in arrays:
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        state.update(json.dumps([plain.dtype.str, list(plain.shape)]).encode())
        state.update(plain.tobytes())
    return "sha256:" + state.hexdigest()


def entropy_bits(counts: np.ndarray) -> float:
    """Shannon entropy of counts or probabilities, in bits."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


SHOWN = 5
"""Facts that a notebook shows of a task."""


class Task(ABC):
    """Something to be memorized."""

    def _repr_html_(self) -> str:
        words = (self.fact_in_words(row) for row in range(min(SHOWN, self.facts)))
        rows = {f"{row + 1}": fact for row, fact in enumerate(words) if fact is not None}
        sizes = {self.kind: self.facts, "context": self.context, "ceiling": self.ceiling, "bits": self.entropy_bits}
        return html_pairs(self.origin.source, {**sizes, **rows})

    kind: ClassVar[Literal["associations", "distributions", "vectors"]]
    """Names the kind in messages."""
    reads: ClassVar[Literal["tokens", "vectors"]]
    """What a model is given: token ids, or vectors."""
    origin: Origin

    @property
    @abstractmethod
    def facts(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def context(self) -> int:
        """Tokens or vectors in a context."""

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """Best accuracy any predictor can reach."""

    @property
    @abstractmethod
    def entropy_bits(self) -> float | None:
        """Bits to be stored, where the task says how many there are."""

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal contents, whatever the order of rows."""
        return self._fingerprint()

    @abstractmethod
    def _fingerprint(self) -> str: ...

    @abstractmethod
    def inputs(self, rows: slice) -> Any:
        """What a model's forward pass takes for these rows."""

    @abstractmethod
    def take(self, rows: np.ndarray | slice) -> Task:
        """Some of the rows, in the order given."""

    @abstractmethod
    def answers_to_recall(self) -> np.ndarray:
        """The answer of each row, as recall compares it; an error where the task has none."""

    @property
    def recall_ceiling(self) -> float:
        """Best accuracy on those answers that any model can reach."""
        return self.ceiling

    @property
    def answer_bits(self) -> float | None:
        """Bits in those answers, where recalling all of them means storing the task."""
        return self.entropy_bits

    @property
    def distinct_keys(self) -> int:
        """Number of distinct questions."""
        return self.facts

    def recalled_keys(self, missed: np.ndarray) -> int:
        """Distinct questions that are answered if all rows but these are recalled."""
        return self.facts - len(missed)

    def majority(self) -> Task:
        """One row per key, with its commonest answer: what can be stored at all."""
        return self

    def fact_in_words(self, row: int) -> str | None:
        """The row as a fact to be read, where a row is one fact made of words."""
        return None

    def in_vocabulary(self, vocabulary: Vocabulary) -> Task:
        """The same task in another vocabulary's ids; vectors have none."""
        return self

    def known_rows(self, vocabulary: Vocabulary) -> np.ndarray:
        """Whether each row is made of the vocabulary's tokens alone."""
        return np.ones(self.facts, dtype=bool)
