"""What Theorem 1 of Dana et al. 2025 promises a specification, for those that it speaks of."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.models.spec import Spec
from rote.theory import RESULTS


def theorem1_promise(spec: Spec) -> int | None:
    """Associations that some weights of this specification store; nothing where the theorem does not apply."""
    return RESULTS["dana2025.theorem1"].bound(spec).associations if isinstance(spec, AttentionOnly) else None
