"""A fact table as a task for lm-evaluation-harness, for any model that the harness runs; no model of rote's is needed.

The certificate is the harness's own reading of the folder: every fact has to come out of it as it went in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from rote.arguments import typed
from rote.errors import CheckFailed, InputError, details_of, problems, validation_problems
from rote.export.clean_copy import OTHER, OWN, clean_copy
from rote.export.export import EXPORTED_FOLDER, in_library
from rote.export.exported_files import ExportedFiles
from rote.export.requirement import refuse_missing
from rote.export.target import Manifest, write_manifest
from rote.export.targets.lm_eval import FACTS, LmEval, asked_by_harness, write_task
from rote.files import HeldFolder, held
from rote.folders.destination import check_destination, written_aside
from rote.folders.folder import write_json
from rote.folders.layout import CERTIFICATE
from rote.folders.verification import CertificateCheck, Verification
from rote.tasks import AssociationTask, Task, require_associations
from rote.tasks.facts import Facts
from rote.tasks.facts import facts as read_facts
from rote.tasks.spelling import Spelling, refuse_ambiguous

TARGET = LmEval()


class TaskCertificate(BaseModel):
    """What the harness reads in the folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str
    runtime: dict[str, str]
    """Library and release."""
    facts_fingerprint: str
    files: dict[str, str]
    """SHA-256 of every file."""
    facts: int
    read: int
    """Facts that the harness would ask with the text and the continuation that were meant."""


@dataclass(frozen=True)
class ExportedTask:
    """A folder that lm-evaluation-harness includes."""

    path: Path
    certificate: TaskCertificate


@typed
def export_task(facts: Facts, output: str | Path, *, overwrite: bool = False) -> ExportedTask:
    """Write facts as a task for lm-evaluation-harness: is the answer the greedy continuation of the key, how likely?

    A folder is written only if the harness reads every fact as it was meant.

    >>> import rote, tempfile
    >>> exported = rote.export_task({"Peru": "Lima", "Chad": "Ndjamena"}, tempfile.mkdtemp() + "/capitals")
    >>> exported.certificate.read
    2
    """
    path = Path(output)
    check_destination(path, overwrite, EXPORTED_FOLDER)
    refuse_missing(TARGET.id, TARGET.requirements, TARGET.extra)
    task, spelling = _written(read_facts(facts))
    with written_aside(path) as aside:
        write_task(aside, task, spelling)
        write_manifest(aside, Manifest(TARGET.id))
        with held(aside) as folder:
            files = ExportedFiles.of(folder)
        certificate, _ = _examined(aside, files, task, spelling)
        if certificate.read < certificate.facts:
            lost = certificate.facts - certificate.read
            raise CheckFailed(f"lm-eval: nothing is written, for the harness reads {lost:,} facts otherwise than meant")
        write_json(aside / CERTIFICATE, certificate.model_dump(mode="json"))
    return ExportedTask(path, certificate)


def verify_task(folder: HeldFolder, facts: Task) -> Verification:
    """Check every statement of a task folder's certificate by having the harness read a copy with the same facts."""
    where, content = folder.path / CERTIFICATE, folder.json(CERTIFICATE)
    if not isinstance(content, dict):
        raise InputError(f"{where}: must be what rote writes, names and values; found {type(content).__name__}")
    try:
        stated = TaskCertificate(**content)
    except ValidationError as error:
        wrong = validation_problems(details_of(error), TaskCertificate.model_fields, options=False)
        raise problems(f"{where}: not as rote writes it", wrong) from None
    refuse_missing(TARGET.id, TARGET.requirements, TARGET.extra)
    task, spelling = _written(facts)
    names = [name.removesuffix(".yaml") for name in folder.names() if re.fullmatch(r"rote_\w{0,200}\.yaml", name)]
    if len(names) != 1:
        raise InputError(f"{folder.path}: holds {len(names)} descriptions of a task; an export has one")
    with clean_copy(folder, lambda place: write_task(place, task, spelling, names[0]), (FACTS,)) as copy:
        examined, missed = _examined(copy.folder, ExportedFiles.of(folder), task, spelling)
        other = [CertificateCheck(name, OWN, OTHER, False) for name in copy.other]
    return Verification([*_checks(stated, examined), *other], missed)


def _checks(stated: TaskCertificate, examined: TaskCertificate) -> Iterator[CertificateCheck]:
    for library, release in examined.runtime.items():
        # Another release may be used to verify: what was used to certify is only claimed.
        yield CertificateCheck(library, stated.runtime.get(library), release, holds=True, claimed=True)
    for file in sorted({*stated.files, *examined.files}):
        before, now = stated.files.get(file), examined.files.get(file)
        yield CertificateCheck(file, before, now, before == now)
    for name in ("target", "facts_fingerprint", "facts", "read"):
        before, now = getattr(stated, name), getattr(examined, name)
        yield CertificateCheck(name, before, now, before == now)


def _written(task: Task) -> tuple[AssociationTask, Spelling]:
    task = require_associations(task, "the harness asks for one answer per key; give keys with one answer each")
    spelling = Spelling.of(task)
    if wrong := refuse_ambiguous(spelling, task):
        raise problems("export", wrong)
    return task, spelling


def _examined(
    folder: Path, files: ExportedFiles, task: AssociationTask, spelling: Spelling
) -> tuple[TaskCertificate, np.ndarray]:
    """What the harness would ask, and the rows that are not as meant."""
    with in_library(TARGET):
        asked = asked_by_harness(folder)
    texts = spelling.texts(task.contexts)
    answers = [spelling.delimiter + spelling.tokens[answer] for answer in task.answers.tolist()]
    right = [row in asked for row in zip(texts, answers, strict=True)]
    certificate = TaskCertificate(
        target=TARGET.id,
        runtime=TARGET.versions,
        facts_fingerprint=task.fingerprint,
        files=files.digests,
        facts=task.facts,
        read=sum(right),
    )
    return certificate, np.flatnonzero(~np.array(right))
