"""Answers of several tokens: an exported model writes the words of an answer one after another, then an end of text.

The model itself answers by one token. In the exported vocabulary that token is the first word of its answer; each
further word has an id of its own, and so has the end. Which id follows which depends on nothing but the id before, so
that an answer is known by its first token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

AnswerTokens = Literal["one", "words"]
"""Whether an answer is one token of the exported vocabulary, or its words and an end of text."""

FIRST_CODE, CODES = 0xF000, 0x800
"""Private characters that number answers, so that the same word in two answers is two entries of the vocabulary."""
ANSWER = "\uf8fd"
"""The private character at the start of a text that is an answer and no key."""


@dataclass(frozen=True)
class AnswerWords:
    """The words of every answer, with the ids of those after the first."""

    words: dict[int, tuple[str, ...]]
    """By the id of the answer."""
    first_id: int
    """Ids of further words count from here."""

    @classmethod
    def of(cls, answers: Sequence[int], tokens: Sequence[str], first_id: int) -> AnswerWords:
        """Words of these answers, which are ids."""
        divided = {answer: tuple(tokens[answer].split(" ")) for answer in sorted(set(answers))}
        return cls({answer: parts if all(parts) else (tokens[answer],) for answer, parts in divided.items()}, first_id)

    @property
    def further(self) -> list[tuple[int, int]]:
        """Answer and number of the word behind every further id, in order."""
        return [(answer, place) for answer, words in self.words.items() for place in range(1, len(words))]

    @property
    def longest(self) -> int:
        return max(map(len, self.words.values()))

    def ids(self) -> dict[int, tuple[int, ...]]:
        """The ids of every answer."""
        found, at = {}, self.first_id
        for answer, words in self.words.items():
            found[answer] = (answer, *range(at, at + len(words) - 1))
            at += len(words) - 1
        return found

    def entry(self, answer: int, place: int, spaced: bool) -> str:
        """The text of a word in the vocabulary; `spaced` where the decoder puts spaces between words itself."""
        word = self.words[answer][place]
        if len(self.words[answer]) == 1:
            return word
        lead = " " if place and not spaced else ""
        return lead + word + _code(answer) + (chr(FIRST_CODE + place) if place else "")

    def entries(self, spaced: bool) -> tuple[dict[int, str], list[str]]:
        """Entries of first words, by id, and of all further ones."""
        first = {answer: self.entry(answer, 0, spaced) for answer, words in self.words.items() if len(words) > 1}
        return first, [self.entry(answer, place, spaced) for answer, place in self.further]

    def spelled(self, spaced: bool) -> list[tuple[str, str]]:
        """The text of every answer, and what the tokenizer divides instead."""
        return [
            (" ".join(words), "".join(self.entry(answer, place, spaced) for place in range(len(words))))
            for answer, words in self.words.items()
        ]


def _code(number: int) -> str:
    return chr(FIRST_CODE + number // CODES) + chr(FIRST_CODE + number % CODES)


def code_pattern() -> str:
    """A character that ends a word of a numbered answer."""
    return f"[{chr(FIRST_CODE)}-{chr(FIRST_CODE + CODES - 1)}]"


Rules = list[tuple[str, str]]


def answer_rules(words: AnswerWords, last_mark: str, spaced: bool) -> tuple[Rules, Rules]:
    """Rules for an answer alone, which come before those of keys, and for one after a key, which come after them."""
    spelled = words.spelled(spaced)
    return (
        [(rf"\A ?{re.escape(text)}\z", ANSWER + divided) for text, divided in spelled],
        [(rf"(?<={last_mark}){re.escape(text)}\z", divided) for text, divided in spelled if text != divided],
    )
