"""What theory promises: one file per paper, every result with its conditions checked."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory import dana2025 as dana2025
from rote.theory.bound import BOUNDS as BOUNDS
from rote.theory.bound import Bound as Bound


def bounds(spec: AttentionOnly) -> list[Bound]:
    """Every bound for this specification: those that apply first, largest first; then those that do not."""
    found = [evaluate(spec) for evaluate in BOUNDS.values()]
    return sorted(found, key=lambda item: (not item.applies, -(item.associations or 0), item.id))
