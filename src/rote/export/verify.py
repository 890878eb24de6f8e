"""Verification of an exported folder: its certificate made again, in the target library, from its files and the facts."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from rote.errors import InputError
from rote.export.certificate import RuntimeCertificate
from rote.export.export import examine_folder
from rote.export.requirement import refuse_missing
from rote.export.subject import subject_of
from rote.export.target import CERTIFICATE, MANIFEST, SOURCE, read_manifest, target_named
from rote.folders.folder import read_json
from rote.folders.verify import Check, Verification, same
from rote.progress import SILENT, Progress
from rote.tasks import Task

TOLERANT = ("min_margin", "largest_margin_change")
"""Numbers that depend on the order in which a library sums; other machines may differ by a share of a margin."""

OPEN = ("runtime",)
"""Another release of the library may be used to verify: what was used is shown beside what was certified."""


def is_export(folder: Path) -> bool:
    """Whether a folder is one that an export wrote."""
    return (folder / MANIFEST).is_file()


def verify_export(path: str | Path, facts: Task, progress: Progress = SILENT) -> Verification:
    """Check every statement of an exported folder's certificate by asking the target library again."""
    path = Path(path)
    if not (path / CERTIFICATE).is_file():
        raise InputError(f"{path / CERTIFICATE}: missing; there is nothing to verify. Export the model again")
    try:
        stated = RuntimeCertificate(**read_json(path / CERTIFICATE))
    except (ValidationError, TypeError) as error:
        raise InputError(f"{path / CERTIFICATE}: is not as rote writes it: {error}") from None
    manifest = read_manifest(path)
    target = target_named(manifest.target)
    refuse_missing(target.id, target.requirements, target.extra)
    findings = examine_folder(target, path, subject_of(path / SOURCE, facts), manifest, progress)
    before, now = stated.model_dump(), findings.certificate.model_dump()
    checks = [Check(name, before[name], now[name], _holds(name, stated, findings.certificate)) for name in now]
    return Verification(checks, findings.missed)


def _holds(name: str, stated: RuntimeCertificate, found: RuntimeCertificate) -> bool:
    if name in OPEN:
        return True
    if name == "conditions":
        return all(condition.holds for condition in found.conditions)
    before, now = getattr(stated, name), getattr(found, name)
    if name in TOLERANT:
        # Rounding is itself what these numbers measure, so that they may move by as much as it moved a margin.
        return abs(before - now) <= max(stated.largest_margin_change, found.largest_margin_change)
    return same(before, now)
