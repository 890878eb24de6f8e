"""Verification: a certificate made again from the tensors and the facts, trusting nothing else in the folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rote.arguments import typed
from rote.display import html_rows
from rote.errors import InputError
from rote.folders.folder import Folder, read_folder
from rote.folders.layout import CERTIFICATE
from rote.measure.certificate import Examination, examine
from rote.progress import SILENT, Progress
from rote.tasks import Task
from rote.tasks.facts import Facts, facts

TOLERANCE = 1e-3
"""Relative difference allowed in real numbers: another machine may sum in another order. Counts must agree exactly."""

ROUNDING_ROOM = 4
"""How many times as large or small as stated the rounding of margins may be: it is the largest of many errors."""

CLAIMS = ("meets", "promised", "measured")
"""What a certificate says of its making, which tensors and facts alone cannot show."""


@dataclass(frozen=True)
class Check:
    """One statement of the certificate, beside what was made again."""

    name: str
    stated: object
    remade: object
    holds: bool


@dataclass(frozen=True)
class Verification:
    """All checks, and the rows of the facts that the model does not recall.

    >>> import rote, tempfile
    >>> where = tempfile.mkdtemp() + "/model"
    >>> _ = rote.build("random:vocab=6,context=2,facts=9,seed=1").save(where)
    >>> other = rote.verify(where, "random:vocab=6,context=2,facts=9,seed=2")
    >>> [check.name for check in other.checks if not check.holds][:2]
    ['facts_fingerprint', 'recalled']
    """

    checks: list[Check]
    missed: np.ndarray

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)

    def _repr_html_(self) -> str:
        rows = [[check.name, check.stated, check.remade, check.holds] for check in self.checks]
        return html_rows(
            "verified" if self.holds else "not verified", ["statement", "stated", "made again", "holds"], rows
        )


@typed
def verify(folder: Folder | str | Path, task: Facts, progress: Progress = SILENT) -> Verification:
    """Check every measured statement of a model folder's certificate against the tensors and these facts.

    >>> import rote, tempfile
    >>> where = tempfile.mkdtemp() + "/model"
    >>> _ = rote.build("random:vocab=6,context=2,facts=9,seed=1").save(where)
    >>> verification = rote.verify(where, "random:vocab=6,context=2,facts=9,seed=1")
    >>> verification.holds, len(verification.missed)
    (True, 0)
    """
    folder, task = folder if isinstance(folder, Folder) else read_folder(folder), facts(task)
    if folder.certificate is None:
        raise InputError(f"{folder.path / CERTIFICATE}: missing; there is nothing to verify. Use `rote recall`")
    findings = _examine_known(folder, task, progress)
    stated, remade = folder.certificate.model_dump(), findings.certificate.model_dump()
    checks = [
        Check(name, stated[name], remade[name], _agrees(name, stated, remade)) for name in remade if name not in CLAIMS
    ]
    formula = folder.model.spec.parameters()
    checks.append(Check("parameter formula", formula, folder.model.parameters, formula == folder.model.parameters))
    # A claim cannot be checked against the tensors, but it can contradict what is checked.
    promised = folder.certificate.promised
    if promised is not None and folder.certificate.complete:
        checks.append(
            Check(
                "promise met", promised, remade["recalled"], remade["recalled"] >= min(promised, remade["recallable"])
            )
        )
    return Verification(checks, findings.missed)


def _examine_known(folder: Folder, task: Task, progress: Progress) -> Examination:
    """Like `examine`, but a fact with a token the model has never heard of is a miss, not bad input."""
    vocabulary = folder.model.vocabulary
    if vocabulary is None:
        return examine(folder.model, task, progress=progress)
    unknown = ~task.known_rows(vocabulary)
    if not unknown.any():
        return examine(folder.model, task, progress=progress)
    if unknown.all():
        raise InputError(
            f"{folder.path}: none of these facts are in the model's words; "
            "are they the facts it was built from, read the same way?"
        )
    known = np.flatnonzero(~unknown)
    findings = examine(folder.model, task.take(known), progress=progress)
    certificate = findings.certificate.model_copy(
        update={
            "facts_fingerprint": task.fingerprint,
            "facts": task.facts,
            "recallable": round(task.recall_ceiling * task.facts),
        }
    )
    return Examination(certificate, np.sort(np.concatenate([known[findings.missed], np.flatnonzero(unknown)])))


def _agrees(name: str, stated: dict[str, Any], remade: dict[str, Any]) -> bool:
    """Whether a statement is found again, with room where rounding itself is measured.

    Another order of summing rounds otherwise: a margin may move by its rounding, and the rounding severalfold.
    """
    before, now = stated[name], remade[name]
    rounding = stated["margin_rounding"], remade["margin_rounding"]
    if not isinstance(before, float) or not isinstance(now, float) or not all(isinstance(x, float) for x in rounding):
        return same(before, now)
    if name == "margin_rounding":
        return max(before, now) <= max(TOLERANCE, ROUNDING_ROOM * min(before, now))
    if name == "min_margin":
        return same(before, now) or abs(before - now) <= remade["margin_rounding"] * abs(now)
    return same(before, now)


def same(stated: object, remade: object) -> bool:
    if isinstance(stated, float) and isinstance(remade, float):
        return bool(np.isclose(stated, remade, rtol=TOLERANCE, atol=1e-12, equal_nan=True))
    return stated == remade
