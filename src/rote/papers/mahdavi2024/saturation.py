"""Saturation of heads in one shared context, n = 32: H = 4 with 550 examples and H = 8 with 1300, as published."""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.vectors import HeadsSplitExamples, SaturatesWithTraining, SaturationFigure, VectorSetting

SATURATION = SaturationFigure(
    "mahdavi2024.saturated",
    "Heads with more than .99 of their attention on one token, against training length",
    ((VectorSetting(4, 32), 550), (VectorSetting(8, 32), 1300)),
    (
        Claim("saturates", "Heads are saturated on more examples the longer training lasts", SaturatesWithTraining()),
        Claim("specialises", "Heads specialise on different examples, beyond independence", HeadsSplitExamples()),
    ),
    lengths=(300, 1200, 4800),
    quick_lengths=(1200, 4800),
)
