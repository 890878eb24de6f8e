"""The checker that tests put around every function of `rote`: shapes by jaxtyping, types by beartype.

jaxtyping binds the arguments of every call to compare their shapes with each other, which doubles what the tests cost:
functions and dataclasses that name no shape are given to beartype alone, and each is checked in its first calls of a
process. The checks are made when a module is imported, since a test may put something else in the place of a name that
a hint has.
"""

import ast
import builtins
import dataclasses
import functools
import re
import sys
from collections.abc import Callable
from typing import Any

import jaxtyping
import numpy as np
from beartype import BeartypeConf, FrozenDict, beartype
from beartype.roar import BeartypeDecorHintPep612Exception, BeartypeDecorHintPep3119Exception

# Numbers out of an array are numbers.
_NUMBERS = FrozenDict({int: int | np.integer, float: float | int | np.integer | np.floating})
_strict = beartype(conf=BeartypeConf(hint_overrides=_NUMBERS))


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """`beartype`, but for functions whose hints Python cannot check at run time, such as plain protocols and
    another function's parameters."""
    try:
        return _strict(function)
    except (BeartypeDecorHintPep612Exception, BeartypeDecorHintPep3119Exception):
        return function


CHECKED_CALLS = 500
"""Of a function in one process: what loops call a hundred thousand times has met every kind of argument by then."""

_SHAPE = re.compile(r"\b(Bool|Float|Int|Integer|Num|Real|Shaped|UInt|Complex|Key)\d*\[")
_with_shapes = jaxtyping.jaxtyped


def names_a_shape(thing: Any) -> bool:
    """Whether an annotation of a function or of a class's fields has a type of jaxtyping in it."""
    return any(_SHAPE.search(str(hint)) for hint in getattr(thing, "__annotations__", {}).values())


def is_defined_by_now(thing: Any) -> bool:
    """Whether every name in the annotations is there when the function is; jaxtyping knows what to do about others."""
    known = {*vars(sys.modules[thing.__module__]), *vars(builtins)}
    hints = [hint for hint in getattr(thing, "__annotations__", {}).values() if isinstance(hint, str)]
    nodes = (node for hint in hints for node in ast.walk(ast.parse(hint, mode="eval")))
    return known.issuperset(node.id for node in nodes if isinstance(node, ast.Name))


def in_first_calls(checked: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its check for so many calls, and then the function itself."""
    left = CHECKED_CALLS

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        if not left:
            return function(*arguments, **named)
        left -= 1
        return checked(*arguments, **named)

    return called


def jaxtyped_where_shapes_are(*, typechecker: Callable[..., Any]) -> Callable[[Any], Any]:
    """In place of `jaxtyping.jaxtyped`, which the import hook puts on everything."""
    with_shapes = _with_shapes(typechecker=typechecker)

    def check_of(thing: Any) -> Callable[[Any], Any]:
        return with_shapes if names_a_shape(thing) or not is_defined_by_now(thing) else typechecker

    def decorate(thing: Any) -> Any:
        if not isinstance(thing, type):
            if "<locals>" in thing.__qualname__:
                return thing  # made anew whenever the function around it is called, and a check takes milliseconds
            return in_first_calls(check_of(thing)(thing), thing)
        inherits = any(dataclasses.is_dataclass(base) for base in thing.__mro__[1:])
        if inherits or check_of(thing) is with_shapes:
            return with_shapes(thing)
        if dataclasses.is_dataclass(thing) and "__init__" in vars(thing):
            thing.__init__ = in_first_calls(typechecker(thing.__init__), thing.__init__)
        return thing

    return decorate
