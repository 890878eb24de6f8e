"""The inspector: models that were opened, their facts, and what is asked about them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rote.errors import InputError, RoteError
from rote.folders import Folder, read_folder
from rote.folders.folder import read_certificate
from rote.folders.layout import CONFIG, read_origin
from rote.measure.certificate import Certificate
from rote.models.attention_only import Transformer
from rote.tasks import AssociationTask
from rote.tasks.facts import facts, source_names
from rote.tasks.grammar import name_of
from rote.web.shelf import Entry, Shelf

MOST_OPEN = 4
"""Models that are kept in memory."""
MOST_FACTS = 200_000
"""Facts up to which they are listed and searched."""
MOST_FOUND = 40


@dataclass(frozen=True)
class Opened:
    """A model folder in memory."""

    entry: Entry
    folder: Folder
    version: tuple[Any, ...]
    """Changes when the folder is written anew."""

    @property
    def has_heads(self) -> bool:
        return isinstance(self.folder.model.spec, Transformer)


@dataclass(frozen=True)
class Listing:
    """The facts of a model, where they are at hand."""

    task: AssociationTask | None
    why_not: str = ""
    lines: tuple[str, ...] = ()
    """Every fact in words."""

    @cached_property
    def _searched(self) -> list[str]:
        return [line.casefold() for line in self.lines]

    def search(self, text: str) -> list[int]:
        """Rows of the facts in which every word of the text occurs, those that begin with it first."""
        words = text.casefold().split()
        if not words:
            return []
        rows = [row for row, line in enumerate(self._searched) if all(word in line for word in words)]
        start = " ".join(words)
        return sorted(rows, key=lambda row: (not self._searched[row].startswith(start), row))


@dataclass(frozen=True)
class Stated:
    """What a model folder says of itself, read without its tensors."""

    entry: Entry
    facts: str
    certificate: Certificate | None
    problem: str = ""

    @classmethod
    def of(cls, entry: Entry) -> Stated:
        try:
            return cls(entry, read_origin(entry.path).source, read_certificate(entry.path))
        except InputError as error:
            return cls(entry, "", None, str(error))


class Models:
    """Opens model folders, and keeps the last few of them open."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._open: OrderedDict[tuple[Any, ...], Opened] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, name: str) -> Opened:
        """The model of that name, read again where its folder was written anew."""
        entry = self._shelf.model(name)
        stamp = (entry.path / CONFIG).stat()
        key = (str(entry.path), stamp.st_mtime_ns, stamp.st_ino)
        with self._lock:
            opened = self._open.get(key)
            if opened is None:
                folder = read_folder(entry.path)
                opened = self._open[key] = Opened(entry, folder, key)
            self._open.move_to_end(key)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        return opened

    def listing(self, opened: Opened) -> Listing:
        """The facts that a folder names, if they may be read and can be; otherwise why not."""
        source, certificate = opened.folder.origin.source, opened.folder.certificate
        if certificate is not None and certificate.facts > MOST_FACTS:
            return Listing(
                None, f"{certificate.facts:,} facts are too many to list here; `rote inspect` takes them apart"
            )
        is_file = name_of(source) not in (*source_names(), "random")
        if is_file and not self._shelf.allows(source):
            return Listing(None, f"its facts ({Path(source).name}) are not below the folders that this page was given")
        if name_of(source) == "random" and certificate is None:
            return Listing(None, "its facts are drawn anew from a seed, and nothing says how many there are")
        try:
            task = facts(source, **opened.folder.origin.reading.model_dump(exclude_defaults=True))
        except RoteError as error:
            return Listing(None, f"its facts cannot be read: {error}")
        if not isinstance(task, AssociationTask):
            return Listing(None, f"its facts are {task.kind}; associations are listed here")
        vocabulary = opened.folder.model.vocabulary
        if vocabulary is None or not task.known_rows(vocabulary).all():
            return Listing(None, "its facts have changed since: some are not in the model's words")
        return Listing(task.in_vocabulary(vocabulary), lines=tuple(task.facts_in_words()))
