"""Verification: a certificate recomputed from the tensors and the facts, trusting nothing else in the folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rote.arguments import typed
from rote.display import html_rows
from rote.errors import InputError
from rote.folders.folder import Folder, read_folder
from rote.folders.layout import CERTIFICATE
from rote.measure.certificate import Certificate, Examination, examine
from rote.models.spec import Spec
from rote.progress import SILENT, Progress
from rote.tasks import Task
from rote.tasks.facts import Facts, facts
from rote.theory import RESULTS

TOLERANCE = 1e-3
"""Relative difference allowed in real numbers: another machine may sum in another order. Counts must agree exactly."""

ROUNDING_ROOM = 8
"""How many times as large or small as stated the rounding of margins may be: it is the largest of many errors."""
ROUNDING_FLOOR = 64
"""Rounding errors below so many units in the last place of the dtype are alike: they depend on the order of summing."""


@dataclass(frozen=True)
class CertificateCheck:
    """One statement of the certificate, beside what was recomputed."""

    name: str
    stated: object
    remade: object
    holds: bool
    claimed: bool = False
    """Whether nothing here can recompute it: it is only claimed, and counts as neither right nor wrong."""

    @property
    def outcome(self) -> str:
        """In words for a table."""
        return "only claimed" if self.claimed else "holds" if self.holds else "DOES NOT HOLD"


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

    checks: list[CertificateCheck]
    missed: np.ndarray

    @property
    def holds(self) -> bool:
        """Whether everything that was recomputed is as stated."""
        return all(check.holds for check in self.checks)

    @property
    def claimed(self) -> list[CertificateCheck]:
        """Statements that nothing recomputed."""
        return [check for check in self.checks if check.claimed]

    def _repr_html_(self) -> str:
        rows = [[check.name, check.stated, check.remade, check.outcome] for check in self.checks]
        return html_rows(
            "verified" if self.holds else "not verified", ["statement", "stated", "recomputed", "outcome"], rows
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
    noise = ROUNDING_FLOOR * torch.finfo(folder.model.dtype).eps
    making = ("meets", "guaranteed", "measured")
    checks = [
        CertificateCheck(name, stated[name], remade[name], _agrees(name, stated, remade, noise))
        for name in remade
        if name not in making
    ]
    formula = folder.model.spec.parameters()
    checks.append(
        CertificateCheck("parameter formula", formula, folder.model.parameters, formula == folder.model.parameters)
    )
    checks += _guarantee(folder.certificate, folder.model.spec, findings.certificate)
    checks += [
        CertificateCheck(f"measured {name}", value, None, True, True)
        for name, value in folder.certificate.measured.items()
    ]
    return Verification(checks, findings.missed)


def _guarantee(certificate: Certificate, spec: Spec, found: Certificate) -> Iterator[CertificateCheck]:
    """The result that a certificate names, evaluated again for the specification that was read.

    Where the result gives no number for this model, or is an estimate that depends on the facts too, the guarantee is
    only claimed.
    """
    meets, guaranteed = certificate.meets, certificate.guaranteed
    if meets is None and guaranteed is None:
        return
    known = meets in RESULTS
    yield CertificateCheck("meets", meets, meets if known else None, known)
    if guaranteed is None or not known:
        if guaranteed is not None:
            yield CertificateCheck("guaranteed", guaranteed, None, False)
        return
    bound = RESULTS[str(meets)].bound(spec)
    if bound.kind != "lower" or bound.associations is None or not bound.applies or bound.matched:
        yield CertificateCheck("guaranteed", guaranteed, None, guaranteed >= 0, guaranteed >= 0)
    else:
        # A bound is no more than the contexts that there are; a construction may state what its formula gives.
        most = bound.associations
        yield CertificateCheck(
            "guaranteed", guaranteed, most, guaranteed == most or guaranteed == _uncut(str(meets), spec)
        )
    if certificate.complete:
        yield CertificateCheck(
            "guarantee met", guaranteed, found.recalled, found.recalled >= min(guaranteed, found.recallable)
        )


def _uncut(meets: str, spec: Spec) -> int | None:
    """What the formula of a result gives, where that is more than the contexts that there are."""
    result = RESULTS[meets]
    value = result.evaluate(spec) if isinstance(spec, result.about) else None
    return getattr(value, "associations", None)


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


def _agrees(name: str, stated: dict[str, Any], remade: dict[str, Any], noise: float) -> bool:
    """Whether a statement is found again, with room where rounding itself is measured.

    Another order of summing rounds otherwise: a margin may move by its rounding, and the rounding severalfold.
    """
    before, now = stated[name], remade[name]
    rounding = stated["margin_rounding"], remade["margin_rounding"]
    if not isinstance(before, float) or not isinstance(now, float) or not all(isinstance(x, float) for x in rounding):
        return same(before, now)
    if name == "margin_rounding":
        return before >= 0 and max(before, now) <= max(noise, ROUNDING_ROOM * min(before, now))
    if name == "min_margin":
        return same(before, now) or abs(before - now) <= remade["margin_rounding"] * abs(now)
    return same(before, now)


def same(stated: object, remade: object) -> bool:
    if isinstance(stated, float) and isinstance(remade, float):
        return bool(np.isclose(stated, remade, rtol=TOLERANCE, atol=1e-12, equal_nan=True))
    return stated == remade
