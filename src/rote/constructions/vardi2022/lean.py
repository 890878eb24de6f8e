"""Lean storage: one interleaved word per group, keys as differences, bits read by thresholds. Width 6 after selection.

A group is its smallest key, and words that hold the first key's label, then for each further key its difference from
the one before and its label. The register `ahead` starts at x - first key + 1, loses each difference in turn, and says
where x lies: 1 at the key itself, more beyond it, 0 before it. Two layers per bit (see `select`).

Two meanings: `match` gives the label of key x, and 0 where x is no key. `interval` gives the label of the largest key
not above x; then neighbours with one label need one entry, and nothing needs to say where keys are absent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rote.constructions.vardi2022.network import Builder, concatenated, select, threshold

Meaning = Literal["match", "interval"]


@dataclass(frozen=True)
class Layout:
    """How groups are packed: bits of a difference and of a label, and the entries in each word of a group."""

    difference_bits: int
    label_bits: int
    entries: tuple[int, ...]

    @property
    def capacity(self) -> int:
        return sum(self.entries)

    @property
    def lengths(self) -> list[int]:
        """Bits of each word; the very first entry has no difference."""
        both = self.difference_bits + self.label_bits
        return [count * both - (self.difference_bits if word == 0 else 0) for word, count in enumerate(self.entries)]


def merged(keys: Sequence[int], labels: Sequence[int]) -> tuple[list[int], list[int]]:
    """The keys at which the label changes: all that `interval` needs."""
    kept = [index for index in range(len(keys)) if index == 0 or labels[index] != labels[index - 1]]
    return [keys[index] for index in kept], [labels[index] for index in kept]


def best_layout(
    keys: Sequence[int], label_bits: int, word_bits: int | None = None, most_words: int = 1, lanes: int = 1
) -> Layout:
    """The layout with the fewest weights that are not zero, nearly. A label must fit a word.

    Without `word_bits` a group is one word of whatever length; with it, up to `most_words` words of that length.
    """
    gaps = np.diff(np.array(keys, dtype=np.int64))
    widest = int(gaps.max()).bit_length() if len(gaps) else 1
    costs: list[tuple[float, Layout]] = []
    for difference_bits in range(1, widest + 1):
        runs = _runs(gaps, difference_bits)
        for layout in _candidates(len(keys), difference_bits, label_bits, word_bits, most_words):
            groups = int((-(-runs // layout.capacity)).sum())
            costs.append((estimated_nonzeros(groups, layout, lanes), layout))
    return min(costs, key=lambda priced: priced[0])[1]


def _candidates(
    keys: int, difference_bits: int, label_bits: int, word_bits: int | None, most_words: int
) -> Iterator[Layout]:
    """Layouts of every useful capacity."""
    if word_bits is None:
        for capacity in range(1, min(keys, 2 * math.isqrt(keys) + 2) + 1):
            yield Layout(difference_bits, label_bits, (capacity,))
        return
    both = difference_bits + label_bits
    first, each = 1 + (word_bits - label_bits) // both, word_bits // both
    for entries in range(1, first + 1):
        yield Layout(difference_bits, label_bits, (entries,))
    for words in range(2, most_words + 1 if each else 0):
        yield Layout(difference_bits, label_bits, (first, *[each] * (words - 1)))


def _runs(gaps: np.ndarray, difference_bits: int) -> np.ndarray:
    """Lengths of runs of keys whose differences all fit."""
    breaks = np.flatnonzero(gaps >= 1 << difference_bits)
    return np.diff(np.concatenate([[-1], breaks, [len(gaps)]]))


def estimated_nonzeros(groups: int, layout: Layout, lanes: int) -> float:
    """Weights and biases not zero, nearly: groups cost their thresholds and words, entries their bits."""
    words = len(layout.entries) + 1
    selecting = groups * (4 + words + (1 + words) / lanes)
    carried = 2 * len(layout.entries)
    reading = layout.capacity * (layout.difference_bits * (10 + carried) + layout.label_bits * (13 + carried) + 11)
    return selecting + reading


def store(
    builder: Builder,
    keys: Sequence[int],
    labels: Sequence[int],
    layout: Layout,
    meaning: Meaning = "match",
    lanes: int = 1,
) -> dict[str, int]:
    """Register y <- label of key x in the given meaning. Keys are distinct and ascending; register x ends here.

    Every sum stays below (lanes + 1) 2^b for words of b bits.
    """
    groups = _groups(keys, labels, layout)
    words: dict[str, list[int]] = {"first": [group[0][0] for group in groups]}
    for word, fields in enumerate(zip(*(_words(group, layout, meaning) for group in groups), strict=True)):
        words[f"word{word}"] = list(fields)
    select(builder, words["first"], words, lanes)
    builder["ahead"] = builder["x"] - builder["first"] + 1
    builder["y"] = 0
    for name in ("x", "first"):
        del builder[name]
    builder.layer()
    for word, entries in enumerate(layout.entries):
        remaining = layout.lengths[word]
        for entry in range(entries):
            first = word == entry == 0
            if not first:
                _subtract_difference(builder, f"word{word}", remaining, layout.difference_bits)
                remaining -= layout.difference_bits
            _gate(builder, meaning)
            _take_label(builder, f"word{word}", remaining, layout.label_bits, meaning == "interval" and not first)
            remaining -= layout.label_bits
        del builder[f"word{word}"]
    del builder["ahead"]
    return {
        "groups": len(groups),
        "group": layout.capacity,
        "words": len(layout.entries),
        "difference_bits": layout.difference_bits,
        "label_bits": layout.label_bits,
        "entries": len(keys),
    }


def _groups(keys: Sequence[int], labels: Sequence[int], layout: Layout) -> list[list[tuple[int, int]]]:
    groups: list[list[tuple[int, int]]] = []
    for key, label in zip(keys, labels, strict=True):
        full = not groups or len(groups[-1]) >= layout.capacity
        if full or key - groups[-1][-1][0] >= 1 << layout.difference_bits:
            groups.append([])
        groups[-1].append((key, label))
    return groups


def _words(group: list[tuple[int, int]], layout: Layout, meaning: Meaning) -> list[int]:
    """A group's words. Missing entries lie far ahead; should x reach them all the same, their label does no harm."""
    far, harmless = (1 << layout.difference_bits) - 1, group[-1][1] if meaning == "interval" else 0
    entries = [(group[0][0], group[0][1])]
    entries += [(after[0] - before[0], after[1]) for before, after in pairwise(group)]
    entries += [(far, harmless)] * (layout.capacity - len(group))
    words, start = [], 0
    for word, count in enumerate(layout.entries):
        fields: list[tuple[int, int]] = []
        for entry, (difference, label) in enumerate(entries[start : start + count]):
            if word or entry:
                fields.append((difference, layout.difference_bits))
            fields.append((label, layout.label_bits))
        words.append(concatenated(fields))
        start += count
    return words


