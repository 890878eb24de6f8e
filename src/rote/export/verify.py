"""Verification of an exported folder: its certificate made again in the target library."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from rote.errors import InputError
from rote.export.certificate import RuntimeCertificate
from rote.export.export import examine_folder
from rote.export.facts_task import verify_task
from rote.export.foreign_code import refuse_foreign_code
from rote.export.requirement import refuse_missing
from rote.export.subject import subject_of
from rote.export.target import read_manifest, target_named
from rote.folders.layout import CERTIFICATE, SOURCE, read_json
from rote.folders.verification import Check, Verification, same
from rote.progress import SILENT, Progress
from rote.tasks import Task

TOLERANT = ("min_margin", "largest_margin_change")
"""Numbers that depend on the order in which a library sums; other machines may differ by a share of a margin."""


def verify_export(path: str | Path, facts: Task, progress: Progress = SILENT) -> Verification:
    """Check every statement of an exported folder's certificate by asking the target library again."""
    path = Path(path)
    if not (path / CERTIFICATE).is_file():
        raise InputError(f"{path / CERTIFICATE}: missing; there is nothing to verify. Export the model again")
    refuse_foreign_code(path)
    if not (path / SOURCE).exists():
        return verify_task(path, facts)
    try:
        stated = RuntimeCertificate(**read_json(path / CERTIFICATE))
    except (ValidationError, TypeError) as error:
        raise InputError(f"{path / CERTIFICATE}: is not as rote writes it: {error}") from None
    manifest = read_manifest(path)
    target = target_named(manifest.target)
    refuse_missing(target.id, target.requirements, target.extra)
    findings = examine_folder(target, path, subject_of(path / SOURCE, facts), manifest, progress)
    return Verification(_checks(stated, findings.certificate), findings.missed)


def _checks(stated: RuntimeCertificate, examined: RuntimeCertificate) -> list[Check]:
    checks = []
    for name in RuntimeCertificate.model_fields:
        before, now = getattr(stated, name), getattr(examined, name)
        if name == "runtime":
            # Another release may be used to verify: it is shown beside the one that was certified.
            checks += [Check(library, before.get(library), release, True) for library, release in now.items()]
        elif name == "files":
            every = sorted({*before, *now})
            checks += [
                Check(file, before.get(file), now.get(file), before.get(file) == now.get(file)) for file in every
            ]
        elif name == "conditions":
            said = {condition.name: condition.value for condition in before}
            checks += [Check(now.name, said.get(now.name), now.value, now.holds) for now in examined.conditions]
        elif name in TOLERANT:
            # Rounding is what these numbers measure, so they may move by as much as it moved a margin.
            room = max(stated.largest_margin_change, examined.largest_margin_change)
            checks.append(Check(name, before, now, abs(before - now) <= room))
        else:
            checks.append(Check(name, before, now, same(before, now)))
    return checks
