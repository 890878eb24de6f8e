"""Failed trials: out of memory, or a numerical breakdown. The other trials continue."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.linalg import LinAlgError

from rote.errors import RoteError

FAILURES = (RoteError, MemoryError, ArithmeticError, LinAlgError, RuntimeError)
"""Errors that fail a trial. Torch raises a RuntimeError when it cannot allocate. Any other error is a bug, and ends the
run."""

LONGEST = 300
"""Largest length of a reason."""


@dataclass(frozen=True)
class Failed:
    """The outcome of a failed trial, in place of its result."""

    error: Exception

    @property
    def reason(self) -> str:
        """The error in one line."""
        text = " ".join(str(self.error).split())
        if not isinstance(self.error, RoteError):
            text = f"{type(self.error).__name__}: {text}" if text else type(self.error).__name__
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"
