"""Verification of an exported folder: its certificate recomputed in the target library, without its code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from rote.errors import InputError, details_of, problems, validation_problems
from rote.export.certificate import RuntimeCertificate
from rote.export.clean_copy import OTHER, OWN, clean_copy, refuse_foreign_code
from rote.export.common.temperature import LARGEST
from rote.export.export import examine_folder, in_library, refuse_format
from rote.export.exported_files import ExportedFiles
from rote.export.facts_task import verify_task
from rote.export.requirement import refuse_missing
from rote.export.subject import ExportSubject, subject_of
from rote.export.target import Manifest, Target, read_manifest, target_named
from rote.files import HeldFolder, held
from rote.folders.folder import Folder, read_folder
from rote.folders.layout import CERTIFICATE, MANIFEST, SOURCE
from rote.folders.verification import ROUNDING_ROOM, CertificateCheck, Verification, same
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, Task

ROUNDED = ("min_margin", "largest_margin_change")
"""Numbers that depend on the order in which a library sums: another machine may differ by a share of a margin."""


def verify_export(path: str | Path, facts: Task, progress: Progress = SILENT) -> Verification:
    """Check every statement of an exported folder's certificate by asking the target library again.

    Nothing of the folder is imported or opened in that library: it runs a copy that rote writes from the model in
    `source`, with the folder's tensors in it.
    """
    path = Path(path)
    with held(path) as folder:
        if not folder.has(CERTIFICATE):
            raise InputError(f"{path / CERTIFICATE}: missing; there is nothing to verify. Export the model again")
        refuse_foreign_code(folder)
        if not folder.has(SOURCE):
            return verify_task(folder, facts)
        stated = _stated(folder)
        manifest = read_manifest(folder)
        target = target_named(manifest.target)
        refuse_missing(target.id, target.requirements, target.extra)
        subject = _subject(read_folder(path / SOURCE, below=path), facts, manifest)
        refuse_format(target, manifest.format)
        if 0 < manifest.gain <= LARGEST:
            subject = replace(subject, gain=manifest.gain)
        subject = replace(subject, format=manifest.format)
        if refused := target.refusals(subject):
            raise problems(f"{target.id} cannot hold this model", refused)
        return _verified(folder, stated, manifest, target, subject, progress)


def _verified(
    folder: HeldFolder,
    stated: RuntimeCertificate,
    manifest: Manifest,
    target: Target,
    subject: ExportSubject,
    progress: Progress,
) -> Verification:
    written: list[Manifest] = []

    def write(place: Path) -> None:
        with in_library(target):
            written.append(target.write(subject, place))

    with clean_copy(folder, write, target.data) as copy:
        cache = manifest.cache if manifest.cache in target.caches else next(iter(target.caches), None)
        own = replace(written[0], cache=cache, templates=manifest.templates, answer_tokens=manifest.answer_tokens)
        found = examine_folder(target, copy.folder, subject, own, ExportedFiles.of(folder), progress, stated.asked)
    checks = [
        *_checks(stated, found.certificate),
        CertificateCheck(MANIFEST, OWN, OWN if manifest == own else OTHER, manifest == own),
        *(CertificateCheck(name, OWN, OTHER, False) for name in copy.other),
    ]
    return Verification(checks, found.missed)


def _stated(folder: HeldFolder) -> RuntimeCertificate:
    where, content = folder.path / CERTIFICATE, folder.json(CERTIFICATE)
    if not isinstance(content, dict):
        raise InputError(f"{where}: must be what rote writes, names and values; found {type(content).__name__}")
    try:
        return RuntimeCertificate(**content)
    except ValidationError as error:
        wrong = validation_problems(details_of(error), RuntimeCertificate.model_fields, options=False)
        raise problems(f"{where}: not as rote writes it", wrong) from None


def _subject(source: Folder, facts: Task, manifest: Manifest) -> ExportSubject:
    """The model in the folder with these facts, under the name that the facts had when it was exported."""
    if isinstance(facts, AssociationTask):
        origin = facts.origin.model_copy(update={"source": source.origin.source})
        facts = AssociationTask(facts.contexts, facts.answers, facts.vocabulary, origin)
    return subject_of(source, facts, manifest.templates, manifest.answer_tokens)


def _checks(stated: RuntimeCertificate, examined: RuntimeCertificate) -> Iterator[CertificateCheck]:
    for name in RuntimeCertificate.model_fields:
        before, now = getattr(stated, name), getattr(examined, name)
        if name == "runtime":
            # Another release may be used to verify: what was used to certify is only claimed.
            for library in sorted({*before, *now}):
                yield CertificateCheck(library, before.get(library), now.get(library), holds=True, claimed=True)
        elif name == "files":
            for file in sorted({*before, *now}):
                yield CertificateCheck(file, before.get(file), now.get(file), before.get(file) == now.get(file))
        elif name == "conditions":
            yield from _conditions(stated, examined)
        elif name in ROUNDED:
            change = min(stated.largest_margin_change, examined.largest_margin_change)
            yield CertificateCheck(name, before, now, _within_rounding(name, before, now, change))
        else:
            yield CertificateCheck(name, before, now, same(before, now))


def _conditions(stated: RuntimeCertificate, examined: RuntimeCertificate) -> Iterator[CertificateCheck]:
    before = {condition.name: condition for condition in stated.conditions}
    for now in examined.conditions:
        said = before.pop(now.name, None)
        agrees = said is not None and same(said.value, now.value) and same(said.below, now.below)
        yield CertificateCheck(now.name, None if said is None else said.value, now.value, now.holds and agrees)
    for name, said in before.items():
        yield CertificateCheck(name, said.value, None, False)


def _within_rounding(name: str, before: float, now: float, change: float) -> bool:
    """Rounding is what these numbers measure, so they may move by about as much as it moves a margin."""
    if name == "min_margin":
        return same(before, now) or abs(before - now) <= ROUNDING_ROOM * max(0.0, change)
    return before >= 0 and max(before, now) <= ROUNDING_ROOM * min(before, now) + 1e-6
