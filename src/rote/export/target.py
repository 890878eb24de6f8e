"""One interface for every target: say what cannot be expressed, write files, open them in the target's own library."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rote.errors import InputError, details_of, nearest, problems, validation_problems
from rote.export.answer_words import AnswerTokens
from rote.export.certificate import Condition
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.files import MANIFEST as MANIFEST_KIND
from rote.files import HeldFolder
from rote.folders.layout import MANIFEST

FORMAT = 1

TARGETS: dict[str, Target] = {}


@dataclass(frozen=True)
class Manifest:
    """What has to be known of an exported folder to run it: written beside the files."""

    target: str
    gain: float = 1.0
    places: tuple[tuple[int, int], ...] | None = None
    """Token and position of each id after the model's own, in targets without positions."""
    cache: str | None = None
    """Dtype of the keys and values that are kept between tokens, where a target lets it be chosen."""
    templates: tuple[str, ...] = ()
    """Sentences that are read as keys."""
    format: str | None = None
    """The target's own format of few bits that its matrices are in, where one was chosen."""
    answer_tokens: AnswerTokens = "one"
    """Whether an answer is one token, or its words and an end of text."""

    def ids(self, vocab: int) -> dict[tuple[int, int], int] | None:
        """The id of each token at each position."""
        return None if self.places is None else {pair: vocab + row for row, pair in enumerate(self.places)}


class Target(ABC):
    """Somebody else's format. Targets register themselves when their class is made."""

    id: ClassVar[str]
    summary: ClassVar[str]
    requirements: ClassVar[tuple[Requirement, ...]]
    extra: ClassVar[str | None]
    """The optional dependencies that bring the target's libraries."""
    data: ClassVar[tuple[str, ...]]
    """The files that hold numbers. All others follow from the model and its facts (`rote.export.clean_copy`)."""
    sentences: ClassVar[bool] = False
    """Whether its tokenizer can read sentences as keys."""
    answer_words: ClassVar[bool] = False
    """Whether it can write an answer word by word."""
    caches: ClassVar[tuple[str, ...]] = ()
    """Dtypes that the cache of keys and values may have, the usual one first."""
    formats: ClassVar[tuple[str, ...]] = ()
    """Formats of few bits that its matrices may be in."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        TARGETS[cls.id] = cls()

    def refusals(self, subject: ExportSubject) -> list[str]:
        """Why this target cannot express the model or its text; empty when it can."""
        return []

    @abstractmethod
    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        """Write the files."""

    @abstractmethod
    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        """The files in the library they were written for; nothing is taken from `subject` that the files hold."""

    def conditions(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> tuple[Condition, ...]:
        """What must be so, beyond the answers, for the target's arithmetic to be the model's."""
        return ()

    @property
    def versions(self) -> dict[str, str]:
        return {requirement.package: requirement.version for requirement in self.requirements}


def target_named(name: str) -> Target:
    if name not in TARGETS:
        known = ", ".join(TARGETS)
        raise InputError(f"`to={name}`: there is no such target{nearest(name, TARGETS)}; targets: {known}")
    return TARGETS[name]


class ManifestFile(BaseModel):
    """`export.json` as it is on disk."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    target: str
    gain: float
    places: tuple[tuple[int, int], ...] | None
    cache: str | None
    templates: tuple[str, ...] = ()
    format_: str | None = Field(None, alias="blocks")
    answer_tokens: AnswerTokens = "one"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    content = {**asdict(manifest), "format": FORMAT}
    if not manifest.templates:
        del content["templates"]
    if manifest.format is not None:
        content["blocks"] = manifest.format
    if manifest.answer_tokens == "one":
        del content["answer_tokens"]
    (folder / MANIFEST).write_text(json.dumps(content) + "\n", encoding="utf-8")


def read_manifest(folder: HeldFolder) -> Manifest:
    where, content = folder.path / MANIFEST, folder.json(MANIFEST, MANIFEST_KIND)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{where}: format is not {FORMAT}; written by another version, or not by rote")
    try:
        read = ManifestFile(**content)
    except ValidationError as error:
        wrong = validation_problems(details_of(error), ManifestFile.model_fields, options=False)
        raise problems(f"{where}: not as rote writes it", wrong) from None
    return Manifest(read.target, read.gain, read.places, read.cache, read.templates, read.format_, read.answer_tokens)
