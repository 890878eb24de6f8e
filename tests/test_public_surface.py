"""The public surface: every name is there, means what it says, and is documented by examples that run."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import types

import pytest

import rote

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", rote.__all__)
def test_every_public_name_is_what_it_says(name):
    first, again = getattr(rote, name), getattr(rote, name)
    assert first is again
    assert not isinstance(first, types.ModuleType)
    assert first.__name__ == name


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="memorise"):
        _ = rote.memorise


def test_what_type_checkers_see_is_what_there_is():
    declared = inspect.getsource(rote)
    assert [name for name in rote.__all__ if f"import {name} as {name}\n" not in declared] == []


def test_help_shows_what_is_public():
    shown = pydoc.plain(pydoc.render_doc(rote))
    assert [name for name in rote.__all__ if name not in shown] == []
    assert "is stable" in shown


@pytest.mark.parametrize("name", rote.__all__)
def test_help_has_an_example_that_runs(name):
    thing = getattr(rote, name)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {}, name, None, None)
    assert examples.examples, f"help(rote.{name}) has no example"
    told = []
    outcome = doctest.DocTestRunner(optionflags=OPTIONS).run(examples, out=told.append)
    assert not outcome.failed, "".join(told)
