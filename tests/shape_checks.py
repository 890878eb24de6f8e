"""The checker that tests put around every function of `rote`: shapes by jaxtyping, types by beartype.

jaxtyping binds the arguments of every call to compare their shapes with each other, which doubles what the tests cost;
functions and dataclasses that name no shape are given to beartype alone, and a function's shapes are compared in its
first calls of a process.
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


CALLS_WITH_SHAPES = 500
"""Of a function in one process: what loops call a hundred thousand times has met every kind of shape by then."""

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


def in_first_calls(checked: Any, thing: Any) -> Any:
    """The checked function for so many calls, and then the function itself; a class is checked always."""
    if isinstance(thing, type) or not callable(thing):
        return checked
    left = CALLS_WITH_SHAPES

    @functools.wraps(thing)
    def function(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        if left:
            left -= 1
            return checked(*arguments, **named)
        return thing(*arguments, **named)

    return function


def jaxtyped_where_shapes_are(*, typechecker: Callable[..., Any]) -> Callable[[Any], Any]:
    """In place of `jaxtyping.jaxtyped`, which the import hook puts on everything."""

    def decorate(thing: Any) -> Any:
        if "<locals>" in thing.__qualname__:
            return thing  # made anew whenever the function around it is called, and a check takes milliseconds to make
        inherits = isinstance(thing, type) and any(dataclasses.is_dataclass(base) for base in thing.__mro__[1:])
        if names_a_shape(thing) or inherits or not is_defined_by_now(thing):
            return in_first_calls(_with_shapes(typechecker=typechecker)(thing), thing)
        if not isinstance(thing, type):
            return typechecker(thing)
        if dataclasses.is_dataclass(thing) and "__init__" in vars(thing):
            thing.__init__ = typechecker(thing.__init__)
        return thing

    return decorate
