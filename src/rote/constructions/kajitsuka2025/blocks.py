"""ReLU layers that round a number to an integer or to its floor, two layers per bit."""

from __future__ import annotations

from rote.constructions.vardi2022.network import Builder


def snap(builder: Builder, bits: int) -> None:
    """Register x <- the whole number below 2^bits that x is within 1/4 of.

    A softmax over n positions gives 1/n, which is rounded unless n is a power of two; so are the averages. The
    threshold relu(1 - relu(4T - 2 - 4x)) is 1 from x = T - 1/2 on and 0 up to T - 3/4.
    """
    _digits(builder, bits, slope=4, early=2)


def floor(builder: Builder, bits: int, slope: int) -> None:
    """Register x <- floor(x), for 0 <= x < 2^bits whose fractional part is at most 1 - 1/slope.

    The threshold relu(1 - relu(slope (T - x))) is 1 from x = T on and 0 up to T - 1/slope.
    """
    _digits(builder, bits, slope=slope, early=0)


def _digits(builder: Builder, bits: int, slope: int, early: int) -> None:
    builder["whole"] = 0
    for digit in reversed(range(bits)):
        builder.layer(short=slope * (1 << digit) - early - slope * builder["x"])
        builder.layer(reached=1 - builder["short"])
        builder["x"] -= (1 << digit) * builder["reached"]
        builder["whole"] += (1 << digit) * builder["reached"]
    builder["x"] = builder["whole"]
    del builder["whole"]
