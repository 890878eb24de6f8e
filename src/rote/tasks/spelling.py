"""How a key is written as text: words with a space between them, or letters without one.

The reading in a model folder (words, letters or what spaces divide; padding) decides. What a target reads and what a
person types is this text. A key's answer follows it after a delimiter where both stand in one line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rote.errors import InputError
from rote.tasks.association import AssociationTask
from rote.tasks.vocabulary import PAD, SEPARATOR

BETWEEN_CELLS = (" ", "|", "\t")
"""What may stand for the separator between the cells of a spelled key: the first that is no letter of the keys."""

BEFORE_ANSWER = (" ", "\t", "|")
"""What may stand between a spelled key and its answer: the first that does not occur in a key."""


@dataclass(frozen=True)
class Spelling:
    """Keys of `context` tokens as text, and back."""

    keys: Literal["words", "letters", "spaces"]
    context: int
    tokens: tuple[str, ...]
    separator: str = " "
    """Stands between words, or for the separator token of keys in letters."""
    delimiter: str = " "
    """Stands between a key and its answer."""

    @classmethod
    def of(cls, task: AssociationTask) -> Spelling:
        """The spelling that a task's reading asks for."""
        tokens = task.vocabulary.tokens
        if task.origin.reading.keys == "spaces":
            return cls("spaces", task.context, tokens, delimiter="\t")
        if task.origin.reading.keys != "letters":
            return cls("words", task.context, tokens)
        letters = {tokens[token] for token in np.unique(task.contexts)} - {PAD, SEPARATOR}
        if wrong := sorted(letter for letter in letters if len(letter) != 1):
            raise InputError(f"keys in letters have tokens of one letter each, found {wrong[0]!r}")
        separator = next((mark for mark in BETWEEN_CELLS if mark not in letters), None)
        within = letters | ({separator} if SEPARATOR in tokens else set())
        delimiter = next((mark for mark in BEFORE_ANSWER if mark not in within), None)
        if separator is None or delimiter is None:
            raise InputError("keys in letters contain space, | and tab, so that nothing can divide their text")
        return cls("letters", task.context, tokens, separator, delimiter)

    def text(self, key: Iterable[int]) -> str:
        """The key as a person types it."""
        words = [self.tokens[token] for token in key]
        if self.keys == "words":
            return self.separator.join(words)
        if self.keys == "spaces":
            return self.separator.join(word for word in words if word != PAD)
        return "".join(self.separator if word == SEPARATOR else word for word in words if word != PAD)

    def texts(self, contexts: np.ndarray) -> list[str]:
        return [self.text(key) for key in contexts.tolist()]

    def ids(self, text: str) -> list[int]:
        """The key's token ids, for runtimes that come without a tokenizer; [] where the text is no key."""
        known = {token: index for index, token in enumerate(self.tokens)}
        if self.keys == "letters":
            letters = [SEPARATOR if letter == self.separator else letter for letter in text]
            if SEPARATOR not in known:
                letters = list(text)
            padded = [PAD] * (self.context - len(letters)) + letters
            return [known[letter] for letter in padded] if all(letter in known for letter in padded) else []
        if self.keys == "spaces":
            words = text.split(self.separator)
            padded = [PAD] * (self.context - len(words)) + words
            return [known[word] for word in padded] if all(word in known for word in padded) else []
        return _words(text.split(self.separator), self.separator, known, self.context) or []


def _words(parts: list[str], separator: str, known: dict[str, int], count: int) -> list[int] | None:
    """`parts` as `count` known words, a word being one part or several joined; the longest word is tried first."""
    if count == 0:
        return [] if not parts else None
    for length in range(len(parts) - count + 1, 0, -1):
        word = separator.join(parts[:length])
        if word in known and (rest := _words(parts[length:], separator, known, count - 1)) is not None:
            return [known[word], *rest]
    return None


def refuse_ambiguous(spelling: Spelling, task: AssociationTask) -> list[str]:
    """Why text cannot stand for these keys: two different keys that are written alike."""
    seen: dict[str, tuple[int, ...]] = {}
    for key in map(tuple, np.unique(task.contexts, axis=0).tolist()):
        text = spelling.text(key)
        if text in seen:
            one, other = (" + ".join(repr(spelling.tokens[token]) for token in ids) for ids in (seen[text], key))
            return [f"the keys {one} and {other} are both written {text!r}; rename a word to tell them apart"]
        seen[text] = key
    return []
