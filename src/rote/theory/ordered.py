"""Bounds in the order in which they answer: what this model is guaranteed, what is impossible, then everything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rote.charts import BarChart
from rote.charts.plotting import Plotted
from rote.display import Records
from rote.theory.bound import SECTIONS, Bound
from rote.theory.charts import bounds_chart

SHOWN = ("section", "id", "associations", "says", "parameters", "reason")


class Bounds(Records[Bound], Plotted):
    """Every result for one specification. The first row is the strongest guarantee for the model given and the second
    the strongest impossibility; results about other architectures of the same size follow under their own name, then
    orders and estimates, then what does not apply."""

    def __init__(self, bounds: Iterable[Bound]) -> None:
        super().__init__(ordered(list(bounds)), SHOWN)

    @property
    def guaranteed(self) -> Bound | None:
        """The strongest guarantee for this model."""
        return next((bound for bound in self if bound.section == "guaranteed" and bound.associations), None)

    @property
    def impossible(self) -> Bound | None:
        """The strongest impossibility for this model."""
        return next((bound for bound in self if bound.section == "impossible" and bound.associations), None)

    def chart(self, facts: int | None = None, title: str | None = None) -> BarChart:
        """Facts by each result that applies, this model's first, with a line at a number of facts.

        Results that give all contexts there are, about other architectures or up to constants, are left out.
        """
        sure, most = (0 if bound is None else bound.associations or 0 for bound in (self.guaranteed, self.impossible))
        limit = f", more than {most:,} are impossible" if most else ""
        return bounds_chart(self.listed, facts, title or f"{sure:,} facts are guaranteed{limit}")

    @property
    def listed(self) -> list[Bound]:
        """The bounds that are shown one by one: those that apply, without the `folded` ones."""
        return [bound for bound in self if bound.applies and not folds(bound)]

    @property
    def folded(self) -> list[Bound]:
        """Results about other architectures, orders and estimates that are cut to the number of contexts there are."""
        return [bound for bound in self if folds(bound)]

    def _shown(self) -> tuple[list[str], list[list[Any]]]:
        rows = [_row(bound) for bound in self.listed]
        if self.folded:
            named = ", ".join(bound.id for bound in self.folded)
            rows.append(["all contexts", f"{len(self.folded)} results", self.folded[0].associations, "", None, named])
        return list(SHOWN), rows + [_row(bound) for bound in self if not bound.applies]


def _row(bound: Bound) -> list[Any]:
    return [bound.section, bound.id, bound.associations, bound.says, bound.parameters, bound.reason]


def folds(bound: Bound) -> bool:
    """Whether a bound says no more than that all contexts there are could be held."""
    return bound.capped and bound.section in ("other architectures", "orders and estimates")


def ordered(bounds: Sequence[Bound]) -> list[Bound]:
    """The strongest guarantee, the strongest impossibility, then section by section, strongest first.

    Bounds that are as strong keep their order.
    """
    ranked = sorted(bounds, key=_rank)
    first = [next((bound for bound in ranked if bound.section == section), None) for section in SECTIONS[:2]]
    leading = [bound for bound in first if bound is not None and bound.associations]
    return leading + [bound for bound in ranked if bound not in leading]


def _rank(bound: Bound) -> tuple[int, bool, int, bool]:
    count = bound.associations or 0
    return (
        SECTIONS.index(bound.section),
        bound.associations is None,
        count if bound.kind == "upper" else -count,
        bound.capped,
    )
