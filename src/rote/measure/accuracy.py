"""The two meanings of accuracy.

Published experiments on random look-ups report the mean accuracy of the last training batches: each context counts as
often as it was sampled, and contexts that were never sampled do not count. Over all contexts alike the same model can
score far less (.34 against .57 at N = 200, d = 50, H = 11). Both are reported, by name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.errors import InputError
from rote.measure.recall import Recall


@dataclass(frozen=True)
class Accuracies:
    """`uniform`: every context counts once. `sampled`: every context counts as often as it was sampled."""

    uniform: float
    sampled: float


def accuracies(recall: Recall, samples: np.ndarray) -> Accuracies:
    """Both accuracies of what was recalled; `samples` says how often each fact's context was drawn."""
    samples = np.asarray(samples, dtype=np.float64)
    if samples.shape != (recall.facts,):
        raise InputError(f"samples: one count per fact is needed, {recall.facts} in all; given shape {samples.shape}")
    if not np.all(np.isfinite(samples)) or samples.min() < 0 or samples.sum() == 0:
        raise InputError("samples: counts must be finite, not negative, and not all zero")
    return Accuracies(recall.recall, 1 - float(samples[recall.missed].sum() / samples.sum()))
