"""Proposition 3: two dimensions hold any number of associations, as a sequence encoder.

Answers stand on a circle, W_n = (cos, sin), and E(t) = scale times the row of t's answer: every other answer's logit is
less by at least scale (1 - cos(2 pi / m)), m the number of answers on the circle. Tokens that are no answer stand at
the centre, which leaves the circle to those that are. The proof lets the scale go to infinity; here it is the
least at which the divergence falls below the given one.
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Options, Request, register_construction
from rote.constructions.dana2025.options import encoder_spec
from rote.errors import InputError
from rote.models.sequence_encoder import SequenceEncoder
from rote.tasks import AssociationTask


class Proposition3Options(Options):
    divergence: Annotated[float, Field(gt=0, le=1)] = 1e-6
    """Divergence, in nats, at which the scale is large enough. Recall does not depend on it."""


SAFE_GAP = {"float64": 2.0**-46, "float32": 2.0**-17}
"""Lead of an answer over its neighbours on the circle, relative to its logit, that is 64 roundings of the dtype wide.
Half precision has no such lead that counts: the scale itself may overflow."""


def circle_spec(request: Request[AssociationTask, Proposition3Options]) -> SequenceEncoder:
    """Two dimensions, and a row for every key."""
    if request.dim not in (None, 2):
        raise InputError(
            f"`dim={request.dim}`: Proposition 3 is about dim 2, where a circle holds every answer; leave it out"
        )
    return encoder_spec(request.task.majority(), 2)


def size_may_differ(request: Request[AssociationTask, Proposition3Options]) -> str:
    answers = request.task.shape.answers
    if 1 - math.cos(2 * math.pi / answers) > SAFE_GAP.get(request.dtype, math.inf) or answers == 1:
        return ""
    return f"{answers:,} answers on a circle may lie closer together than {request.dtype} tells apart"


def build(request: Request[AssociationTask, Proposition3Options]) -> Draft:
    """The circle, at the least scale that is sharp enough."""
    from rote.constructions.dana2025.encoder import circle_encoder, encoder_model

    circle_spec(request)
    task = request.task.majority()
    encoder, measured = circle_encoder(task.answers, task.vocab, request.options.divergence)
    return Draft(encoder_model(encoder, task, request.dtype), measured=dict(measured))


register_construction(
    Construction(
        id="dana2025.proposition3",
        summary="a table of dimension 2, answers on a circle: every association, one row for each",
        paper="dana2025",
        passage="Proposition 3",
        meets="dana2025.proposition3",
        sizes=("dim",),
        tasks=(AssociationTask,),
        build=build,
        edit=rebuilt_by("dana2025.proposition3"),
        spec=circle_spec,
        size_may_differ=size_may_differ,
        options=Proposition3Options,
    )
)
