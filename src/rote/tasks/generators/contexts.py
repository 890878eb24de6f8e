"""Contexts of random tasks: all of them, or as many distinct ones as asked for."""

from __future__ import annotations

import numpy as np

from rote.errors import InputError
from rote.tasks.rows import distinct_rows

MOST_FACTS = 2**24
"""Contexts a generator makes at most; a task is held in memory whole."""


def draw_contexts(vocab: int, context: int, facts: int | None, rng: np.random.Generator) -> np.ndarray:
    """Every context in lexicographic order, or `facts` of them drawn uniformly without replacement.

    Nothing is enumerated unless at least half of all contexts are wanted: contexts are drawn one after the other and
    repeats are dropped, which is the same as drawing without replacement.
    """
    every = vocab**context
    wanted = every if facts is None else facts
    if wanted > MOST_FACTS:
        raise InputError(
            f"vocab={vocab}, context={context}: {'all contexts are' if facts is None else 'facts ='} {wanted:.4g}, "
            f"more than the {MOST_FACTS:,} a task may hold; give facts=N for N random ones"
        )
    if wanted > every:
        raise InputError(
            f"facts={facts}: only {every} different contexts exist with vocab={vocab}, context={context}; "
            "lower facts, or raise vocab or context"
        )
    if 2 * wanted >= every:
        chosen = np.arange(every) if facts is None else rng.permutation(every)[:wanted]
        return np.stack(np.unravel_index(chosen, (vocab,) * context), axis=1).astype(np.int32)
    drawn = np.empty((0, context), dtype=np.int32)
    while len(drawn) < wanted:
        more = rng.integers(vocab, size=(wanted - len(drawn), context), dtype=np.int32)
        drawn = np.concatenate([drawn, more])
        drawn = drawn[np.sort(distinct_rows(drawn, vocab)[0])]
    return drawn
