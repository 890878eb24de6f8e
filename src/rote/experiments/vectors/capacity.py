"""Capacity of a setting by training: the most examples that meet a threshold, seed by seed.

Each try draws its examples anew from the seed. What is returned was recalled; longer training may recall more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rote.experiments.ledgers.ledger import TrialKey
from rote.experiments.vectors.search import Bracket, expected_capacity, rung_of, rungs_above, search, size
from rote.experiments.vectors.trial import Results, VectorResult, VectorTrial
from rote.papers.kinds.vectors import AT_99, AT_ALL, AT_ERROR, Threshold, VectorSetting
from rote.papers.mahdavi2024.measured import MeasuredCapacity
from rote.training.query_attention.protocol import protocol_for

ALL_BELOW_MOST = 6
"""Rungs below the capacity at accuracy 0.99 where the search for all labels starts."""


@dataclass(frozen=True)
class VectorCapacity(MeasuredCapacity):
    """What one search gave, and what it took."""

    tries: int = 0
    seconds: float = 0.0
    """Processor time of its tries; those shared with another threshold count in both."""


def thresholds(setting: VectorSetting) -> tuple[Threshold, ...]:
    """What is searched for: labels at accuracy 0.99 and at 1, a target at an error below 1e-4."""
    return (AT_ERROR,) if setting.classes is None else (AT_99, AT_ALL)


def trial_at(setting: VectorSetting, rung: int, protocol: str, seed: int) -> VectorTrial:
    examples = size(rung)
    targets = None if setting.classes else 1
    return VectorTrial(setting, examples, protocol_for(protocol, examples, targets), seed)


def bracket(setting: VectorSetting, threshold: Threshold, protocol: str, seed: int, results: Results) -> Bracket | None:
    """Where a search stands; nothing while the search that it starts from has not ended.

    It starts where that of the seed before ended; for all labels of the first seed, a little below where the search
    for 0.99 of them ended, whose trials inform it too.
    """

    def score(rung: int) -> float | None:
        trial = trial_at(setting, rung, protocol, seed)
        result = results.get(trial.key)
        return None if result is None else rungs_above(trial, result, threshold)

    start, known = rung_of(expected_capacity(setting)), ()
    if threshold == AT_ALL:
        most = bracket(setting, AT_99, protocol, seed, results)
        if most is None or most.wanted is not None:
            return None
        start, known = max(0, most.middle - ALL_BELOW_MOST), most.tried
    if seed > 0:
        before = bracket(setting, threshold, protocol, seed - 1, results)
        if before is None or before.wanted is not None:
            return None
        start = before.middle
    return search(score, start, known)


def wanted_trials(settings: list[VectorSetting], protocol: str, seeds: range, results: Results) -> list[VectorTrial]:
    """The next try of every setting whose searches have not ended; those of the first seeds first, so that whole
    sweeps end early."""
    unfinished: dict[VectorSetting, VectorTrial] = {}
    for seed in seeds:
        for setting in settings:
            stands = (bracket(setting, threshold, protocol, seed, results) for threshold in thresholds(setting))
            rungs = [stand.wanted for stand in stands if stand is not None and stand.wanted is not None]
            if rungs and setting not in unfinished:
                unfinished[setting] = trial_at(setting, rungs[0], protocol, seed)
    return list(unfinished.values())


def capacity_of(
    setting: VectorSetting, threshold: Threshold, protocol: str, seed: int, results: Results
) -> VectorCapacity | None:
    """What a search that ended gave; nothing if it has not."""
    tried: dict[TrialKey, VectorResult] = {}
    ended = bracket(setting, threshold, protocol, seed, _Noting(results, tried))
    if ended is None or ended.wanted is not None:
        return None
    own = [result for key, result in tried.items() if key.seed == seed]
    return VectorCapacity(
        setting,
        threshold,
        seed,
        0 if ended.recalled is None else size(ended.recalled),
        None if ended.too_many is None else size(ended.too_many),
        len(own),
        sum(result.seconds for result in own),
    )


class _Noting(Mapping[TrialKey, VectorResult]):
    """Results that record which of them were read."""

    def __init__(self, results: Results, asked: dict[TrialKey, VectorResult]) -> None:
        self._results, self._asked = results, asked

    def __getitem__(self, key: TrialKey) -> VectorResult:
        self._asked[key] = self._results[key]
        return self._asked[key]

    def __iter__(self) -> Iterator[TrialKey]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)
