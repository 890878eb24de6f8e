"""Cells to tokens: a key cell is one token, or is spelled out in letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rote.errors import InputError
from rote.tasks.vocabulary import PAD, SEPARATOR

JOINED = "\0"
"""Stands between the cells of a key while they are spelled; no cell contains it."""

SHORTEST = 2
"""Fewest tokens of a padded key: with one, attention could only look at itself."""

MOST_IDS = 2**30
"""Most token ids of one task: 4 GiB."""


@dataclass(frozen=True)
class Tokenised:
    """Keys as token ids, with the tokens they use in the order of their ids."""

    contexts: np.ndarray
    tokens: list[str]


def numbered(cells: Sequence[str], known: dict[str, int]) -> np.ndarray:
    """The number of each cell in `known`, which grows by the cells it lacks in order of appearance."""
    for cell in dict.fromkeys(cells):
        known.setdefault(cell, len(known))
    return np.fromiter(map(known.__getitem__, cells), dtype=np.int32, count=len(cells))


def as_words(columns: Sequence[Sequence[str]]) -> Tokenised:
    """Each cell is one token; equal cells are equal tokens, whatever their column."""
    known: dict[str, int] = {}
    contexts = np.stack([numbered(cells, known) for cells in columns], axis=1)
    return Tokenised(contexts, list(known))


def as_spaces(columns: Sequence[Sequence[str]], context: int | None = None) -> Tokenised:
    """Cells split at their spaces, padded on the left to `context` tokens. Default: those of the longest key."""
    split = [" ".join(cells).split() for cells in zip(*columns, strict=True)]
    longest = max(map(len, split))
    if context is not None and context < longest:
        key = " ".join(max(split, key=len))
        raise InputError(
            f"`context={context}`: the key {key!r} alone has {longest} words; give at least {longest}, "
            "or leave `context` out"
        )
    width = context or max(SHORTEST, longest)
    if width * len(split) > MOST_IDS:
        raise InputError(f"keys split at spaces: {len(split)} keys padded to {width} words are too many tokens to hold")
    padded = any(len(words) < width for words in split)
    known: dict[str, int] = {PAD: 0} if padded else {}
    contexts = np.zeros((len(split), width), dtype=np.int32)
    for row, words in enumerate(split):
        contexts[row, width - len(words) :] = numbered(words, known)
    return Tokenised(contexts, list(known))


def as_letters(columns: Sequence[Sequence[str]], context: int | None = None) -> Tokenised:
    """Cells spelled in letters (code points), padded on the left so that the last token is the key's own last letter.

    Several cells of one key stand in one spelling with a separator token between them. `context` is the number of
    tokens to pad to, at least two. Default: the longest key's letters.
    """
    spelled = list(columns[0]) if len(columns) == 1 else [JOINED.join(cells) for cells in zip(*columns, strict=True)]
    lengths = np.fromiter(map(len, spelled), dtype=np.int64, count=len(spelled))
    longest = int(lengths.max())
    if context is not None and context < longest:
        key = spelled[int(lengths.argmax())].replace(JOINED, " ")
        raise InputError(
            f"`context={context}`: the key {key!r} alone has {longest} letters; give at least {longest}, "
            "or leave `context` out"
        )
    width = context or max(SHORTEST, longest)
    if width * len(spelled) > MOST_IDS:
        raise InputError(
            f"keys in letters: {len(spelled)} keys padded to {width} letters are too many tokens to hold; "
            "shorten the longest keys, or read keys as words (`keys=words`)"
        )
    points, letters = np.unique(np.frombuffer("".join(spelled).encode("utf-32-le"), dtype="<u4"), return_inverse=True)
    tokens = [SEPARATOR if point == 0 else chr(point) for point in points]
    padded = bool((lengths < width).any())
    contexts = np.zeros((len(spelled), width), dtype=np.int32)
    # A row's letters end at its last place: its first letter stands `length` places before the row's end.
    within = np.arange(len(letters)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    row = np.repeat(np.arange(len(spelled)), lengths)
    contexts[row, width - np.repeat(lengths, lengths) + within] = letters + padded
    return Tokenised(contexts, [PAD, *tokens] if padded else tokens)
