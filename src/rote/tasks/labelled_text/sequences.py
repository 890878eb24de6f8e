"""Labelled texts as sequences of token numbers.

A text is cut into lower-case words, numbers and marks. The commonest words have a token each; every other word is
spelled, one token per letter. The first `context` tokens are the sequence. Texts with fewer tokens are left out, and
so is a text whose tokens are, up to their order, those of an earlier one: every sequence has one label, and averages
distinguish all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np

from rote.errors import InputError
from rote.tasks.association import AssociationTask
from rote.tasks.labelled_text.sources import labelled_texts

WORD = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")


@dataclass(frozen=True)
class Tokenisation:
    """Which texts, and how they are cut."""

    source: str
    """A name or a path, see `labelled_texts`."""
    classes: int
    """Number of labels, the commonest first."""
    context: int
    words: int | None
    """Words that have a token, the commonest first. Default: every word."""


@dataclass(frozen=True, eq=False)
class LabelledSequences:
    """Sequences (sequences x context) of token numbers and their labels."""

    sequences: np.ndarray
    labels: np.ndarray
    tokens: tuple[str, ...]
    """The tokens that occur, by number."""
    classes: tuple[str, ...]

    @classmethod
    def draw(cls, how: Tokenisation, count: int, seed: int) -> LabelledSequences:
        """The first `count` of all sequences in the random order of a seed."""
        texts = labelled_texts(how.source).of_classes(how.classes)
        cut = _cut(how)
        drawn: dict[tuple[str, ...], tuple[tuple[str, ...], str]] = {}
        for row in np.random.default_rng(seed).permutation(len(cut)).tolist():
            if len(drawn) == count:
                break
            tokens = cut[row]
            if tokens is not None:
                drawn.setdefault(tuple(sorted(tokens)), (tokens, texts.labels[row]))
        if len(drawn) < count:
            raise InputError(
                f"{texts.name}: {count} sequences of {how.context} tokens are asked for, and there are {len(drawn)} "
                "that differ; ask for fewer, or give more texts"
            )
        classes = tuple(sorted(set(texts.labels)))
        occurring = tuple(sorted({token for tokens, _ in drawn.values() for token in tokens}))
        number_of = {token: number for number, token in enumerate(occurring)}
        return cls(
            np.array([[number_of[token] for token in tokens] for tokens, _ in drawn.values()], dtype=np.int64),
            np.array([classes.index(label) for _, label in drawn.values()], dtype=np.int64),
            occurring,
            classes,
        )

    def task(self) -> AssociationTask:
        """The same sequences as facts. Labels are tokens of their own, next to those of the texts."""
        return AssociationTask.from_facts(
            [
                (tuple(self.tokens[token] for token in sequence), f"label: {self.classes[label]}")
                for sequence, label in zip(self.sequences, self.labels, strict=True)
            ]
        )


@cache
def _cut(how: Tokenisation) -> list[tuple[str, ...] | None]:
    """The first tokens of each text; nothing where it has fewer."""
    texts = [WORD.findall(text.lower()) for text in labelled_texts(how.source).of_classes(how.classes).texts]
    counted = Counter(word for text in texts for word in text)
    ranked = sorted(counted, key=lambda word: (-counted[word], word))
    known = set(ranked if how.words is None else ranked[: how.words])
    return [_first_tokens(text, known, how.context) for text in texts]


def _first_tokens(words: list[str], known: set[str], context: int) -> tuple[str, ...] | None:
    tokens: list[str] = []
    for word in words:
        tokens += [word] if word in known else list(word)
        if len(tokens) >= context:
            return tuple(tokens[:context])
    return None
