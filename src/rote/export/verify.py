"""Verification: a certificate made again from the tensors and the facts, trusting nothing else in the folder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.errors import InputError
from rote.export.certificate import examine
from rote.export.folder import CERTIFICATE, Folder
from rote.progress import SILENT, Progress
from rote.tasks import Task

TOLERANCE = 1e-3
"""Relative difference allowed in real numbers: another machine may sum in another order. Counts must agree exactly."""


@dataclass(frozen=True)
class Check:
    """One statement of the certificate, beside what was found."""

    name: str
    stated: object
    found: object
    holds: bool


@dataclass(frozen=True)
class Verification:
    """All checks, and the rows of the facts that the model does not hold."""

    checks: list[Check]
    missed: np.ndarray

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)


def verify(folder: Folder, task: Task, progress: Progress = SILENT) -> Verification:
    """Check every measured statement of the folder's certificate against the tensors and these facts."""
    if folder.certificate is None:
        raise InputError(f"{folder.path / CERTIFICATE}: missing; there is nothing to verify. Use `rote recall`")
    findings = examine(folder.model, task, progress=progress)
    stated, found = folder.certificate.model_dump(), findings.certificate.model_dump()
    claims = ("bound", "promised", "conditions")
    checks = [Check(name, stated[name], found[name], _same(stated[name], found[name])) for name in found if name not in claims]
    formula = folder.model.spec.parameters()
    checks.append(Check("parameter formula", formula, folder.model.parameters, formula == folder.model.parameters))
    return Verification(checks, findings.missed)


def _same(stated: object, found: object) -> bool:
    if isinstance(stated, float) and isinstance(found, float):
        return bool(np.isclose(stated, found, rtol=TOLERANCE, atol=1e-12, equal_nan=True))
    return stated == found
