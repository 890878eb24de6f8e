"""Which answer wins where: the unembedding of `rote.selector`, in whole numbers.

With one digit an answer's logit is 2(m y + b), a straight line over the point y. Lines of rising slope form an upper
envelope, on which each is the largest on one interval, so that an answer may own any interval of points; neighbours
cross half-way between their intervals. With several digits it is the nearest number that wins: -sum_i (y_i - c_i)^2,
minus the part that all answers share, is 2 c . y - c . c. Either way logits are whole numbers and margins at least 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Unembedding:
    """Rows of W_U: what multiplies each digit of the point, and the constant."""

    slopes: np.ndarray
    constants: np.ndarray

    def largest_term(self, points: np.ndarray) -> int:
        """The largest number that a partial sum of a logit may reach, at any of these points."""
        reach = np.abs(self.slopes) @ np.abs(points).max(axis=0)
        return int((reach + np.abs(self.constants)).max())


def envelope(points: np.ndarray, answers: np.ndarray, vocab: int) -> Unembedding:
    """Lines under which each answer wins at its own points, those of one answer being consecutive."""
    owners, place = np.unique(answers, return_inverse=True)
    low = np.full(len(owners), np.iinfo(np.int64).max)
    high = np.full(len(owners), np.iinfo(np.int64).min)
    np.minimum.at(low, place, points)
    np.maximum.at(high, place, points)
    order = np.argsort(low)
    if (low[order][1:] <= high[order][:-1]).any():
        raise ValueError("points of two answers are mixed")
    slopes = 2 * (np.arange(len(owners)) - len(owners) // 2)
    # The next line is 2 steeper and crosses at (high + low) / 2, so its constant is that sum less.
    falls = np.concatenate([[0], high[order][:-1] + low[order][1:]])
    constants = -np.cumsum(falls)
    constants -= int(np.median(constants))
    rows = Unembedding(np.zeros((vocab, 1), dtype=np.int64), np.zeros(vocab, dtype=np.int64))
    rows.slopes[owners[order], 0], rows.constants[owners[order]] = slopes, constants
    _silence(rows, points[:, None], answers)
    return rows


def nearest(points: np.ndarray, answers: np.ndarray, vocab: int) -> Unembedding:
    """The nearest number wins; every answer has one point."""
    rows = Unembedding(np.zeros((vocab, points.shape[1]), dtype=np.int64), np.zeros(vocab, dtype=np.int64))
    rows.slopes[answers] = 2 * points
    rows.constants[answers] = -(points**2).sum(axis=1)
    _silence(rows, points, answers)
    return rows


def _silence(rows: Unembedding, points: np.ndarray, answers: np.ndarray) -> None:
    """Tokens that are nobody's answer stay below the lowest logit that wins."""
    won = (rows.slopes[answers] * points).sum(axis=1) + rows.constants[answers]
    others = np.setdiff1d(np.arange(len(rows.constants)), answers)
    rows.constants[others] = int(won.min()) - 2
