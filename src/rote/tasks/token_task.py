"""Tasks whose contexts are tokens of a vocabulary: the base class of associations and distributions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar

import numpy as np

from rote.tasks.shape import TaskShape
from rote.tasks.task import Task
from rote.tasks.vocabulary import Vocabulary


class TokenTask(Task):
    """Rows of contexts (facts x context token ids, the papers' T_0 and S) over a vocabulary of N tokens."""

    reads: ClassVar = "tokens"
    rows_are: ClassVar[str]
    """What a row is called when the task is shown."""

    contexts: np.ndarray
    vocabulary: Vocabulary

    @property
    def facts(self) -> int:
        return len(self.contexts)

    @property
    def context(self) -> int:
        return self.contexts.shape[1]

    @property
    def vocab(self) -> int:
        return len(self.vocabulary)

    def __len__(self) -> int:
        return self.facts

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.facts} {self.rows_are}, vocab {self.vocab}, context {self.context}, "
            f"{self.origin.source!r})"
        )

    def inputs(self, rows: slice) -> np.ndarray:
        return self.contexts[rows]

    @property
    @abstractmethod
    def used(self) -> np.ndarray:
        """Ids of the tokens that occur."""

    @cached_property
    def shape(self) -> TaskShape:
        """The sizes that bounds and plans need."""
        return self._shape()

    @abstractmethod
    def _shape(self) -> TaskShape: ...

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """The task written out as text, one line per answer of a context."""

    @abstractmethod
    def take(self, rows: np.ndarray | slice) -> TokenTask:
        """Some of the rows, in the order given."""

    @abstractmethod
    def in_vocabulary(self, vocabulary: Vocabulary) -> TokenTask:
        """The same task in another vocabulary's ids, as a model that was built elsewhere needs them."""
