"""The public line: every type that a public signature names is public too."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import typing
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

import rote
import rote.extend
import rote.types

LINE = (rote, rote.extend, rote.types)
PUBLIC = {f"{module.__name__}.{name}": getattr(module, name) for module in LINE for name in module.__all__}


def signatures(thing: Any) -> Iterator[Callable[..., Any]]:
    """A function, or a class with its fields, its methods and its properties."""
    if inspect.isfunction(thing):
        yield thing
    elif inspect.isclass(thing):
        yield thing
        for name, member in vars(thing).items():
            plain = (
                getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
            )
            if inspect.isfunction(plain) and not name.startswith("_"):
                yield plain


@functools.cache
def for_checkers(module: str) -> dict[str, Any]:
    """What a module imports for type checkers alone."""
    names: dict[str, Any] = {"rote": rote}
    for block in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for node in block.body:
                for alias in getattr(node, "names", ()):
                    own = alias.asname or alias.name
                    if isinstance(node, ast.ImportFrom):
                        names[own] = getattr(import_module(str(node.module)), alias.name)
                    else:
                        names[own] = import_module(alias.name)
    return names


def types_in(hint: Any) -> Iterator[type]:
    """Every class in an annotation, in bounds of type variables and in arguments of generics too."""
    if isinstance(hint, typing.TypeVar):
        yield from types_in(hint.__bound__)
    elif typing.get_origin(hint) is typing.Literal:
        return
    elif isinstance(hint, list | tuple):
        for part in hint:
            yield from types_in(part)
    elif typing.get_origin(hint) is not None:
        yield from types_in(typing.get_origin(hint))
        yield from types_in(typing.get_args(hint))
    elif isinstance(hint, type):
        yield hint


def unguaranteed(thing: Any) -> set[str]:
    """Types of rote in the signatures of a public name that are not public themselves."""
    found = set()
    for signature in signatures(thing):
        hints = typing.get_type_hints(signature, localns=for_checkers(signature.__module__))
        for name, hint in hints.items():
            if not name.startswith("_"):
                found |= {kind for kind in types_in(hint) if kind.__module__.partition(".")[0] == "rote"}
    known = {id(guaranteed) for guaranteed in PUBLIC.values()}
    return {f"{kind.__module__}.{kind.__qualname__}" for kind in found if id(kind) not in known}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_type_in_a_public_signature_is_public(name):
    assert unguaranteed(PUBLIC[name]) == set()


def test_a_type_outside_the_line_is_found():
    class Inner:
        __module__ = "rote.somewhere"

    def leaking(given: list[Inner]) -> int:
        return len(given)

    leaking.__annotations__ = {"given": list[Inner], "return": int}
    assert len(unguaranteed(leaking)) == 1


@pytest.mark.parametrize("module", LINE, ids=lambda module: module.__name__)
def test_names_are_in_one_place_and_say_what_they_are(module):
    for name in module.__all__:
        thing = getattr(module, name)
        assert sum(name in other.__all__ for other in LINE) == 1, f"{name} is public twice"
        if not name.isupper():
            assert thing.__name__ == name
            assert inspect.getdoc(thing)
        assert f"import {name} as {name}\n" in inspect.getsource(module)
