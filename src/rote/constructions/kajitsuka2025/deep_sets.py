"""Remark 4.1 and Theorem D.1 (deep sets): a plain sum in place of attention does as well."""

from __future__ import annotations

from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.kajitsuka2025.estimate import cpu_seconds, estimator
from rote.constructions.kajitsuka2025.variant import MemorizerOptions, Variant
from rote.tasks import AssociationTask, VectorTask

ID = "kajitsuka2025.deep_sets"


def build(request: Request[AssociationTask | VectorTask, MemorizerOptions]) -> Draft:
    """As Theorem 4.1, with codes added up: sums of whole numbers need no snap block, whatever the length."""
    from rote.constructions.kajitsuka2025.construct import build_memorizer

    return build_memorizer(request, Variant(ID, mixing="sum"))


register_construction(
    Construction(
        id=ID,
        summary="the deep ReLU memorizer with a plain sum in place of attention",
        paper="kajitsuka2025",
        passage="Remark 4.1 and Theorem D.1",
        meets="kajitsuka2025.theoremD_1",
        sizes=(),
        tasks=(AssociationTask, VectorTask),
        build=build,
        options=MemorizerOptions,
        default_dtype="auto",
        estimate=estimator(ID),
        cpu_seconds=cpu_seconds,
    )
)
