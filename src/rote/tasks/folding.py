"""Keys with case and surrounding punctuation left out, where a reading asks for it: the same for tables and questions.

Case is folded as Unicode says (`Straße` and `STRASSE` are one) and accents are composed (NFC). Punctuation is what
Unicode calls so; signs such as `+` and `$` stay. What consists of punctuation alone stays as it is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rote.tasks.origin import Reading


def folds(reading: Reading) -> bool:
    """Whether a reading leaves anything out of keys."""
    return reading.ignore_case or reading.ignore_punctuation


def folded(cell: str, reading: Reading) -> str:
    """A cell of a key as the reading has it.

    >>> folded("What is 'New York'?", Reading(ignore_case=True, ignore_punctuation=True))
    "what is 'new york"
    >>> folded("What is 'New York'?", Reading(keys="spaces", ignore_punctuation=True))
    'What is New York'
    """
    if not folds(reading):
        return cell
    if reading.keys == "spaces":
        return " ".join(_folded(word, reading) for word in cell.split())
    return _folded(cell, reading)


def folded_columns(columns: Sequence[Sequence[str]], reading: Reading) -> tuple[list[list[str]], list[str]]:
    """The cells of keys as the reading has them, and a note of how many keys became the same as another."""
    if not folds(reading):
        return [list(cells) for cells in columns], []
    made = [[folded(cell, reading) for cell in cells] for cells in columns]
    before, after = (len(set(zip(*cells, strict=True))) for cells in (columns, made))
    if before == after:
        return made, []
    same = before - after
    differ = "keys differ" if same > 1 else "key differs"
    return made, [f"{same:,} {differ} from another only in {ignored(reading)}; such keys are one"]


def ignored(reading: Reading) -> str:
    """What a reading ignores, in words."""
    names = {"case": reading.ignore_case, "surrounding punctuation": reading.ignore_punctuation}
    return " or ".join(name for name, asked in names.items() if asked)


def _folded(text: str, reading: Reading) -> str:
    if reading.ignore_punctuation:
        text = _bare(text)
    return unicodedata.normalize("NFC", text.casefold()) if reading.ignore_case else text


def _bare(text: str) -> str:
    """Text without the punctuation and the spaces around it."""
    start, end = 0, len(text)
    while start < end and _is_around(text[start]):
        start += 1
    while end > start and _is_around(text[end - 1]):
        end -= 1
    return text[start:end] or text


def _is_around(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter).startswith("P")
