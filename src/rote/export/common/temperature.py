"""A gain on the logits, so that sampling gives the answer and not merely the likeliest token.

Margins of a tenth are near-uniform probabilities over a thousand tokens. A power of two changes no rounding: logits
times 2^g are the model's own, and their softmax is certain.
"""

from __future__ import annotations

import math

import torch

from rote.export.subject import ExportSubject

CERTAINTY = 14.0
"""Logarithm of the odds that a sampled answer is right where the margin is smallest: about a million to one."""
LARGEST = 2.0**20


def gain_for(subject: ExportSubject) -> float:
    """The smallest power of two that makes every recalled fact's answer certain."""
    if subject.gain is not None:
        return subject.gain
    positive = subject.margins[subject.margins > 0]
    if not len(positive):
        return 1.0
    wanted = (CERTAINTY + math.log(len(subject.spelling.tokens))) / float(positive.min())
    return min(LARGEST, 2.0 ** max(0, math.ceil(math.log2(wanted))))


def bias_below(subject: ExportSubject, gain: float) -> float:
    """A logit that no answer's comes near: for tokens that are read and never written."""
    logits = subject.model.logits(torch.from_numpy(subject.contexts[:4096]))
    return -(2.0 ** math.ceil(math.log2(8 * gain * max(1.0, float(logits.abs().max())))))
