"""Ids for tokens at a position, in targets without positions.

There x = e(t) + pos_s has to be the embedding of one token. Where every token stands at one position only (relations
first, countries second) it keeps its id; otherwise each pair of a token and a position that occurs gets an id of its
own after the model's. Such ids are inputs alone and never answers.
"""

from __future__ import annotations

import numpy as np

Pairs = tuple[tuple[int, int], ...]


def pairs_of(contexts: np.ndarray, read_back: np.ndarray | None = None) -> Pairs | None:
    """Pairs of token and position that need ids of their own; None where no token stands at two places.

    `read_back` are answers that are also read after the key, where an answer has several tokens.
    """
    places = [np.unique(column) for column in contexts.T]
    twice = read_back is not None and bool(np.isin(contexts, read_back).any())
    if not twice and sum(map(len, places)) == len(np.unique(contexts)):
        return None
    return tuple((int(token), position) for position, tokens in enumerate(places) for token in tokens)


def inputs_of(contexts: np.ndarray, pairs: Pairs | None, vocab: int) -> dict[tuple[int, int], int]:
    """The id of every token at every position where it occurs."""
    if pairs is not None:
        return {pair: vocab + row for row, pair in enumerate(pairs)}
    return {
        (int(token), position): int(token) for position, column in enumerate(contexts.T) for token in np.unique(column)
    }
