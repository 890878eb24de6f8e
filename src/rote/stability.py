"""Markers of public names: `experimental` ones may change in any release, `deprecated` ones will be removed.

Everything else that is public changes only in a release that says so.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

Thing = TypeVar("Thing", bound=Callable[..., Any])


def experimental(since: str) -> Callable[[Thing], Thing]:
    """Mark a public function or class that may change in any release, as its help then says.

    It works like any other and gives no warning: what is new is not wrong.

    >>> from rote.stability import experimental
    >>> @experimental("0.2.0")
    ... def recent():
    ...     '''Something new.'''
    >>> print(recent.__doc__)
    Something new.
    <BLANKLINE>
    Experimental since 0.2.0: it may change in any release.
    """
    _release(since)

    def mark(thing: Thing) -> Thing:
        _annotate(thing, f"Experimental since {since}: it may change in any release.")
        thing.__experimental__ = since  # pyright: ignore[reportFunctionMemberAccess]
        return thing

    return mark


def deprecated(since: str, removed: str, instead: str) -> Callable[[Thing], Thing]:
    """Mark a public function or class that a later release removes; using it warns and names what to use instead.

    >>> from rote.stability import deprecated
    >>> @deprecated("0.2.0", removed="0.4.0", instead="rote.recall")
    ... def remember():
    ...     '''Something old.'''
    >>> remember()
    Traceback (most recent call last):
    FutureWarning: remember is deprecated since 0.2.0 and will be removed in 0.4.0; use rote.recall
    """
    if _release(removed) <= _release(since):
        raise ValueError(f"deprecated since {since}, so it cannot be removed in {removed}")

    def mark(thing: Thing) -> Thing:
        name = thing.__qualname__
        message = f"{name} is deprecated since {since} and will be removed in {removed}; use {instead}"
        if isinstance(thing, type):
            thing.__init__ = _warning(thing.__init__, message)
            marked = thing
        else:
            marked = _warning(thing, message)
        _annotate(marked, f"Deprecated since {since}, removed in {removed}: use {instead}.")
        cast(Any, marked).__deprecated__ = (since, removed)
        return cast(Thing, marked)

    return mark


def _release(version: str) -> tuple[int, ...]:
    """A version as numbers, so that releases can be ordered; anything but 1.2.3 is a mistake of the marker."""
    parts = version.split(".")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        raise ValueError(f"version {version!r}: three numbers are needed, such as 0.2.0")
    return tuple(int(part) for part in parts)


def _annotate(thing: Any, note: str) -> None:
    """Put a note below the first paragraph of a docstring."""
    first, blank, rest = (inspect.getdoc(thing) or "").partition("\n\n")
    thing.__doc__ = f"{first}\n\n{note}{blank}{rest}"


def _warning(function: Callable[..., Any], message: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        warnings.warn(message, FutureWarning, stacklevel=2)
        return function(*arguments, **named)

    return called
