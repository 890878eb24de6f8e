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
