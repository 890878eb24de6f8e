"""Sequence ids: a code for a few tokens, so that the sums of codes tell all sequences apart.

Kajitsuka and Sato 2025, Section 4 (contextual mapping): give codes to at most N - 1 tokens and 0 to all others, so
that N sequences have N different sums. Codes in base n + 1 would do, and would be hopelessly long; here each code is
drawn as small as the sums so far allow.

Sequences are rows of token values; a row is a multiset (order shows only where positions enter the values).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.errors import InputError
from rote.progress import SILENT, Progress

TRIES, GROWTH, SHRINK = 32, 1.2, 0.5
"""Draws of a code before its range grows, by how much it grows, and where the next code's range starts. Twice the
draws would save about a quarter of a bit of the sums, at four times the time."""

SUM_BITS = 42
"""Sums are compared within intervals of rows; both share a 64-bit number."""

FEW_HOLDERS = 64
"""Tokens that so few rows hold take the first code that is free."""


@dataclass(frozen=True)
class Codes:
    """Codes of the chosen tokens, and the sum of each sequence."""

    tokens: np.ndarray
    """Values of the tokens that have a code, ascending."""
    codes: np.ndarray
    sums: np.ndarray

    def of(self, values: np.ndarray) -> np.ndarray:
        """Codes of token values, 0 for all that have none."""
        index = np.minimum(np.searchsorted(self.tokens, values), len(self.tokens) - 1)
        return np.where(self.tokens[index] == values, self.codes[index], 0)


def sequence_codes(sequences: np.ndarray, seed: int = 0, progress: Progress = SILENT) -> Codes:
    """Codes under which no two of these sequences have the same sum; the sequences are distinct as multisets."""
    tokens, numbers = np.unique(sequences, return_inverse=True)
    numbers = numbers.reshape(sequences.shape)
    chosen = chosen_tokens(numbers)
    if len(chosen) == 0:
        # One sequence: any code will do, and a memorizer needs a key.
        return Codes(tokens[:1], np.ones(1, dtype=np.int64), (numbers == 0).sum(1).astype(np.int64))
    codes, sums = _draw_codes(_descending_ranks(numbers, chosen), len(chosen), seed, progress)
    if len(np.unique(sums)) < len(sums) or sums.max() >= 1 << SUM_BITS:
        raise InputError(f"sequences: {len(sums)} are too many for sums of {SUM_BITS} bits")
    order = np.argsort(tokens[chosen])
    return Codes(tokens[chosen][order], codes[order], sums)


def chosen_tokens(numbers: np.ndarray) -> np.ndarray:
    """Tokens whose counts tell all sequences apart, commonest first: one is added only if it splits a class.

    Starting from one class, N classes are reached after at most N - 1 tokens.
    """
    rows, length = numbers.shape
    order = np.argsort(numbers.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(numbers.ravel()))
    starts = np.concatenate([[0], ends[:-1]])
    of_class = np.zeros(rows, dtype=np.int64)
    # A class that splits altogether leaves its name unused, so there are up to twice as many names as classes.
    sizes = np.zeros(2 * rows + 1, dtype=np.int64)
    sizes[0], names, classes, chosen = rows, 1, 1, []
    for token in np.argsort(starts - ends, kind="stable"):
        if classes == rows:
            break
        holders, counts = np.unique(order[starts[token] : ends[token]] // length, return_counts=True)
        cells, cell, members = np.unique(
            of_class[holders] * (length + 1) + counts, return_inverse=True, return_counts=True
        )
        parents = cells // (length + 1)
        splits = members < sizes[parents]
        if not splits.any():
            continue
        named = parents.copy()
        named[splits] = names + np.arange(splits.sum())
        names += int(splits.sum())
        np.subtract.at(sizes, parents[splits], members[splits])
        sizes[named[splits]] = members[splits]
        left = np.unique(parents[splits])
        classes += int(splits.sum()) - int((sizes[left] == 0).sum())
        of_class[holders] = named[cell]
        chosen.append(int(token))
    if classes < rows:
        raise InputError(
            "sequences: some are the same up to order, so no sum of codes can tell them apart; "
            "let positions enter the tokens (`ordered=True`), or give each sequence once"
        )
    return np.array(chosen, dtype=np.int64)


def _descending_ranks(numbers: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Each row's chosen tokens as ranks (places in `chosen`), largest first, then -1 for the others."""
    rank = np.full(int(numbers.max()) + 1, -1, dtype=np.int64)
    rank[chosen] = np.arange(len(chosen))
    return -np.sort(-rank[numbers], axis=1)


