"""Made-up subjects: names from a tokenizer's own vocabulary, which knows many real ones, and from a text."""

from __future__ import annotations

import random
import re
from collections.abc import Set

from rote.lm.language_model import LanguageModel

WORD_STARTS = ("Ġ", "▁")
"""What vocabularies put before a word for the space that precedes it."""
NAME = re.compile(r"[A-Z][a-z]{3,}")
PIECE = re.compile(r"[a-z]{2,}")
IN_TEXT = re.compile(r"[A-Za-z]{5,12}")
ENOUGH = 200
"""Names of a vocabulary below which words of the text join them."""


def made_up_names(model: LanguageModel, text: str, stored: Set[str]) -> tuple[list[str], list[str]]:
    """Two disjoint lists of names in no particular order, none of which holds a word of a stored cell.

    Half are one token, a quarter are two names, and a quarter a name with a further piece.
    """
    vocabulary = model.tokenizer.get_vocab()
    taken = {word for cell in stored for word in re.findall(r"\w+", cell)}
    marked = [token[1:] for token in vocabulary if token.startswith(WORD_STARTS)]
    pieces = sorted(token for token in vocabulary if PIECE.fullmatch(token)) if marked else []
    names = {word for word in marked or vocabulary if NAME.fullmatch(word)}
    if len(names) < ENOUGH:
        names |= {word.capitalize() for word in IN_TEXT.findall(text)}
    chance = random.Random(0)
    plain = sorted(names - taken)
    chance.shuffle(plain)
    half = len(plain) // 2
    return _varied(plain[:half], pieces, chance), _varied(plain[half:], pieces, chance)


def _varied(names: list[str], pieces: list[str], chance: random.Random) -> list[str]:
    """Of every four names one becomes two, and one gets a further piece."""
    found = list(names)
    for place, name in enumerate(names):
        if place % 4 == 1:
            found[place] = f"{name} {names[place - 1]}"
        elif place % 4 == 3 and pieces:
            found[place] = name + chance.choice(pieces)
    return found
