"""A trial that did not end: it ran out of memory, or what it computes broke down. The others go on."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.linalg import LinAlgError

from rote.errors import RoteError

FAILURES = (RoteError, MemoryError, ArithmeticError, LinAlgError, RuntimeError)
"""What a trial may fail of. Torch says with a RuntimeError that it cannot allocate; anything else is a mistake in the
program, and ends it."""

LONGEST = 300
"""Letters of a reason that are kept."""


@dataclass(frozen=True)
class Failed:
    """Stands for the result of a trial that has none."""

    error: Exception

    @property
    def reason(self) -> str:
        """What happened, in one line."""
        text = " ".join(str(self.error).split())
        if not isinstance(self.error, RoteError):
            text = f"{type(self.error).__name__}: {text}" if text else type(self.error).__name__
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"
