"""Markers of public names: what is new says so in its help, what will go warns and names its successor."""

from __future__ import annotations

import doctest

import pytest

import rote
from rote import stability
from rote.stability import deprecated, experimental


def test_examples_run():
    assert doctest.testmod(stability, optionflags=doctest.IGNORE_EXCEPTION_DETAIL).failed == 0


def test_an_experimental_class_is_the_class_itself():
    @experimental("0.2.0")
    class Recent:
        """New.

        More about it.
        """

    assert Recent().__class__ is Recent
    assert Recent.__experimental__ == "0.2.0"
    assert Recent.__doc__ == "New.\n\nExperimental since 0.2.0: it may change in any release.\n\nMore about it."


def test_a_deprecated_class_warns_when_it_is_made():
    @deprecated("0.2.0", removed="0.4.0", instead="Recent")
    class Old:
        def __init__(self, number: int) -> None:
            self.number = number

    with pytest.warns(FutureWarning, match="removed in 0.4.0; use Recent"):
        old = Old(3)
    assert old.number == 3


@pytest.mark.parametrize(("since", "removed"), [("0.2.0", "0.2.0"), ("0.10.0", "0.9.0"), ("0.2", "0.4.0")])
def test_releases_must_be_in_order(since, removed):
    with pytest.raises(ValueError, match=r"0\."):
        deprecated(since, removed=removed, instead="nothing")


def test_nothing_public_is_past_its_removal():
    now = tuple(int(part) for part in rote.__version__.split("."))
    for name in rote.__all__:
        _, removed = getattr(getattr(rote, name), "__deprecated__", ("", "999.0.0"))
        assert tuple(int(part) for part in removed.split(".")) > now, name
