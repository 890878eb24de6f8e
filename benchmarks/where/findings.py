"""Numbers of the page, from the kept pieces: shares of heads and MLPs, controls, sets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rote.lm.attribution.attribution import Attribution
from rote.measure.intervals import Interval
from where.measure import KEPT, Case, kept_attribution

FLOOR = 0.1
"""Effects below this share of the largest effect on a fact are left out of shares: hundreds of small ones add up."""
NAMED = 0.5
"""Share of the largest effect from which a component is named."""
RESAMPLES = 2000


def heads_part(effect: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per fact: positive effects of heads, and of all components, without those below the floor."""
    effect = np.nan_to_num(effect).clip(min=0)
    effect = np.where(effect >= FLOOR * effect.max((1, 2), keepdims=True), effect, 0)
    return effect[:, :, :-1].sum((1, 2)), effect.sum((1, 2))


def heads_share(effect: np.ndarray) -> tuple[float, Interval]:
    """Share of heads in the effects of all components, each fact counting alike; bootstrap over facts."""
    heads, every = heads_part(effect)
    shares = heads[every > 0] / every[every > 0]
    drawn = np.random.default_rng(0).integers(0, len(shares), (RESAMPLES, len(shares)))
    low, high = np.percentile(shares[drawn].mean(1), [2.5, 97.5])
    return float(shares.mean()), Interval(float(low), float(high))


@dataclass(frozen=True, eq=False)
class Findings:
    """One relation, facts that are known or not."""

    case: Case

    @cached_property
    def found(self) -> Attribution:
        return kept_attribution(self.case)

    @cached_property
    def paths(self) -> dict[str, np.ndarray]:
        kept = np.load(KEPT / f"{self.case.name}-paths.npz")
        return {name: kept[name] for name in kept.files}

    @property
    def facts(self) -> int:
        return len(self.found.facts)

    @cached_property
    def effects(self) -> dict[str, np.ndarray]:
        """By method: facts x layers x components. Attribution is to the answer minus the mean of all answers."""
        paths = self.paths
        own = np.concatenate([paths["own"], paths["direct"][:, :, -1:]], 2)
        given = {"attribution": paths["direct"], "through heads": own + paths["sources"]}
        names = {"zero": "zero-ablation", "mean": "mean-ablation", "patch": "patching"}
        return given | {names[name]: self.found.effect(name) for name in self.found.effects}

    def mean(self, method: str) -> np.ndarray:
        """Mean over facts (layers x components)."""
        return np.nanmean(self.effects[method], 0)

    def named(self, method: str) -> Counter[str]:
        """How often each component is named."""
        counts: Counter[str] = Counter()
        for effect in np.nan_to_num(self.effects[method]):
            large = effect.ravel() >= NAMED * effect.max()
            counts.update(str(part) for part, is_large in zip(self.found.components, large, strict=True) if is_large)
        return counts

    def top(self, method: str, number: int = 5) -> list[tuple[str, float]]:
        """Components with the largest mean effects."""
        flat = self.mean(method).ravel()
        order = np.argsort(-flat)[:number]
        return [(str(self.found.components[at]), float(flat[at])) for at in order]

    @property
    def is_kept(self) -> bool:
        """Whether all effects of the case were run."""
        return all((KEPT / f"{self.case.name}-{piece}.npz").exists() for piece in ("paths", *self.case.effects))

    @property
    def orders(self) -> list[str]:
        """Orders in which sets were searched, of those that were run."""
        return [order for order in ("own", "specific") if (KEPT / f"{self.case.name}-sets-{order}.json").exists()]

    @property
    def has_sets(self) -> bool:
        return "own" in self.orders

    def sets(self, order: str) -> dict[str, Any]:
        return json.loads((KEPT / f"{self.case.name}-sets-{order}.json").read_text())


def bootstrap(values: np.ndarray, measure: Callable[[np.ndarray], np.ndarray] = lambda x: x.mean(1)) -> Interval:
    """95 % interval over facts."""
    drawn = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(measure(values[drawn]), [2.5, 97.5])
    return Interval(float(low), float(high))


def likeness(one: np.ndarray, two: np.ndarray) -> float:
    """Correlation of two maps of mean effects."""
    return float(np.corrcoef(one.ravel(), two.ravel())[0, 1])
