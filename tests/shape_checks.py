"""The checker that tests put around every function of `rote`: shapes by jaxtyping, types by beartype."""

from collections.abc import Callable
from typing import Any

import numpy as np
from beartype import BeartypeConf, FrozenDict, beartype
from beartype.roar import BeartypeDecorHintPep3119Exception

# Numbers out of an array are numbers.
_NUMBERS = FrozenDict({int: int | np.integer, float: float | int | np.integer | np.floating})
_strict = beartype(conf=BeartypeConf(hint_overrides=_NUMBERS))


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """`beartype`, but for functions whose hints Python cannot check at run time, such as plain protocols."""
    try:
        return _strict(function)
    except BeartypeDecorHintPep3119Exception:
        return function
