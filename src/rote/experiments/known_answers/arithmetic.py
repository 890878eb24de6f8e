"""Arithmetic of the device: products and exponentials in the precision that it claims.

Products of integers below 2^24 are exact in float32, below 2^53 in float64, whatever the order of summation. A device
that rounds its inputs to fewer bits (TF32 keeps eleven, bfloat16 eight) gives wrong entries. Exponentials and their
sums are compared with the C library's in float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch

from rote.experiments.known_answers.known_answer import KnownAnswer

PART = "arithmetic"
ORDER = 64
EXACT = {"float32": 2**24, "float64": 2**53}
"""Integers below these are exact."""
TOLERANCES = {"float32": 1e-6, "float64": 1e-14}


def arithmetic(device: str) -> Iterator[KnownAnswer]:
    """Products, exponentials and a log-softmax in both dtypes."""
    rng = np.random.default_rng(0)
    for name, limit in EXACT.items():
        dtype = getattr(torch, name)
        if not _has(dtype, device):
            yield KnownAnswer.not_here(PART, f"anything in {name}", f"{device} has no {name}")
            continue
        # Each product and all partial sums stay below the limit.
        largest = math.isqrt(limit // ORDER)
        left, right = (rng.integers(-largest + 1, largest, size=(ORDER, ORDER)) for _ in range(2))
        product = (
            torch.tensor(left, dtype=dtype, device=device) @ torch.tensor(right, dtype=dtype, device=device)
        ).cpu()
        wrong = int((product.numpy().astype(np.int64) != left @ right).sum())
        yield KnownAnswer.exactly(PART, f"entries of a product of whole numbers that are wrong in {name}", 0, wrong)
        points = np.linspace(-20, 20, 401)
        powers = torch.tensor(points, dtype=dtype, device=device).exp().double().cpu().numpy()
        exact = np.array([math.exp(float(point)) for point in torch.tensor(points, dtype=dtype).double()])
        error = float(np.abs(powers / exact - 1).max())
        yield KnownAnswer.within(PART, f"exponentials in {name}", error, TOLERANCES[name])
        logits = torch.arange(1000, dtype=dtype, device=device) / 100
        error = abs(float(logits.log_softmax(0).exp().sum()) - 1)
        yield KnownAnswer.within(
            PART, f"probabilities of a softmax add up to 1 in {name}", error, 20 * TOLERANCES[name]
        )


def _has(dtype: torch.dtype, device: str) -> bool:
    """True if the device supports a dtype; some have no float64."""
    try:
        torch.ones(1, dtype=dtype, device=device)
    except (TypeError, RuntimeError):
        return False
    return True
