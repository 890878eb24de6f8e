"""The stored key that someone may have meant.

One that differs in case or surrounding punctuation alone, or a spelled number with zeros before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice, product

from rote.tasks.folding import folded
from rote.tasks.key_reader import WAYS, KeyReader
from rote.tasks.origin import Reading

LOOSE = Reading(ignore_case=True, ignore_punctuation=True)


def near_key(reader: KeyReader, key: Sequence[str]) -> tuple[str, ...] | None:
    """A stored key that is this one but for case, surrounding punctuation and leading zeros.

    None if there is none, or no key set.

    >>> import rote
    >>> facts = rote.facts({("capital", "France"): "Paris", ("capital", "Peru"): "Lima"})
    >>> near_key(KeyReader.of(facts), ("Capital", "peru?"))
    ('capital', 'Peru')
    """
    if reader.stored is None or len(key) != reader.cells:
        return None
    if reader.reading.keys == "letters":
        parts = [[cell] for cell in key]
        meant = [
            [form for text in (cell, folded(cell, LOOSE)) for form in (*_cases(text), *_padded(text, reader.context))]
            for cell in key
        ]
    else:
        parts = [cell.split() if reader.reading.keys == "spaces" else [cell] for cell in key]
        alike = defaultdict(list)
        for token in reader.vocabulary.tokens:
            alike[folded(token, LOOSE)].append(token)
        meant = [alike[folded(part, LOOSE)] for cell in parts for part in cell]
    ways = [_cells(words, parts) for words in islice(product(*meant), WAYS)]
    known = reader.ids(ways)[1].tolist() if ways else []
    return next((way for way, is_known in zip(ways, known, strict=True) if is_known), None)


def _cases(text: str) -> tuple[str, ...]:
    return text, text.upper(), text.lower(), text.capitalize(), text.title()


def _padded(text: str, length: int) -> list[str]:
    """A whole number with leading zeros, as spreadsheets show article numbers."""
    return [text.zfill(width) for width in range(len(text) + 1, length + 1)] if text.isdecimal() else []


def _cells(words: Sequence[str], parts: list[list[str]]) -> tuple[str, ...]:
    """Words put together again, as many per cell as before."""
    left = iter(words)
    return tuple(" ".join(islice(left, len(cell))) for cell in parts)
