"""Numbers and words from an address, checked; all problems are reported at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from rote.errors import problems

Choice = TypeVar("Choice", bound=str)
LONGEST = 4000


class Query:
    """The parameters of one request."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given, self._wrong = given, []

    def __contains__(self, name: str) -> bool:
        return bool(self._given.get(name, "").strip())

    def text(self, name: str, default: str = "") -> str:
        value = self._given.get(name, default)
        if len(value) > LONGEST or "\0" in value:
            self._wrong.append(f"{name} is no text of at most {LONGEST:,} characters")
            return default
        return value

    def whole(self, name: str, default: int, low: int = 1, high: int = 2**40) -> int:
        """A whole number, or the default."""
        text = self._given.get(name, "").strip()
        if not text:
            return default
        if not (text.isascii() and text.isdigit() and len(text) <= 15 and low <= int(text) <= high):
            self._wrong.append(f"{name} is {text[:40]!r}, but must be a whole number from {low:,} to {high:,}")
            return default
        return int(text)

    def real(self, name: str, default: float, high: float = 1e15) -> float:
        text = self._given.get(name, "").strip()
        try:
            value = float(text) if text else default
        except ValueError:
            value = float("nan")
        if not 0 <= value <= high or len(text) > 40:
            self._wrong.append(f"{name} is {text[:40]!r}, but must be a number from 0 to {high:g}")
            return default
        return value

    def choice(self, name: str, choices: tuple[Choice, ...], default: Choice) -> Choice:
        text = self._given.get(name, "").strip()
        if not text:
            return default
        for choice in choices:
            if text == choice:
                return choice
        self._wrong.append(f"{name} is {text[:40]!r}, but must be one of {', '.join(choices)}")
        return default

    def check(self) -> None:
        """Raise all problems as one error."""
        if self._wrong:
            raise problems("this address", self._wrong)
