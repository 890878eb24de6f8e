"""Numbers as they are typed: integers where integers are required, and finite.

The parser would round `--heads 3.7` to 4 and take `--rate nan`; both are mistakes, and are reported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

from cyclopts import Token, convert


def as_typed(hint: Any, tokens: Sequence[Token]) -> Any:
    """What the parser makes of these words, unless one of them is not a number of the required kind."""
    kinds = {hint, *get_args(hint)}
    # The parser names the flag itself where it was given one word.
    named = f"{tokens[0].keyword}: " if len(tokens) > 1 else ""
    for token in tokens:
        if int in kinds and str not in kinds and "." in token.value:
            raise ValueError(f"{named}must be an integer, found {token.value}.")
        if float in kinds and not _finite(token.value):
            raise ValueError(f"{named}must be a finite number, found {token.value}.")
    return convert(hint, tokens)


def _finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        # No number at all, which the parser says itself.
        return True


UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(_: Any, tokens: Sequence[Token]) -> float:
    """A time in seconds: 60s, 2m, 1h, or a number of seconds."""
    text = tokens[0].value
    number, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1.0)
    try:
        value = float(number) * unit
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"must be a time such as 60s, 2m or 1h, found {text}.")
    return value
