"""The public surface: every name is there, twice in a row, and means the function and not a module."""

from __future__ import annotations

import types

import pytest

import rote


@pytest.mark.parametrize("name", [name for name in dir(rote) if not name.startswith("_")])
def test_every_public_name_is_what_it_says(name):
    first, again = getattr(rote, name), getattr(rote, name)
    assert first is again
    assert not isinstance(first, types.ModuleType)


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="memorise"):
        _ = rote.memorise
