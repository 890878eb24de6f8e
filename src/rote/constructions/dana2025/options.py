"""Settings of the constructions of Dana, Pydi and Chevaleyre 2025."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from rote.constructions.construction import Options, Request
from rote.models.sequence_encoder import SequenceEncoder
from rote.tasks import DistributionTask, TokenTask

DEFAULT_DIM = 16
"""Default embedding dimension, or vocab - 1 if that is smaller: there every distribution is exact."""


def chosen_dim(request: Request[DistributionTask, Any]) -> int:
    """The given embedding dimension, or the default."""
    return request.dim or min(DEFAULT_DIM, max(1, request.task.vocab - 1))


def encoder_spec(task: TokenTask, dim: int) -> SequenceEncoder:
    """A row for every context of the task."""
    return SequenceEncoder(vocab=task.vocab, context=task.context, contexts=len(task.contexts), dim=dim)


def fitted_encoder(request: Request[DistributionTask, Any]) -> SequenceEncoder:
    """The encoder that is fitted to a task: of the given embedding dimension, or the default."""
    return encoder_spec(request.task, chosen_dim(request))


Algorithm = Literal["joint", "projected"]
Output = Literal["convex", "weighted", "paper", "joint"]


class Theorem1Options(Options):
    score_std: float | None = Field(default=None, gt=0)
    """Standard deviation of attention scores. Default: chosen by the task, and raised with each resample."""
    redraws: int = Field(default=4, ge=0)
    """How often attention is resampled if the system is ill-conditioned or the model misses a fact."""
    right_hand_sides: int = Field(default=4, ge=1)
    """Answer codes tried per sample; the one with the best-conditioned skip map is kept."""
    solve: Literal["auto", "dense", "arrowhead"] = "auto"
    """One dense solve, or a bordered block-diagonal system for many facts (arrowhead). Default: chosen by size."""
    growths: int = Field(default=3, ge=0, le=3)
    """How often heads are added (5, 15, then 30 %) if no sample stores every fact, or rounding moves margins too far,
    and `heads` was not given."""
    rank_one: bool = False
    """Query-key matrices of rank one (Remark 2), which saves 2d(k - 1) parameters per head."""
    spare: int | None = Field(default=None, ge=0)
    """Facts that `rote.edit` can add later without a new head; 0 leaves room for changes alone. Default: the fewest
    heads, so that the first edit adds one or two."""


class Theorem1DistributionOptions(Options):
    epsilon: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Prior of the contexts that may be left out when heads are chosen; 0 fits every context exactly."""
    output: Output = "convex"
    """How W_O is found where contexts outnumber features: `convex`, `weighted`, `paper`, or `joint` with W_U."""
    random_starts: Annotated[int, Field(ge=0, le=1000)] = 2
    """Random initializations of the encoder's fit, in addition to f_ls and f_wls."""
    encoder_steps: Annotated[int, Field(ge=1)] = 2000
    """L-BFGS steps of the encoder's fit."""
    steps: Annotated[int, Field(ge=1)] = 1000
    """L-BFGS steps of `convex`; twice as many for `joint`."""
    draws: Annotated[int, Field(ge=1)] = 3
    """Samples of attention at most; the next is drawn while rounding to the saved dtype costs more than 1e-6 nats."""
    score_std: Annotated[float | None, Field(gt=0)] = None
    """Standard deviation of attention scores. Default: chosen by the number of heads."""


class BestEncoderOptions(Options):
    algorithm: Algorithm = "joint"
    """L-BFGS over both factors, or over W with E at its optimum (variable projection)."""
    random_starts: Annotated[int, Field(ge=0, le=1000)] = 2
    """Random initializations, in addition to f_ls and f_wls."""
    trial_steps: Annotated[int, Field(ge=1)] = 150
    """L-BFGS steps from every initialization."""
    steps: Annotated[int, Field(ge=1)] = 2000
    """L-BFGS steps from the best one."""


class WeightedOptions(Options):
    rounds: Annotated[int, Field(ge=1)] = 50
    """Alternating solves."""