def _draw_codes(ranks: np.ndarray, tokens: int, seed: int, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """Codes rank by rank, so that rows that agree on all later tokens always have different sums.

    Common tokens come first: the rows that hold a rare one are few, and fit between the others with a small code.

    With rows sorted by their descending ranks, rows that agree on all ranks above s are neighbours: two neighbouring
    rows part at their first differing rank, and merge once s has reached the larger of the two. So only rows of
    intervals that merge at s need to be compared when code s is drawn.
    """
    rng = np.random.default_rng(seed)
    order = np.lexsort(ranks.T[::-1])
    ranks = ranks[order]
    merge_at = _merging_ranks(ranks)
    counts = _counts_by_rank(ranks, tokens)
    merges = np.argsort(merge_at, kind="stable")
    merge_ends = np.searchsorted(merge_at[merges], np.arange(tokens), side="right")
    starts = np.arange(len(ranks))
    ends = np.arange(len(ranks)) + 1
    sums = np.zeros(len(ranks), dtype=np.int64)
    codes = np.zeros(tokens, dtype=np.int64)
    reach, done = 2, 0
    with progress.stage("choosing codes", tokens) as stage:
        for token in range(tokens):
            merged = _merge(merges[done : merge_ends[token]], starts, ends)
            done = int(merge_ends[token])
            holders, times = counts[token]
            codes[token], reach = _draw(merged, holders, times, sums, reach, rng)
            sums[holders] += codes[token] * times
            stage.advance()
    in_order = np.empty_like(sums)
    in_order[order] = sums
    return codes, in_order


def _merging_ranks(ranks: np.ndarray) -> np.ndarray:
    """For each pair of neighbouring rows, the larger of their first two differing ranks."""
    above, below = ranks[:-1], ranks[1:]
    first = (above != below).argmax(1)
    pairs = np.arange(len(first))
    return np.maximum(above[pairs, first], below[pairs, first])


def _counts_by_rank(ranks: np.ndarray, tokens: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each rank the rows that hold it, and how often."""
    length = ranks.shape[1]
    cells = np.argsort(ranks.ravel(), kind="stable")
    cells = cells[np.count_nonzero(ranks < 0) :]
    ends = np.cumsum(np.bincount(ranks[ranks >= 0], minlength=tokens))
    return [np.unique(part // length, return_counts=True) for part in np.split(cells, ends[:-1])]


def _merge(boundaries: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> list[tuple[int, int]]:
    """Join intervals over these boundaries (boundary i lies between rows i and i + 1); the intervals that result.

    `starts` is right at the last row of each interval, `ends` at its first.
    """
    joined: dict[int, int] = {}
    for boundary in np.sort(boundaries):
        start, end = int(starts[boundary]), int(ends[boundary + 1])
        starts[end - 1], ends[start] = start, end
        joined[start] = end
    return list(joined.items())


def _draw(
    merged: list[tuple[int, int]],
    holders: np.ndarray,
    times: np.ndarray,
    sums: np.ndarray,
    reach: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """A small code under which the rows of each merged interval have different sums."""
    if not merged:
        return 1, reach
    rows = np.concatenate([np.arange(start, end) for start, end in merged])
    interval = np.repeat(np.arange(len(merged)), [end - start for start, end in merged])
    count = np.zeros(len(rows), dtype=np.int64)
    index = np.searchsorted(rows, holders)
    inside = index < len(rows)
    inside[inside] &= rows[index[inside]] == holders[inside]
    count[index[inside]] = times[inside]
    base = interval << SUM_BITS | sums[rows]
    taken, moving = np.sort(base[count == 0]), count > 0
    base, count = base[moving], count[moving]
    if len(base) <= FEW_HOLDERS:
        code = _first_free(base, count, taken, reach // 2 + 1)
        return code, code
    return _random_free(base, count, taken, reach, rng)


def _first_free(base: np.ndarray, count: np.ndarray, taken: np.ndarray, start: int) -> int:
    """The smallest code from `start` on, blocks of candidates at once: for tokens that few rows hold."""
    block = 256
    while True:
        candidates = np.arange(start, start + block)
        keys = base + candidates[:, None] * count
        clash = _in_sorted(keys, taken).any(1)
        ordered = np.sort(keys, axis=1)
        clash |= (ordered[:, 1:] == ordered[:, :-1]).any(1)
        if not clash.all():
            return int(candidates[clash.argmin()])
        start, block = start + block, min(2 * block, 8192)


def _random_free(
    base: np.ndarray, count: np.ndarray, taken: np.ndarray, reach: int, rng: np.random.Generator
) -> tuple[int, int]:
    """A random code from a range that grows until one is found, and that range."""
    reach = max(2, int(SHRINK * reach))
    while True:
        for _ in range(TRIES):
            code = int(rng.integers(1, reach + 1))
            keys = base + code * count
            if not _in_sorted(keys, taken).any() and len(np.unique(keys)) == len(keys):
                return code, reach
        reach = int(GROWTH * reach) + 1


def _in_sorted(keys: np.ndarray, taken: np.ndarray) -> np.ndarray:
    if not len(taken):
        return np.zeros(keys.shape, dtype=bool)
    return taken[np.minimum(np.searchsorted(taken, keys), len(taken) - 1)] == keys
