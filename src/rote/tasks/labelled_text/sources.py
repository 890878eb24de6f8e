"""Labelled texts by name: `wordnet`, which needs no network, `multinli` and `imdb` from the hub, or a file's path."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rote.errors import InputError
from rote.tasks.labelled_text.definitions import definitions
from rote.tasks.labelled_text.hub import HUB, texts_of_hub
from rote.tasks.labelled_text.local_files import READERS, texts_of_file
from rote.tasks.labelled_text.texts import LabelledTexts

DEFINITIONS = "wordnet"


@cache
def labelled_texts(source: str) -> LabelledTexts:
    """The texts that a name or a path gives. They are read once a process."""
    if source == DEFINITIONS:
        return definitions()
    if source in HUB:
        return texts_of_hub(source)
    path = Path(source)
    if path.suffix.lower() not in READERS and not path.exists():
        raise InputError(
            f"texts: {source} is neither a source ({', '.join((DEFINITIONS, *HUB))}) nor a file ({', '.join(READERS)})"
        )
    return texts_of_file(path)
