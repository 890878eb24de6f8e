"""What a library prints is held back while it works, shown afterwards, and dropped after a panic."""

from __future__ import annotations

import os

import pytest

from rote import interrupts
from rote.panics import quiet


class PanicException(BaseException):
    """As libraries in Rust raise it."""


def test_what_a_library_prints_is_shown_afterwards(capfd):
    with quiet():
        os.write(2, b"a warning\n")
        with quiet():
            os.write(2, b"another\n")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "a warning\nanother\n"


def failing(words: bytes, error: BaseException) -> None:
    with quiet():
        os.write(2, words)
        raise error


def test_what_a_panic_prints_is_not_shown(capfd):
    with pytest.raises(PanicException):
        failing(b"thread panicked\x1b[2J\n", PanicException())
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "later\n"


def test_another_error_keeps_what_was_printed(capfd):
    with pytest.raises(ValueError, match="reason"):
        failing(b"a warning\n", ValueError("a reason"))
    assert capfd.readouterr().err == "a warning\n"


def test_the_message_of_an_interrupt_is_not_held_back(capfd):
    with quiet():
        os.write(interrupts.standard_error, b"rote: interrupted\n")
        assert capfd.readouterr().err == "rote: interrupted\n"
    assert interrupts.standard_error == 2
