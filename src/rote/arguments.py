"""Arguments of the wrong type are rejected with one clear message, before a function begins its work.

`typed` decorates every public function. It reads the types that the function names, so that what `help` shows is what
is checked; a number out of an array counts as a number, and `True` does not count as one.
"""

from __future__ import annotations

import inspect
import numbers
import types
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from rote.errors import problems

P = ParamSpec("P")
R = TypeVar("R")

NUMBERS: dict[Any, type] = {int: numbers.Integral, float: numbers.Real}
LONGEST = 40
"""Letters of a value that a message shows; of a longer one it names the type alone."""


def typed(function: Callable[P, R]) -> Callable[P, R]:
    """The function, rejecting arguments that are not of the types it names: all of them in one `InputError`."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        refuse_other_types(function, args, kwargs)
        return function(*args, **kwargs)

    return checked


def refuse_other_types(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise one error that names every argument of another type than the function's own."""
    signature, hints = _declared(function)
    bound = signature.bind(*args, **kwargs)
    wrong = []
    for name, value in bound.arguments.items():
        kind, hint = signature.parameters[name].kind, hints.get(name, Any)
        several = kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if not several and not fits(value, hint):
            wrong.append(misfit(name, value, hint))
    if wrong:
        raise problems(function.__name__, wrong)


def misfit(name: str, value: Any, hint: Any) -> str:
    """What is wrong with the value of an argument, as a sentence."""
    simple = isinstance(value, str | int | float | None) and len(repr(value)) <= LONGEST
    shown = f"`{name}={value}`" if simple and not isinstance(value, str) else f"`{name}`"
    given = repr(value) if isinstance(value, str) and simple else type(value).__name__
    return f"{shown}: must be {in_words(hint)}, found {given}"


def fits(value: Any, hint: Any) -> bool:
    """Whether a value has the type of an annotation; types that cannot be checked count as fitting."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is None or hint is types.NoneType:
        return value is None
    if origin is Annotated:
        return fits(value, parts[0])
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str | int | bool) and value in parts
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and not isinstance(value, bool)
    kind = hint if origin is None else origin
    if hint is Any or not isinstance(kind, type):
        return True
    if not isinstance(value, kind):
        return False
    if kind is tuple and parts and parts[-1] is not Ellipsis:
        return len(value) == len(parts) and all(map(fits, value, parts))
    if isinstance(value, str | list | tuple | range | set) and parts and issubclass(kind, Iterable):
        return all(fits(element, parts[0]) for element in value)
    return True


def in_words(hint: Any) -> str:
    """A type as a reader names it, `int, str or None`; one annotated with a text, by that text."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return next((text for text in parts[1:] if isinstance(text, str)), in_words(parts[0]))
    if origin in (Union, types.UnionType):
        names = list(dict.fromkeys(in_words(part) for part in parts))
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    if origin is Literal:
        return f"one of {', '.join(str(part) for part in parts)}"
    if hint is types.NoneType:
        return "None"
    if origin is not None and parts and parts != (Any,) and issubclass(origin, Iterable):
        return f"{origin.__name__} of {in_words(parts[0])}"
    return getattr(origin or hint, "__name__", str(hint))


@cache
def _declared(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    plain = inspect.unwrap(function)
    return inspect.signature(plain), get_type_hints(plain, include_extras=True)
