"""How capacity grows with one size while the others are fixed: the sweeps among a run's trials, and their laws.

Capacity is phi^-1(accuracy) associations (Dana et al. 2025, Corollary 2). Only models of
one architecture that were trained alike are compared: the trials of a sweep agree in everything but the swept size.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rote.display import DataFrame, frame_of
from rote.errors import InputError
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.trial import TokenResult
from rote.measure.laws import LawFit, Points, compare_laws
from rote.papers.kinds.lookups import FULL, Weighting
from rote.progress import SILENT, Progress
from rote.theory.phi import phi_inverse

SIZES = ("heads", "head_dim", "dim", "width", "layers")
SQUARE = "dim = head_dim"
FORMS = ("linear", "quadratic", "power", "saturating")
FEWEST = 4
"""Fewest values of a size that make a sweep."""
SHOWN = ("architecture", "vocab", "context", "dim", "head_dim", "heads", "layers", "width", "variant")
"""Fields that describe the models of a sweep."""


@dataclass(frozen=True)
class SizeSweep:
    """Trials in which one size varies and the others are fixed."""

    size: str
    fixed: dict[str, Any]
    points: Points
    """Capacity in associations, against the size."""
    full: float
    """Associations from which the memory counts as full."""
    diverged: int

    @property
    def architecture(self) -> str:
        return self.fixed["architecture"]


@dataclass(frozen=True)
class SweepLaw:
    """A sweep and the forms fitted to it, best first."""

    sweep: SizeSweep
    fits: list[LawFit]

    @property
    def power(self) -> LawFit | None:
        return next((fit for fit in self.fits if fit.law == "power"), None)

    def summary(self) -> dict[str, Any]:
        power = self.power
        return {
            "size": self.sweep.size,
            "fixed": self.sweep.fixed,
            "values": self.sweep.points.x.tolist(),
            "diverged": self.sweep.diverged,
            "best": self.fits[0].law,
            "exponent": None if power is None else power.values["exponent"],
            "exponent_interval": None if power is None else list(power.hull("exponent")),
            "fits": [fit.summary() for fit in self.fits],
        }


def sweeps(rows: Sequence[TrialRow], weighting: Weighting = "uniform") -> list[SizeSweep]:
    """Every sweep of at least four values among a run's trials, architecture by architecture in order of their names.

    Where dim = head_dim in all models of an architecture, the two vary together and are swept as one size.
    """
    by_architecture: dict[str, list[TrialRow]] = {}
    for row in rows:
        by_architecture.setdefault(row.cell["spec"]["architecture"], []).append(row)
    return [sweep for _, alike in sorted(by_architecture.items()) for sweep in _sweeps_of_one(alike, weighting)]


def sweep_laws(
    rows: Sequence[TrialRow],
    weighting: Weighting = "uniform",
    forms: Sequence[str] = FORMS,
    progress: Progress = SILENT,
) -> list[SweepLaw]:
    """Forms fitted to every sweep; sweeps with too few points below saturation are left out."""
    laws = []
    every = sweeps(rows, weighting)
    with progress.stage("fitting laws", len(every)) as stage:
        for sweep in every:
            try:
                laws.append(SweepLaw(sweep, compare_laws(sweep.points, forms, saturation=sweep.full)))
            except InputError:
                continue
            finally:
                stage.advance()
    return laws


def laws_frame(laws: Sequence[SweepLaw]) -> DataFrame:
    """One row per sweep, fitted form and parameter, with its interval."""
    return frame_of(
        {
            "size": law.sweep.size,
            **{name: law.sweep.fixed.get(name) for name in (*SHOWN, "protocol")},
            "law": fit.law,
            "formula": fit.formula,
            "aicc": fit.aicc,
            "points": fit.points,
            "saturated": fit.saturated,
            "parameter": name,
            "value": value,
            "low": fit.hull(name)[0],
            "high": fit.hull(name)[1],
        }
        for law in laws
        for fit in law.fits
        for name, value in fit.values.items()
    )


def _sweeps_of_one(rows: Sequence[TrialRow], weighting: Weighting) -> list[SizeSweep]:
    """The sweeps among models of one architecture."""
    square = all(row.cell["spec"]["dim"] == row.cell["spec"]["head_dim"] for row in rows)
    names = [name for name in SIZES if not (square and name in ("dim", "head_dim"))]
    ordered = []
    for size in [*names, *([SQUARE] if square else [])]:
        groups: dict[str, list[TrialRow]] = {}
        for row in rows:
            groups.setdefault(_all_but(row, size), []).append(row)
        swept = [sweep for group in groups.values() if (sweep := _sweep(group, size, weighting)) is not None]
        ordered += sorted(swept, key=lambda sweep: _order(sweep.fixed))
    return ordered


def _order(fixed: dict[str, Any]) -> list[tuple[int, int, str]]:
    """Sizes by number, names by letter, in the order they are shown."""
    return [(0, value, "") if isinstance(value, int) else (1, 0, str(value)) for value in fixed.values()]


def _all_but(row: TrialRow, size: str) -> str:
    """The content of a trial's cell without the swept size."""
    # Redundant heads are marked as such in a specification; the mark follows from the sizes.
    hidden = (*_varying(size), "wide_heads")
    spec = {name: value for name, value in row.cell["spec"].items() if name not in hidden}
    return json.dumps({**row.cell, "spec": spec}, sort_keys=True)


def _varying(size: str) -> tuple[str, ...]:
    return ("dim", "head_dim") if size == SQUARE else (size,)


def _sweep(rows: Sequence[TrialRow], size: str, weighting: Weighting) -> SizeSweep | None:
    field = _varying(size)[0]
    spec = rows[0].cell["spec"]
    if field not in spec:
        return None
    facts, vocab = spec["vocab"] ** spec["context"], spec["vocab"]
    results = [(row, TokenResult.of(row.result)) for row in rows]
    ended = [(row, result) for row, result in results if result.diverged_at is None]
    if weighting == "sampled" and not all(result.keeps_published for _, result in ended):
        raise InputError(f"`weighting={weighting}`: this run did not keep that accuracy; use `weighting=uniform`")
    values: dict[float, list[float]] = {}
    for row, result in ended:
        accuracy = result.published_accuracy if weighting == "sampled" else result.accuracy
        values.setdefault(row.cell["spec"][field], []).append(phi_inverse(accuracy or 0.0, facts, vocab))
    if len(values) < FEWEST:
        return None
    fixed = {name: spec[name] for name in SHOWN if name in spec and name not in _varying(size)}
    fixed["protocol"] = rows[0].cell["protocol"]["name"]
    return SizeSweep(size, fixed, Points.of(values), phi_inverse(FULL, facts, vocab), len(rows) - len(ended))
