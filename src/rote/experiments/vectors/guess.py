"""Guesses that make a search for capacity short: where it starts, and how far away the boundary seems to be.

They decide how many trials a search takes and nothing else: where it ends is measured. The constants were read off the
searches behind docs/mahdavi2024.md.
"""

from __future__ import annotations

import math

from rote.experiments.vectors.result import VectorResult
from rote.experiments.vectors.trial import VectorTrial
from rote.papers.kinds.vectors import Threshold, VectorSetting

PER_TARGET = 0.8
"""Targets fitted for each free number of the score tables."""
PER_LABEL = 0.36
"""Labels recalled for each, with many heads."""
HEADS_FOR_LABELS = 20
"""Square of the number of heads with which half as many labels are recalled for each free number: H values of dimension
one have to separate a hundred classes."""
RUNGS_PER_DECADE = 4
"""Of a target's error near its capacity."""


def free_numbers(setting: VectorSetting) -> int:
    """Numbers that decide the scores: per head a (d + 1) x (n - 1) table in one context (a constant for all tokens
    changes nothing), a (d + 1) x d one with fresh contexts, of rank at most k."""
    rows = setting.dim + 1
    columns = setting.context - 1 if setting.shared else min(setting.dim, 6 * setting.context)
    rank = min(setting.head_dim, columns)
    return setting.heads * (rank * (rows + columns - rank) + columns) + 1


def expected_capacity(setting: VectorSetting) -> int:
    """About how many examples training recalls."""
    if setting.classes is None:
        return max(1, round(PER_TARGET * free_numbers(setting)))
    separated = setting.heads**2 / (setting.heads**2 + HEADS_FOR_LABELS)
    return max(1, round(PER_LABEL * separated * free_numbers(setting)))


def rungs_above(trial: VectorTrial, result: VectorResult, threshold: Threshold) -> float:
    """About how many rungs of the ladder of sizes a threshold's boundary lies above a trial; negative where it was not
    met."""
    met = result.meets(threshold)
    if threshold.mean_square is not None:
        error = result.mean_square
        decades = -10.0 if error is None else math.log10(threshold.mean_square / max(error, 1e-20))
        return _signed(RUNGS_PER_DECADE * decades, met)
    accuracy = result.accuracy or 0.0
    spare = 1 - result.steps / trial.protocol.steps
    if threshold.accuracy == 1:
        missed = round((1 - accuracy) * trial.examples)
        return 1 + 10 * spare if met else -1 - 2 * math.log2(max(1, missed))
    if accuracy == 1:
        return 3 + 20 * spare
    off = _logit(accuracy) - _logit(threshold.accuracy or 0.5)
    return off if met else -(off**2)


def _signed(rungs: float, met: bool) -> float:
    return max(rungs, 0.0) if met else min(rungs, -0.5)


def _logit(share: float) -> float:
    share = min(max(share, 1e-3), 1 - 1e-6)
    return math.log(share / (1 - share))
