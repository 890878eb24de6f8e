"""One family of errors: a message names what was given, the likely cause and the remedy."""

from __future__ import annotations


class RoteError(Exception):
    """Base of every error rote raises on purpose; the command line prints it without a traceback."""

    exit_code = 2


class InputError(RoteError):
    """Input that cannot be used: a file, a table, a specification, an option."""


class CheckFailed(RoteError):
    """A claim was checked and did not hold."""

    exit_code = 1


def problems(subject: str, found: list[str]) -> InputError:
    """All problems of one subject as a single error, so that a user mends them in one pass."""
    if len(found) == 1:
        return InputError(f"{subject}: {found[0]}")
    return InputError(f"{subject}: {len(found)} problems\n" + "\n".join(f"  - {text}" for text in found))
