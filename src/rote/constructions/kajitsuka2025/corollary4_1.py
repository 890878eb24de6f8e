"""Corollary 4.1 (sequence to sequence): a label for every position of N sequences, with about sqrt(nN) parameters.

F1 passes the token on with its code, and F2 maps the sequence's id and the token together. The network is
permutation-equivariant: a token that occurs twice in a sequence has one label there, unless positions enter.
"""

from __future__ import annotations

from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.kajitsuka2025.estimate import cpu_seconds, estimator
from rote.constructions.kajitsuka2025.variant import MemorizerOptions, Variant
from rote.tasks import AssociationTask, VectorTask

ID = "kajitsuka2025.corollary4_1"


def build(request: Request[AssociationTask | VectorTask, MemorizerOptions]) -> Draft:
    """For a task, whose facts ask for one label each: the last token, or the query, asks within what comes before it.

    Then sequences that recur with other last tokens share one id.
    """
    from rote.constructions.kajitsuka2025.construct import build_memorizer

    return build_memorizer(request, Variant(ID, asked=True))


register_construction(
    Construction(
        id=ID,
        summary="the deep ReLU memorizer, sequence to sequence: the last token asks for its label",
        paper="kajitsuka2025",
        passage="Corollary 4.1",
        meets="kajitsuka2025.corollary4_1",
        sizes=(),
        tasks=(AssociationTask, VectorTask),
        build=build,
        options=MemorizerOptions,
        default_dtype="auto",
        estimate=estimator(ID),
        cpu_seconds=cpu_seconds,
    )
)
