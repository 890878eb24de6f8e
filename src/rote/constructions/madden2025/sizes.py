"""Settings and sizes of a model with a neuron per context."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rote.constructions.construction import Options, Request
from rote.errors import InputError
from rote.models.mlp_transformer import MlpTransformer
from rote.tasks import TokenTask
from rote.theory.sizes import widest_head


class NeuronOptions(Options):
    width: Annotated[int, Field(ge=1)] | None = None
    """MLP neurons. Default: one per context, the fewest that are guaranteed to work."""
    spare: Annotated[int, Field(ge=0)] | None = None
    """Neurons beyond one per context: room for facts that `rote edit` may add, and smaller weights."""
    activation: Literal["gelu", "relu"] = "gelu"
    score_std: Annotated[float, Field(gt=0)] = 1.0
    """Standard deviation of attention scores: small ones keep every position in view."""
    draws: Annotated[int, Field(ge=1)] = 5
    """First MLP layers drawn at most; the best-conditioned is kept."""


def neurons_spec(request: Request[TokenTask, NeuronOptions], contexts: int, dim: int) -> MlpTransformer:
    """The specification, with default sizes chosen; fewer neurons than contexts are rejected here."""
    task, width = request.task, request.options.width or contexts + (request.options.spare or 0)
    if width < contexts:
        raise InputError(
            f"madden2025: {contexts} contexts but {width} neurons; the solve for W_2 has one unknown row per neuron, "
            f"so it needs `width={contexts}` or more; leave it out to have as many as contexts"
        )
    return MlpTransformer(
        vocab=task.vocab,
        context=task.context,
        dim=dim,
        head_dim=request.head_dim or min(dim, widest_head(task.shape)),
        heads=request.heads or 1,
        width=width,
        activation=request.options.activation,
    )


def solve_may_fail(request: Request[TokenTask, NeuronOptions]) -> str:
    return f"as many neurons as contexts: whether {request.dtype} carries the solve is seen when it is made"
