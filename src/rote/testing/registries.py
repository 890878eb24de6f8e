"""Registries as they were before: for examples and tests that register something of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rote.constructions import CONSTRUCTIONS
from rote.experiments.kinds import KINDS
from rote.models import ARCHITECTURES
from rote.models.forward.architecture import FORWARD
from rote.papers import FIGURES
from rote.tasks.sources import SOURCES
from rote.theory import PAPERS, RESULTS

REGISTRIES: tuple[dict[str, Any], ...] = (
    ARCHITECTURES,
    CONSTRUCTIONS,
    FIGURES,
    FORWARD,
    KINDS,
    PAPERS,
    RESULTS,
    SOURCES,
)


@contextmanager
def kept_registries() -> Iterator[None]:
    """What is registered inside is forgotten at the end.

    >>> import rote.extend
    >>> from rote.testing import kept_registries
    >>> with kept_registries():
    ...     _ = rote.extend.register_paper(rote.extend.Paper("mine2026", "Mine 2026", "A table", "unpublished"))
    >>> "mine2026" in rote.extend.PAPERS
    False
    """
    before = [dict(registry) for registry in REGISTRIES]
    try:
        yield
    finally:
        for registry, entries in zip(REGISTRIES, before, strict=True):
            registry.clear()
            registry.update(entries)
