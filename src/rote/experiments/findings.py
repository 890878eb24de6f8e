"""What a figure's trials say: points by series, the laws fitted to them, and the verdict on each claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rote.errors import InputError
from rote.experiments.derived import slopes
from rote.experiments.ledger import TrialRow
from rote.experiments.series import Place, Series
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
    series: tuple[Series, ...]
    quick: bool
    protocol: str
    repeats: int
    missing: int
    """Planned trials that have not been run."""
    source: tuple[Series, ...] = ()
    """The experiment's own points where the figure's are derived from them."""
    _fitted: dict[tuple[Weighting, str, str], LawFit | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def fits(self) -> dict[Weighting, dict[str, dict[str, LawFit]]]:
        """By weighting, series and law; a law that a series has too few points for is absent."""
        return {
            weighting: {
                one.name: {
                    law: fit for law in self.figure.laws if (fit := self.fit(weighting, law, one.name)) is not None
                }
                for one in self.series
            }
            for weighting in WEIGHTINGS
        }

    @cached_property
    def verdicts(self) -> list[tuple[Claim, dict[Weighting, Any]]]:
        """Each claim with its verdict in either weighting."""
        from rote.experiments.verdicts import decide

        return [
            (claim, {weighting: decide(claim.rule, self, weighting) for weighting in WEIGHTINGS})
            for claim in self.figure.claims
        ]

    def fit(self, weighting: Weighting, law: str, series: str) -> LawFit | None:
        """A law fitted to a series, made when first asked for; nothing where it has too few points."""
        key = (weighting, law, series)
        if key not in self._fitted:
            one = self.named(series)
            self._fitted[key] = None if one is None else _fit(one, self.figure, law, weighting)
        return self._fitted[key]

    def named(self, series: str) -> Series | None:
        return next((one for one in self.series if one.name == series), None)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "figure": self.figure.id,
            "title": self.figure.title,
            "protocol": self.protocol,
            "quick": self.quick,
            "repeats": self.repeats,
            "missing_trials": self.missing,
            "cells": [
                {
                    "series": one.name,
                    "x": place.x,
                    **({"spec": place.cell.spec.to_config()} if place.cell else {}),
                    "sampled_accuracy" if self.figure.derived is None else "sampled": place.mean("sampled"),
                    "uniform_accuracy" if self.figure.derived is None else "uniform": place.mean("uniform"),
                    "spread": place.spread("sampled"),
                    "repeats": len(place.values["sampled"]),
                    "diverged": place.diverged,
                    "published": place.published,
                    "difference": place.difference,
                    "promised": place.promised,
                }
                for one in self.series
                for place in one.places
            ],
            "fits": [
                {"weighting": weighting, "series": series, **fit.summary()}
                for weighting, by_series in self.fits.items()
                for series, fits in by_series.items()
                for fit in fits.values()
            ],
            "claims": [
                {
                    "id": claim.id,
                    "statement": claim.statement,
                    "rule": claim.rule.in_words,
                    **{
                        weighting: {"verdict": found.outcome, "why": found.why, "numbers": found.numbers}
                        for weighting, found in by_weighting.items()
                    },
                }
                for claim, by_weighting in self.verdicts
            ],
        }


def findings_of(
    figure: Figure,
    cells: Sequence[Cell],
    rows: Iterable[tuple[Cell, TrialRow]],
    *,
    quick: bool,
    protocol: str,
    repeats: int,
) -> FigureFindings:
    """Arrange a run's rows, each with the cell it belongs to, as the figure's series."""
    held: dict[int, list[TrialRow]] = {}
    place_of = {id(cell): place for place, cell in enumerate(cells)}
    for cell, row in rows:
        held.setdefault(place_of[id(cell)], []).append(row)
    names = dict.fromkeys(cell.series for cell in cells)
    measured = [
        Series(
            name,
            tuple(
                sorted(
                    (_place(cell, held.get(place, [])) for place, cell in enumerate(cells) if cell.series == name),
                    key=lambda one: one.x,
                )
            ),
        )
        for name in names
    ]
    shown = measured if figure.derived is None else slopes(measured)
    missing = len(cells) * repeats - sum(len(part) for part in held.values())
    source = () if figure.derived is None else tuple(measured)
    return FigureFindings(figure, tuple(shown), quick, protocol, repeats, missing, source)


def _place(cell: Cell, rows: Sequence[TrialRow]) -> Place:
    ended = [row.result for row in rows if row.result["diverged_at"] is None]
    return Place(
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
    spec, found = cell.spec, {}
    for name in DRAWN_BOUNDS:
        bound = RESULTS[name].bound(spec)
        if bound.applies and bound.associations is not None:
            found[name] = phi(bound.associations, spec.vocab**spec.context, spec.vocab)
    return found


def _fit(series: Series, figure: Figure, law: str, weighting: Weighting) -> LawFit | None:
    points = series.points(weighting)
    if points is None:
        return None
    saturation = np.inf if figure.saturation is None else figure.saturation
    try:
        return fit_law(points, law, saturation=saturation)
    except InputError:  # too few points for this form; claims that need it are undecided
        return None
