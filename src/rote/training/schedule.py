"""Learning rates over a run, one per step."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

Schedule = Literal["cosine", "linear-epochs", "constant"]


def learning_rates(schedule: Schedule, steps: int, peak: float, final: float, warmup: float, epoch: int) -> np.ndarray:
    """One rate per step.

    `cosine`: linear warm-up over a share `warmup` of the steps, then half a cosine from `peak` to `final`.
    `linear-epochs`: peak + (final - peak) e / epochs in epoch e of `epoch` steps, as in the released experiments of
    Dana et al. 2025 (the last epoch is one stride short of `final`).
    """
    step = np.arange(steps)
    if schedule == "constant":
        return np.full(steps, peak)
    if schedule == "linear-epochs":
        epochs = math.ceil(steps / epoch)
        return peak + (final - peak) * (step // epoch) / epochs
    rising = max(1, round(warmup * steps))
    falling = np.clip((step - rising) / max(1, steps - rising), 0, 1)
    curve = final + (peak - final) * 0.5 * (1 + np.cos(np.pi * falling))
    return np.where(step < rising, peak * (step + 1) / rising, curve)
