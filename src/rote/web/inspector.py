"""The inspector: opened models, their facts, and measurements of them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rote.errors import InputError, RoteError, cut
from rote.files import TABLE, held
from rote.folders import Folder, read_folder
from rote.folders.folder import read_certificate
from rote.folders.layout import read_origin
from rote.measure.certificate import Certificate
from rote.models.attention_only import Transformer
from rote.tasks import AssociationTask, Task
from rote.tasks.facts import facts, facts_in, source_names
from rote.tasks.grammar import name_of
from rote.web.shelf import Entry
from rote.web.workers import inside

MOST_FACTS = 200_000
"""Most facts that are listed and searched."""
MOST_FOUND = 40
LONGEST_PROBLEM = 2000
"""Letters of a message in a list."""
UNREAD = "not read yet: other folders take long; reload this page"


@dataclass(frozen=True)
class Opened:
    entry: Entry
    folder: Folder

    @property
    def has_heads(self) -> bool:
        return isinstance(self.folder.model.spec, Transformer)


@dataclass(frozen=True)
class Listing:
    """The facts of a model, where they are available."""

    task: AssociationTask | None
    why_not: str = ""
    lines: tuple[str, ...] = ()
    """Every fact in words."""

    @cached_property
    def _searched(self) -> list[str]:
        return [line.casefold() for line in self.lines]

    def search(self, text: str) -> list[int]:
        """Rows of the facts that contain every word of the text, those that begin with it first."""
        words = text.casefold().split()
        if not words:
            return []
        rows = [row for row, line in enumerate(self._searched) if all(word in line for word in words)]
        start = " ".join(words)
        return sorted(rows, key=lambda row: (not self._searched[row].startswith(start), row))


@dataclass(frozen=True)
class StatedCertificate:
    """What a list shows of a certificate."""

    recalled: int
    facts: int
    parameters: int
    min_margin: float | None
    architecture: str

    @classmethod
    def of(cls, certificate: Certificate) -> StatedCertificate:
        return cls(
            certificate.recalled, certificate.facts, certificate.parameters, certificate.min_margin,
            cut(certificate.architecture),
        )  # fmt: skip


@dataclass(frozen=True)
class Stated:
    """Configuration and certificate of a model folder, read without its tensors.

    Texts are cut: a folder may name a source of megabytes, and a list holds thousands of folders.
    """

    entry: Entry
    facts: str
    certificate: StatedCertificate | None
    problem: str = ""

    @classmethod
    def of(cls, entry: Entry) -> Stated:
        """Of the folder that this process is in."""
        try:
            source, certificate = read_origin(Path()).source, read_certificate(Path())
        except InputError as error:
            return cls(entry, "", None, str(error)[:LONGEST_PROBLEM])
        return cls(entry, cut(source), None if certificate is None else StatedCertificate.of(certificate))

    @classmethod
    def unread(cls, entry: Entry) -> Stated:
        return cls(entry, "", None, UNREAD)


@dataclass(frozen=True)
class Place:
    """Where the folders of a page are, as the server was given them: facts are read below them alone."""

    here: Path
    """Where the server was started."""
    folders: tuple[Path, ...]

    def find(self, source: str) -> tuple[int, list[str]] | None:
        """The number of the folder that a file lies below, and the names that lead there; none for a file elsewhere."""
        path = self.here / source
        for number, folder in enumerate(self.folders):
            if ".." not in path.parts and path.is_relative_to(folder) and path != folder:
                return number, list(path.relative_to(folder).parts)
        return None


def open_model(entry: Entry) -> Opened:
    """The model in the folder of this process."""
    with inside():
        folder = read_folder(Path())
    return Opened(entry, replace(folder, path=entry.path))


def list_facts(opened: Opened, place: Place) -> Listing:
    """The facts that a folder names if they may and can be read; otherwise the reason why not."""
    source, certificate = opened.folder.origin.source, opened.folder.certificate
    if certificate is not None and certificate.facts > MOST_FACTS:
        return Listing(None, f"{certificate.facts:,} facts are too many to list here; `rote inspect` takes them apart")
    if name_of(source) == "random" and certificate is None:
        return Listing(None, "its facts are drawn anew from a seed, and nothing says how many there are")
    try:
        task = _facts(opened, place)
    except RoteError as error:
        return Listing(None, f"its facts cannot be read: {error}")
    if task is None:
        return Listing(None, f"its facts ({Path(source).name}) are not below the folders that this page was given")
    if not isinstance(task, AssociationTask):
        return Listing(None, f"its facts are {task.kind}; associations are listed here")
    vocabulary = opened.folder.model.vocabulary
    if vocabulary is None or not task.known_rows(vocabulary).all():
        return Listing(None, "its facts have changed since: some are not in the model's words")
    return Listing(task.in_vocabulary(vocabulary), lines=tuple(task.facts_in_words()))


def _facts(opened: Opened, place: Place) -> Task | None:
    source, reading = opened.folder.origin.source, opened.folder.origin.reading.model_dump(exclude_defaults=True)
    if name_of(source) in (*source_names(), "random"):
        return facts(source, **reading)
    found = place.find(source)
    if found is None:
        return None
    number, parts = found
    with inside(1 + number), held(Path()) as root, ExitStack() as opening:
        folder = root
        for part in parts[:-1]:
            folder = opening.enter_context(folder.folder(part))
        return facts_in(folder.read(parts[-1], TABLE), parts[-1], **reading)
