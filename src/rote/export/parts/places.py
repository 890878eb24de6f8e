"""Ids for tokens at a place, in targets without positions.

There x = e(t) + pos_s has to be the embedding of one token. Where every token stands at one place only (relations
first, countries second) it keeps its id; otherwise each pair of a token and a place that occurs gets an id of its own
after the model's. Such ids are inputs alone and never answers.
"""

from __future__ import annotations

import numpy as np

Pairs = tuple[tuple[int, int], ...]


def pairs_of(contexts: np.ndarray) -> Pairs | None:
    """Pairs of token and place that need ids of their own; None where no token stands at two places."""
    places = [np.unique(column) for column in contexts.T]
    if sum(map(len, places)) == len(np.unique(contexts)):
        return None
    return tuple((int(token), place) for place, tokens in enumerate(places) for token in tokens)


def inputs_of(contexts: np.ndarray, pairs: Pairs | None, vocab: int) -> dict[tuple[int, int], int]:
    """The id of every token at every place where it occurs."""
    if pairs is not None:
        return {pair: vocab + row for row, pair in enumerate(pairs)}
    return {(int(token), place): int(token) for place, column in enumerate(contexts.T) for token in np.unique(column)}
