"""Theorem 4.1 (next-token prediction): N sequences, about sqrt(N) parameters, width at most 14, one uniform attention.

Depth about sqrt(N log N) + sqrt(N / log N) max(log R, log C), with words of about sqrt(N log N) bits in exact
arithmetic; a dtype bounds the words, and parameters then grow as N over their length.
"""

from __future__ import annotations

from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.kajitsuka2025.estimate import cpu_seconds, estimator
from rote.constructions.kajitsuka2025.variant import MemorizerOptions, Variant
from rote.tasks import AssociationTask, VectorTask

ID = "kajitsuka2025.theorem4_1"


def build(request: Request[AssociationTask | VectorTask, MemorizerOptions]) -> Draft:
    """Codes for a few tokens, their average as the sequence's id, and the id's label from packed words."""
    from rote.constructions.kajitsuka2025.construct import build_memorizer

    return build_memorizer(request, Variant(ID))


register_construction(
    Construction(
        id=ID,
        summary="deep ReLU memorizer: sequence ids by uniform attention, labels from packed words",
        paper="kajitsuka2025",
        passage="Theorem 4.1",
        meets="kajitsuka2025.theorem4_1",
        sizes=(),
        tasks=(AssociationTask, VectorTask),
        build=build,
        options=MemorizerOptions,
        default_dtype="auto",
        estimate=estimator(ID),
        cpu_seconds=cpu_seconds,
    )
)
