"""What a figure's trials say: points by series, the laws fitted to them, and the verdict on each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rote.errors import InputError
from rote.experiments.ledgers.ledger import TrialKey, TrialRow
from rote.experiments.lookups.derived import slopes
from rote.experiments.lookups.plan import FigurePlan
from rote.experiments.lookups.series import FigureSeries, SeriesPoint
from rote.experiments.verdict import Verdict, claim_summary
from rote.measure.laws import LawFit, fit_law
from rote.models.attention_only import AttentionOnly
from rote.papers.paper import WEIGHTINGS, Cell, Claim, Figure, Weighting
from rote.theory import RESULTS
from rote.theory.phi import phi

DRAWN_BOUNDS = ("dana2025.theorem1", "dana2025.previous")


@dataclass(frozen=True)
class FigureFindings:
    """All that was measured for one figure."""

    figure: Figure
    series: tuple[FigureSeries, ...]
    quick: bool
    protocol: str
    positions: str
    """Where positions enter the models."""
    repeats: int
    missing: int
    """Planned trials that have not been run."""
    source: tuple[FigureSeries, ...] = ()
    """The experiment's own points where the figure's are derived from them."""
    _fitted: dict[tuple[Weighting, str, str], LawFit | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def other_positions(self) -> bool:
        """Whether positions enter these models elsewhere than in the figure's own."""
        return self.positions != self.figure.experiment.positions

    @property
    def fits(self) -> dict[Weighting, dict[str, dict[str, LawFit]]]:
        """By weighting, series and law; a law that a series has too few points for is absent."""
        return {
            weighting: {
                series.name: {
                    law: fit for law in self.figure.laws if (fit := self.fit(weighting, law, series.name)) is not None
                }
                for series in self.series
            }
            for weighting in WEIGHTINGS
        }

    @cached_property
    def verdicts(self) -> list[tuple[Claim, dict[Weighting, Verdict]]]:
        """Each claim with its verdict in either weighting."""
        from rote.experiments.lookups.verdicts import decide

        return [
            (claim, {weighting: decide(claim.rule, self, weighting) for weighting in WEIGHTINGS})
            for claim in self.figure.claims
        ]

    @property
    def published_verdicts(self) -> list[Verdict]:
        """In the published weighting of pairs."""
        return [both["sampled"] for _, both in self.verdicts]

    @property
    def points(self) -> int:
        """Points with a value."""
        return sum(bool(point.values["uniform"]) for series in self.series for point in series.points)

    @property
    def note(self) -> str:
        return self.figure.experiment.note

    def fit(self, weighting: Weighting, law: str, name: str) -> LawFit | None:
        """A law fitted to the series of that name, when first asked for; nothing where it has too few points."""
        key = (weighting, law, name)
        if key not in self._fitted:
            series = self.named(name)
            self._fitted[key] = None if series is None else _fit(series, self.figure, law, weighting)
        return self._fitted[key]

    def named(self, name: str) -> FigureSeries | None:
        return next((series for series in self.series if series.name == name), None)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "figure": self.figure.id,
            "title": self.figure.title,
            "protocol": self.protocol,
            "positions": self.positions,
            "quick": self.quick,
            "repeats": self.repeats,
            "missing_trials": self.missing,
            "cells": [
                {
                    "series": series.name,
                    "x": point.x,
                    **({"spec": point.cell.spec.to_config()} if point.cell else {}),
                    "sampled_accuracy" if self.figure.derived is None else "sampled": point.mean("sampled"),
                    "uniform_accuracy" if self.figure.derived is None else "uniform": point.mean("uniform"),
                    "spread": point.spread("sampled"),
                    "repeats": len(point.values["sampled"]),
                    "diverged": point.diverged,
                    "published": point.published,
                    "difference": point.difference,
                    "promised": point.promised,
                }
                for series in self.series
                for point in series.points
            ],
            "fits": [
                {"weighting": weighting, "series": series, **fit.summary()}
                for weighting, by_series in self.fits.items()
                for series, fits in by_series.items()
                for fit in fits.values()
            ],
            "claims": [
                {
                    **claim_summary(claim),
                    **{weighting: verdict.summary() for weighting, verdict in by_weighting.items()},
                }
                for claim, by_weighting in self.verdicts
            ],
        }


def findings_of(plan: FigurePlan, rows: Mapping[TrialKey, TrialRow]) -> FigureFindings:
    """Arrange a run's rows as the figure's series; a row belongs to every cell that plans a trial of its content."""
    by_series: dict[str, list[SeriesPoint]] = {}
    missing = 0
    for cell in plan.cells:
        keys = [trial.key for trial in plan.trials_of(cell)]
        ended = [rows[key] for key in keys if key in rows]
        missing += len(keys) - len(ended)
        by_series.setdefault(cell.series, []).append(_point(cell, ended))
    measured = [
        FigureSeries(name, tuple(sorted(points, key=lambda point: point.x))) for name, points in by_series.items()
    ]
    figure = plan.figure
    shown = measured if figure.derived is None else slopes(measured)
    source = () if figure.derived is None else tuple(measured)
    return FigureFindings(
        figure, tuple(shown), plan.quick, plan.protocol, plan.positions, plan.repeats, missing, source
    )


def _point(cell: Cell, rows: Sequence[TrialRow]) -> SeriesPoint:
    ended = [row.result for row in rows if row.result["diverged_at"] is None]
    return SeriesPoint(
        x=cell.x,
        values={
            "sampled": [result["published_accuracy"] for result in ended],
            "uniform": [result["accuracy"] for result in ended],
        },
        diverged=len(rows) - len(ended),
        published=cell.published,
        promised=_promised(cell),
        cell=cell,
    )


def _promised(cell: Cell) -> dict[str, float]:
    """phi of what each bound promises, where it applies."""
    if not isinstance(cell.spec, AttentionOnly):
        return {}
    spec, accuracies = cell.spec, {}
    for name in DRAWN_BOUNDS:
        bound = RESULTS[name].bound(spec)
        if bound.applies and bound.associations is not None:
            accuracies[name] = phi(bound.associations, spec.vocab**spec.context, spec.vocab)
    return accuracies


def _fit(series: FigureSeries, figure: Figure, law: str, weighting: Weighting) -> LawFit | None:
    points = series.law_points(weighting)
    if points is None:
        return None
    saturation = np.inf if figure.saturation is None else figure.saturation
    try:
        return fit_law(points, law, saturation=saturation)
    except InputError:  # too few points for this form; claims that need it are undecided
        return None
