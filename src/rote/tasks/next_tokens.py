"""Next-token distributions of real texts: what follows each run of `context` tokens, and how often the run occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from rote.errors import InputError
from rote.tasks.distribution import DistributionTask
from rote.tasks.origin import Origin
from rote.tasks.vocabulary import Vocabulary

START, END, OTHER = "<start>", "<end>", "<other>"


def next_tokens(
    texts: Iterable[Sequence[str]], context: int, *, contexts: int, vocab: int | None = None, source: str = "in memory"
) -> DistributionTask:
    """The commonest `contexts` contexts of these texts, each with the tokens that follow it.

    A text begins with `context` marks of its start and ends with one of its end. With `vocab`, only that many tokens,
    marks included, are kept apart, the commonest first; all others count as one.
    """
    marked = [[START] * context + list(text) + [END] for text in texts]
    counted = Counter(token for text in marked for token in text[context:-1])
    ranked = sorted(counted, key=lambda token: (-counted[token], token))
    if vocab is not None and vocab < len(ranked) + 2:
        if vocab < 4:
            raise InputError(f"`vocab={vocab}`: start, end, one token and all others take 4 at least")
        ranked = [*ranked[: vocab - 3], OTHER]
    words = (START, END, *ranked)
    number = {word: token for token, word in enumerate(words)}
    other = number.get(OTHER, 0)
    runs: Counter[tuple[int, ...]] = Counter()
    for text in marked:
        tokens = [number.get(word, other) for word in text]
        runs.update(tuple(tokens[at : at + context + 1]) for at in range(len(tokens) - context))
    heads: Counter[tuple[int, ...]] = Counter()
    for run, times in runs.items():
        heads[run[:-1]] += times
    kept = set(sorted(heads, key=lambda head: (-heads[head], head))[:contexts])
    if len(kept) < contexts:
        raise InputError(f"`contexts={contexts}`: {source} has {len(kept)}; ask for fewer")
    rows = sorted((run, times) for run, times in runs.items() if run[:-1] in kept)
    ids = np.array([run for run, _ in rows])
    weights = np.array([times for _, times in rows], dtype=np.float64)
    return DistributionTask.from_weighted_ids(
        ids[:, :-1], ids[:, -1], weights, Vocabulary(words), Origin(source=source)
    )
