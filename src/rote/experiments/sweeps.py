"""How capacity grows in one size when the others are held: sweeps found in a run's trials, and the laws they follow.

Capacity is what an accuracy speaks for, phi^-1(accuracy) associations (Dana et al. 2025, Corollary 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rote.errors import InputError
from rote.experiments.ledger import TrialRow
from rote.measure.laws import LawFit, Points, compare_laws
from rote.papers.paper import Weighting
from rote.progress import SILENT, Progress
from rote.theory.phi import phi_inverse

SIZES = ("heads", "head_dim", "dim", "width")
SQUARE = "dim = head_dim"
FORMS = ("linear", "quadratic", "power", "saturating")
FULL = 0.95
"""Accuracy from which a memory counts as full: its points bound the law from below only."""
FEWEST = 4
"""Values of a size that make a sweep."""


@dataclass(frozen=True)
class Sweep:
    """Trials in which one size varies and the others are held."""

    size: str
    fixed: dict[str, Any]
    points: Points
    """Associations held, against the size."""
    full: float
    """Associations from which the memory counts as full."""
    diverged: int


@dataclass(frozen=True)
class SweepLaw:
    """A sweep and the forms fitted to it, best first."""

    sweep: Sweep
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


def sweeps(rows: Sequence[TrialRow], weighting: Weighting = "uniform") -> list[Sweep]:
    """Every sweep of at least four values among a run's trials.

    Where dim = head_dim throughout, the two vary together and are swept as one size.
    """
    square = all(row.cell["spec"]["dim"] == row.cell["spec"]["head_dim"] for row in rows)
    names = [name for name in SIZES if not (square and name in ("dim", "head_dim"))]
    found = []
    for size in [*names, *([SQUARE] if square else [])]:
        groups: dict[tuple, list[TrialRow]] = {}
        for row in rows:
            groups.setdefault(_held(row, size), []).append(row)
        swept = (_sweep(members, size, weighting) for members in groups.values())
        found += sorted((one for one in swept if one is not None), key=lambda one: _order(one.fixed))
    return found


def sweep_laws(
    rows: Sequence[TrialRow],
    weighting: Weighting = "uniform",
    forms: Sequence[str] = FORMS,
    progress: Progress = SILENT,
) -> list[SweepLaw]:
    """Forms fitted to every sweep; sweeps with too few points below saturation are left out."""
    told = []
    every = sweeps(rows, weighting)
    with progress.stage("fitting laws", len(every)) as stage:
        for sweep in every:
            try:
                told.append(SweepLaw(sweep, compare_laws(sweep.points, forms, saturation=sweep.full)))
            except InputError:
                continue
            finally:
                stage.advance()
    return told


def _order(fixed: dict[str, Any]) -> list[tuple[int, int, str]]:
    """Sizes by number, names by letter, in the order they are shown."""
    return [(0, value, "") if isinstance(value, int) else (1, 0, str(value)) for value in fixed.values()]


def _held(row: TrialRow, size: str) -> tuple:
    """Everything about a trial's model but the swept size."""
    varying = ("dim", "head_dim") if size == SQUARE else (size,)
    # Redundant heads are marked as such in a specification; the mark follows from the sizes.
    return tuple(
        sorted((k, v) for k, v in row.cell["spec"].items() if k not in (*varying, "wide_heads") and v is not None)
    )


def _sweep(rows: Sequence[TrialRow], size: str, weighting: Weighting) -> Sweep | None:
    field = "dim" if size == SQUARE else size
    name = "accuracy" if weighting == "uniform" else "published_accuracy"
    spec = rows[0].cell["spec"]
    if field not in spec:
        return None
    facts, vocab = spec["vocab"] ** spec["context"], spec["vocab"]
    values: dict[float, list[float]] = {}
    diverged = 0
    for row in rows:
        if row.result["diverged_at"] is not None:
            diverged += 1
            continue
        values.setdefault(row.cell["spec"][field], []).append(phi_inverse(row.result[name], facts, vocab))
    if len(values) < FEWEST:
        return None
    shown = ("architecture", "vocab", "dim", "head_dim", "heads", "layers", "width", "variant")
    hidden = ("dim", "head_dim") if size == SQUARE else (size,)
    fixed = {key: spec[key] for key in shown if key in spec and key not in hidden}
    return Sweep(size, fixed, Points.of(values), phi_inverse(FULL, facts, vocab), diverged)
