"""`rote.fixed_gates`: attention fixed at random, sharp, on a few dimensions of the stream; everything else fitted.

Queries and keys of rank one read four gate dimensions of tokens and positions, with scores so large that most patterns
are close to 0 or 1. They are drawn once. The other dimensions of the tokens, W_V, W_O and W_U are fitted by
cross-entropy, without a gradient through attention, until the saved model recalls every fact by more than its rounding
noise.

    Sizes: dim 16, head_dim 4, and the fewest heads whose parameters, d(S + 2N + 2(k + 1)H), would hold 1.64 bits each
    and those of the heads 2.05 (1.4 for keys of more than two tokens).

That is where the search starts. The rate was chosen on all 2,500 pairs of 50 tokens (44 heads, 8,672 parameters) with
seeds 11 to 13. Where a fit fails, gates are drawn again, then heads are added.
"""

from __future__ import annotations

import math

from pydantic import Field

from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Abandoned, Construction, Draft, Options, Request, register_construction
from rote.errors import CheckFailed, InputError
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask
from rote.threads import cpu_time

ID = "rote.fixed_gates"
DIM, HEAD_DIM, GATES = 16, 4, 4
BITS_PER_PARAMETER = 1.64
"""Bits of the answers per parameter from which the search for heads starts."""
HEAD_BITS = {True: 2.05, False: 1.4}
"""The same per parameter of the heads alone, for keys of two tokens and for longer ones, whose gates are coarser."""
GROWTH = 0.12
"""Share of heads that is added when every draw has failed."""
EVALUATIONS, FLOPS = 5_000, 2e10
"""Evaluations that a fit near capacity takes, and float32 operations per second of the native engine."""


class FixedGatesOptions(Options):
    """Settings of the gates and of the fit."""

    gates: int = Field(default=GATES, ge=1)
    """Dimensions of the stream that queries and keys read."""
    score_std: float = Field(default=30.0, gt=0)
    """Standard deviation of attention scores: large, so that patterns are nearly 0 or 1."""
    steps: int = Field(default=4000, ge=1)
    """Steps of Adam of one fit; it ends as soon as the saved model recalls every fact."""
    refinement: int = Field(default=4000, ge=0)
    """L-BFGS iterations after them, at most."""
    draws: int = Field(default=2, ge=1)
    """Draws of the gates that are tried before heads are added."""
    growths: int = Field(default=4, ge=0)
    """How often heads are added if no draw is fitted and `heads` was not given."""


def spec_of(request: Request[AssociationTask, FixedGatesOptions]) -> AttentionOnly:
    """Where the fit starts."""
    shape = request.task.majority().shape
    if shape.context < 2:
        raise InputError(f"{ID}: keys have one token, so attention has nothing to look at; use another method")
    dim = request.dim or max(DIM, request.options.gates + 1, request.head_dim or 0)
    head_dim = request.head_dim or min(HEAD_DIM, dim)
    if dim <= request.options.gates:
        raise InputError(f"{ID}: `dim={dim}` leaves no dimension to fit beside {request.options.gates} gates; raise it")

    def at(heads: int) -> AttentionOnly:
        return AttentionOnly(
            vocab=shape.vocab,
            context=shape.context,
            dim=dim,
            head_dim=head_dim,
            heads=heads,
            query_key_rank=None if head_dim == 1 else 1,
        )

    if request.heads is not None:
        return at(request.heads)
    each = at(2).parameters() - at(1).parameters()
    bits = shape.associations * math.log2(max(2, shape.answers))
    in_all = math.ceil((bits / BITS_PER_PARAMETER - at(1).parameters()) / each) + 1
    return at(max(1, in_all, math.ceil(bits / HEAD_BITS[shape.context == 2] / each)))


def size_may_differ(request: Request[AssociationTask, FixedGatesOptions]) -> str:
    return "the size is an estimate: heads are added while fits miss facts"


def cpu_seconds(request: Request[AssociationTask, FixedGatesOptions]) -> float:
    spec, shape = spec_of(request), request.task.shape
    mixed = spec.heads * spec.head_dim * (spec.context + spec.dim)
    return 1 + EVALUATIONS * 6 * shape.associations * (mixed + spec.dim * shape.answers) / FLOPS


def build(request: Request[AssociationTask, FixedGatesOptions]) -> Draft:
    """Draw gates and fit; where that fails, draw again, then add heads if their number is open."""
    import torch

    from rote.constructions.rote.attempt import margin_and_noise
    from rote.constructions.rote.fixed_gates.fit import fit_gates
    from rote.constructions.rote.fixed_gates.gates import Gates
    from rote.constructions.rote.options import SAFETY
    from rote.models.model import Model, dtype_named

    task, options, spec = request.task.majority(), request.options, spec_of(request)
    dtype = dtype_named(request.dtype)
    generator = torch.Generator().manual_seed(request.seed)
    failed, abandoned = "", []
    for growth in range(1 + (options.growths if request.heads is None else 0)):
        for draw in range(options.draws):
            gates = Gates.draw(spec, options.gates, options.score_std, dtype, generator)

            def model_of(fitted: dict[str, torch.Tensor], gates: Gates = gates) -> Model:
                return gates.model(fitted, dtype, task.vocabulary)

            def accept(fitted: dict[str, torch.Tensor]) -> bool:
                margin, noise = margin_and_noise(model_of(fitted), task)
                return margin > SAFETY * noise

            fit = fit_gates(gates, task, accept, options.steps, options.refinement, request.progress, request.deadline)
            if fit.accepted:
                measured = {"growths": growth, "draws": draw + 1, "evaluations": fit.evaluations}
                return Draft(model_of(fit.weights), measured=measured, abandoned=tuple(abandoned))
            stored = f"{task.facts - fit.missed:,} of {task.facts:,} facts are recalled"
            if not fit.missed:
                stored = (
                    f"all {task.facts:,} facts are recalled, but margins are not {SAFETY:g} times the rounding noise"
                )
            failed = (
                f"{ID}: dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: {stored} in {request.dtype} "
                f"after {fit.evaluations} evaluations. Give more `heads` or a larger `dim`, or leave `heads` out"
            )
            abandoned.append(Abandoned.model(spec, failed.removeprefix(f"{ID}: ")))
            if request.deadline is not None and cpu_time() > request.deadline:
                raise CheckFailed(f"{failed}. The time ran out; give it more")
        spec = spec.model_copy(update={"heads": spec.heads + max(1, round(GROWTH * spec.heads))})
    raise CheckFailed(failed)


register_construction(
    Construction(
        id=ID,
        summary="sharp random attention on a few dimensions; tokens, W_V, W_O and W_U fitted by cross-entropy",
        paper="rote",
        passage="no gradient through attention",
        unguaranteed="a fit that is not convex: building tells whether it ends at full recall",
        tasks=(AssociationTask,),
        build=build,
        spec=spec_of,
        size_may_differ=size_may_differ,
        cpu_seconds=cpu_seconds,
        quick_facts=500,
        edit=rebuilt_by(ID),
        options=FixedGatesOptions,
    )
)
