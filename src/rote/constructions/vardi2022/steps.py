"""Arithmetic on integers by threshold neurons, two layers per binary digit."""

from __future__ import annotations

from rote.constructions.vardi2022.affine import Affine
from rote.constructions.vardi2022.network import Builder


def threshold(builder: Builder, value: Affine, level: Affine | int) -> None:
    """Leave in temporary `reached` 1 if value >= level, else 0, for whole numbers; `short` lives one layer."""
    builder.layer(short=level - value)
    builder.layer(reached=1 - builder["short"])


def remainder(builder: Builder, name: str, divisor: int, largest: int) -> None:
    """Register <- register mod divisor, for values up to `largest`: schoolbook division, a digit at a time."""
    for digit in reversed(range(max(0, (largest // divisor).bit_length()))):
        threshold(builder, builder[name], divisor << digit)
        builder[name] -= (divisor << digit) * builder["reached"]
