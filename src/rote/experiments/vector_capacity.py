"""Capacity of a setting by training: the most examples that meet a threshold, seed by seed.

Each try draws its examples anew from the seed. What is returned was memorized; longer training may memorize more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rote.experiments.ledger import TrialKey
from rote.experiments.vector_runs import Results
from rote.experiments.vector_search import Bracket, bisect, rung_of, size
from rote.experiments.vector_trial import VectorTrial, memorized
from rote.papers.vector_figures import AT_99, AT_ALL, AT_ERROR, Threshold, VectorSetting
from rote.training.query_attention.protocol import protocol_for

FREE_PER_TARGET = 0.7
"""Targets that training fits for each free number of the score tables, about: where a search starts."""
FREE_PER_LABEL = 0.2
"""Labels among a hundred, likewise."""


@dataclass(frozen=True)
class VectorCapacity:
    """What one search gave."""

    setting: VectorSetting
    threshold: Threshold
    seed: int
    recalled: int
    """Most examples that met the threshold; 0 if one did not."""
    refused: int | None
    """Fewest that did not, among the sizes tried."""
    tries: int
    seconds: float
    """Processor time of its tries; those shared with another threshold count in both."""


def thresholds(setting: VectorSetting) -> tuple[Threshold, ...]:
    """What is searched for: labels at accuracy .99 and at 1, a target at an error below 1e-4."""
    return (AT_ERROR,) if setting.classes is None else (AT_99, AT_ALL)


def free_numbers(setting: VectorSetting) -> int:
    """Numbers that decide the scores: per head a (d + 1) x (n - 1) table in one context (a constant for all tokens
    changes nothing), a (d + 1) x d one with fresh contexts, of rank at most k."""
    rows = setting.dim + 1
    columns = setting.context - 1 if setting.shared else min(setting.dim, 6 * setting.context)
    rank = min(setting.head_dim, columns)
    return setting.heads * (rank * (rows + columns - rank) + columns) + 1


def trial_at(setting: VectorSetting, rung: int, protocol: str, seed: int) -> VectorTrial:
    examples = size(rung)
    targets = None if setting.classes else 1
    return VectorTrial(setting, examples, protocol_for(protocol, examples, targets), seed)


def bracket(setting: VectorSetting, threshold: Threshold, protocol: str, seed: int, results: Results) -> Bracket:
    """Where the search stands. That for all labels starts a little below where the one for .99 ended."""

    def outcome_at(limit: Threshold) -> Callable[[int], bool | None]:
        def outcome(rung: int) -> bool | None:
            result = results.get(trial_at(setting, rung, protocol, seed).key)
            return None if result is None else memorized(result, limit)

        return outcome

    share = FREE_PER_TARGET if setting.classes is None else FREE_PER_LABEL
    start = rung_of(share * free_numbers(setting))
    if threshold == AT_ALL:
        nearly = bisect(outcome_at(AT_99), start)
        if nearly.wanted is not None:
            return nearly
        start = max(0, (nearly.recalled or 0) - 2)
    return bisect(outcome_at(threshold), start)


def wanted_trials(settings: list[VectorSetting], protocol: str, seeds: range, results: Results) -> list[VectorTrial]:
    """The next try of every search that has not ended; seed by seed, so that whole sweeps end early."""
    found = []
    for seed in seeds:
        for setting in settings:
            for threshold in thresholds(setting):
                wanted = bracket(setting, threshold, protocol, seed, results).wanted
                if wanted is not None:
                    found.append(trial_at(setting, wanted, protocol, seed))
                    break
    return found


def capacity_of(
    setting: VectorSetting, threshold: Threshold, protocol: str, seed: int, results: Results
) -> VectorCapacity | None:
    """What a search that ended gave; nothing if it has not."""
    tried: dict[TrialKey, dict[str, Any]] = {}
    ended = bracket(setting, threshold, protocol, seed, _Noting(results, tried))
    if ended.wanted is not None:
        return None
    return VectorCapacity(
        setting,
        threshold,
        seed,
        0 if ended.recalled is None else size(ended.recalled),
        None if ended.refused is None else size(ended.refused),
        len(tried),
        sum(result["seconds"] for result in tried.values()),
    )


class _Noting(Mapping[TrialKey, dict[str, Any]]):
    """Results that note which of them were asked for."""

    def __init__(self, results: Results, asked: dict[TrialKey, dict[str, Any]]) -> None:
        self._results, self._asked = results, asked

    def __getitem__(self, key: TrialKey) -> dict[str, Any]:
        self._asked[key] = self._results[key]
        return self._asked[key]

    def __iter__(self) -> Iterator[TrialKey]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)
