"""One computation with a known answer, and the answer of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class KnownAnswer:
    """A computation, its known answer, and the answer of this machine."""

    part: str
    """What is asked: arithmetic, an engine, building, identities, threads."""
    question: str
    known: str
    given: str
    holds: bool | None
    """None if it cannot run on this machine, for example for a vector width that the CPU lacks."""

    @classmethod
    def within(cls, part: str, question: str, error: float, tolerance: float) -> KnownAnswer:
        """An answer that is known up to a relative error. One that is not a number does not hold."""
        return cls(part, question, f"error up to {tolerance:.0e}", f"{error:.1e}", bool(error <= tolerance))

    @classmethod
    def exactly(cls, part: str, question: str, known: Any, given: Any) -> KnownAnswer:
        """An answer that is known to the last digit."""
        return cls(part, question, str(known), str(given), known == given)

    @classmethod
    def not_here(cls, part: str, question: str, why: str) -> KnownAnswer:
        """A computation that cannot run on this machine."""
        return cls(part, question, "-", why, None)
