"""From the words of a question to the token ids that a model reads, with the reading and padding of its facts.

A key is a tuple of cells, as in the table it came from. Someone who asks may type a cell of several words without
quotation marks (`capital United States`), or a spelled key letter by letter (`J F K`): of the ways to take such words,
one that was stored is preferred.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, pairwise

import numpy as np

from rote.errors import InputError
from rote.tasks.folding import folded
from rote.tasks.key_set import KeySet
from rote.tasks.origin import Reading
from rote.tasks.token_task import TokenTask
from rote.tasks.vocabulary import PAD, SEPARATOR, Vocabulary

WAYS = 200
"""Ways to divide words into cells that are tried."""


@dataclass(frozen=True, eq=False)
class KeyReader:
    """How keys are read for one model, and which ones it was given."""

    vocabulary: Vocabulary
    context: int
    reading: Reading = field(default_factory=Reading)
    columns: tuple[str, ...] = ()
    """Names of the cells of a key; one per token where there was no table."""
    stored: KeySet | None = None
    """The keys that were stored; None where the set was left out, and then every readable key counts as known."""

    @classmethod
    def of(cls, task: TokenTask, keep_keys: bool = True) -> KeyReader:
        """The reader of a task's own keys, with the set of stored keys unless that is left out."""
        # A model that answers `unknown` by its weights needs no list of what it knows.
        stored = KeySet.of(task.contexts) if keep_keys and not task.origin.reading.unknown else None
        return cls(task.vocabulary, task.context, task.origin.reading, task.origin.key_columns, stored)

    @property
    def cells(self) -> int:
        """Cells of a key."""
        return len(self.columns) or self.context

    def ids(self, keys: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
        """Token ids of these keys (keys x context), and whether each could be read and was stored.

        The ids of a key that is not known mean nothing.
        """
        ids = np.zeros((len(keys), self.context), dtype=np.int32)
        readable = np.zeros(len(keys), dtype=bool)
        for row, key in enumerate(keys):
            if (read := self._tokens(key)) is not None:
                ids[row], readable[row] = read, True
        known = readable.copy()
        if self.stored is not None and readable.any():
            known[readable] = self.stored.knows(ids[readable])
        return ids, known

    def readable(self, key: Sequence[str]) -> bool:
        """Whether a key of this many cells is made of the vocabulary's tokens and is not too long."""
        return len(key) == self.cells and self._tokens(key) is not None

    def unknown(self, key: Sequence[str]) -> list[str]:
        """Tokens of a key that the vocabulary does not have."""
        return [token for token in self._spelled(key) if token not in self.vocabulary.index]

    def taken(self, words: Sequence[str]) -> tuple[str, ...]:
        """The key that someone means by these words."""
        if len(words) < self.cells and not (self.cells > 1 and self.reading.keys != "words" and len(words) == 1):
            named = f" ({', '.join(self.columns)})" if self.columns else ""
            raise InputError(
                f"a key of this model has {self.cells} part{'s' if self.cells > 1 else ''}{named}, "
                f"given {len(words)}: {' '.join(words)!r}"
            )
        ways = list(islice(self._ways(list(words)), WAYS))
        _, known = self.ids(ways)
        return ways[int(known.argmax())]

    def _ways(self, words: list[str]) -> Iterator[tuple[str, ...]]:
        """Every way to divide words into a key's cells, the plainest first."""
        if self.cells == 1 and len(words) > 1:
            yield (" ".join(words),)
            yield ("".join(words),)
            return
        if len(words) <= self.cells:
            yield tuple(words)
            return
        for cuts in combinations(range(1, len(words)), self.cells - 1):
            ends = (0, *cuts, len(words))
            yield tuple(" ".join(words[start:end]) for start, end in pairwise(ends))

    def _tokens(self, key: Sequence[str]) -> np.ndarray | None:
        """Ids of one key, padded on the left; none where it has a token the model has never seen, or too many."""
        tokens = self._spelled(key)
        if not tokens or len(tokens) > self.context:
            return None
        tokens = [PAD] * (self.context - len(tokens)) + tokens
        index = self.vocabulary.index
        ids = [index.get(token, -1) for token in tokens]
        return None if min(ids) < 0 else np.array(ids, dtype=np.int32)

    def _spelled(self, key: Sequence[str]) -> list[str]:
        """The tokens of a key, without padding."""
        cells = [folded(cell.strip(), self.reading) for cell in key]
        if self.reading.keys == "letters":
            return [token for cell in cells for token in (SEPARATOR, *cell)][1:]
        return " ".join(cells).split() if self.reading.keys == "spaces" else cells
