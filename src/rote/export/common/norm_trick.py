"""What a norm that is undone by a constant needs: the constant's square hides the stream's, and nothing overflows."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rote.export.certificate import Condition
from rote.export.common.normal_form import NormalForm
from rote.export.subject import ExportSubject

ROUNDING = 2.0**-24
"""What float32 does not see beside 1."""
OVERFLOW = 2.0**127
SMALLEST_CONSTANT, LARGEST_CONSTANT = 2.0**20, 2.0**56
"""The sum of a few squares of the largest must not overflow."""


def constant_for(largest_square: float) -> float:
    """The smallest power of two whose square hides the stream's; 2^20 does for nearly every model."""
    needed = math.sqrt(2 * largest_square / ROUNDING)
    if not math.isfinite(needed):
        return LARGEST_CONSTANT
    return min(LARGEST_CONSTANT, max(SMALLEST_CONSTANT, 2.0 ** math.ceil(math.log2(max(needed, 1.0)))))


def largest_square_of(form: NormalForm, subject: ExportSubject) -> float:
    """The stream's largest square over all facts. It is measured once: powers of two on heads leave it as it is."""
    key = (len(form.layers), form.dim)
    if key not in subject.largest_squares:
        subject.largest_squares[key] = form.largest_square(torch.from_numpy(subject.contexts))
    return subject.largest_squares[key]


def norm_conditions(
    form: NormalForm, subject: ExportSubject, constants: Tensor, after_answers: float = 0.0
) -> tuple[Condition, ...]:
    """The conditions on the constants that stand in a checkpoint's stream, measured over every fact in float64.

    `after_answers` is the stream's largest square where words of an answer are read back.
    """
    largest = max(after_answers, largest_square_of(form, subject))
    total = float(constants.double().square().sum())
    return (
        Condition(name="stream's square beside the constant's", value=largest / total, below=ROUNDING),
        Condition(name="largest number in a norm", value=total + largest, below=OVERFLOW),
    )
