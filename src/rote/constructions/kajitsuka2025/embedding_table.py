"""Remark 4.2 and appendix E (embedding layer): a table gives tokens their codes, in place of F1."""

from __future__ import annotations

from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.kajitsuka2025.estimate import cpu_seconds, estimator
from rote.constructions.kajitsuka2025.variant import MemorizerOptions, Variant
from rote.tasks import AssociationTask

ID = "kajitsuka2025.embedding_table"


def build(request: Request[AssociationTask, MemorizerOptions]) -> Draft:
    """As Theorem 4.1 without F1: one number a token (and position, where order counts) in place of its layers."""
    from rote.constructions.kajitsuka2025.construct import build_memorizer

    return build_memorizer(request, Variant(ID, table=True))


register_construction(
    Construction(
        id=ID,
        summary="the deep ReLU memorizer with an embedding table in place of its first network",
        paper="kajitsuka2025",
        passage="Remark 4.2 and appendix E",
        meets="kajitsuka2025.remarkE_1",
        sizes=(),
        tasks=(AssociationTask,),
        build=build,
        options=MemorizerOptions,
        default_dtype="auto",
        estimate=estimator(ID),
        cpu_seconds=cpu_seconds,
    )
)