def _subtract_difference(builder: Builder, word: str, remaining: int, bits: int) -> None:
    """Take the word's highest `bits` bits off it, and what they say off `ahead` (which stops at 0)."""
    for digit in reversed(range(bits)):
        level = 1 << (remaining - bits + digit)
        threshold(builder, builder[word], level)
        builder[word] -= level * builder["reached"]
        builder["ahead"] -= (1 << digit) * builder["reached"]


def _gate(builder: Builder, meaning: Meaning) -> None:
    """Register match <- whether x is this key (`match`), or at or beyond it (`interval`)."""
    off = {"behind": 1 - builder["ahead"]}
    if meaning == "match":
        off["beyond"] = builder["ahead"] - 1
    builder.layer(**off)
    open_gate = 1 - builder["behind"]
    builder.layer(open=open_gate - builder["beyond"] if meaning == "match" else open_gate)
    builder["match"] = builder["open"]


def _take_label(builder: Builder, word: str, remaining: int, bits: int, replace: bool) -> None:
    """Take the word's highest `bits` bits off it; y gains what they say where the gate is open.

    With `replace`, y is cleared there first: it is below 2^bits, and a register stops at 0.
    """
    for digit in reversed(range(bits)):
        level = 1 << (remaining - bits + digit)
        if replace and digit == bits - 1:
            builder["y"] -= (1 << bits) * builder["match"]
        builder.layer(short=level - builder[word])
        builder.layer(reached=1 - builder["short"], kept=builder["match"] - builder["short"])
        builder[word] -= level * builder["reached"]
        builder["y"] += (1 << digit) * builder["kept"]
    del builder["match"]
