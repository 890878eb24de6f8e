"""The libraries that a target needs: found, new enough, or refused in one message with the line that installs them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from rote.errors import InputError
from rote.version import pip_install


@dataclass(frozen=True)
class Requirement:
    """One library: its name to install, its name to import, the oldest release that will do."""

    package: str
    module: str
    at_least: str

    def problem(self) -> str | None:
        """Why this library cannot be used, if it cannot."""
        if find_spec(self.module) is None:
            return f"{self.package} is not installed"
        if _numbers(self.version) < _numbers(self.at_least):
            return f"{self.package} {self.version} is too old, {self.at_least} or later is needed"
        return None

    @property
    def version(self) -> str:
        try:
            return version(self.package)
        except PackageNotFoundError:
            # A module that was put in place by hand has no version to compare.
            return "0"


def refuse_missing(target: str, requirements: tuple[Requirement, ...], extra: str | None) -> None:
    """One error for all libraries that are missing or too old."""
    wanting = [text for requirement in requirements if (text := requirement.problem()) is not None]
    if wanting:
        raise InputError(f"{target}: {'; '.join(wanting)}. {install_line(extra)}")


def install_line(extra: str | None) -> str:
    return f"`{pip_install(extra)}` installs what is needed"


def _numbers(text: str) -> tuple[int, ...]:
    """A release as numbers: 5.22.2rc1 is (5, 22, 2)."""
    numbers = []
    for part in text.split("+")[0].split("."):
        digits = part[: next((place for place, letter in enumerate(part) if not letter.isdigit()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
