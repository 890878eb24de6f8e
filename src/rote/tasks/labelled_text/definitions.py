"""Definitions of English nouns out of WordNet, labelled by lexicographer file: a real text task that needs no network.

A lexicographer file is WordNet's coarse kind of noun (`noun.artifact`, `noun.person`, `noun.plant`, ...), numbered in
`data.noun`. Definitions tell of the kind in their own words, so that these labels are easier to learn than those of
MultiNLI, which the beginning of a premise hardly tells.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rote.errors import InputError
from rote.tasks.labelled_text.texts import LabelledTexts
from rote.tasks.readers.text import read_bytes
from rote.tasks.sources.wordnet import FILE, find

EXAMPLES = '; "'
"""What parts a definition from the sentences that use the word."""


def definitions() -> LabelledTexts:
    """Every noun's definition, without its examples."""
    return _read(find())


@cache
def _read(path: Path) -> LabelledTexts:
    texts, labels = [], []
    for line, written in enumerate(read_bytes(path).decode("latin-1").split("\n"), 1):
        # The licence at the head of the file is indented.
        if not written or written.startswith("  "):
            continue
        synset, bar, gloss = written.partition(" | ")
        fields = synset.split()
        if not bar or len(fields) < 2 or not fields[1].isdigit():
            raise InputError(f"wordnet: {path} line {line} is not a synset of WordNet's {FILE} with a definition")
        texts.append(gloss.split(EXAMPLES)[0].strip())
        labels.append(f"lexicographer file {int(fields[1])}")
    return LabelledTexts("WordNet noun definitions, labelled by lexicographer file", tuple(texts), tuple(labels))
