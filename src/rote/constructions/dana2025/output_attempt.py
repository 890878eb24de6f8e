"""Theorem 1 with room to spare: W_U is drawn with attention, and W_O alone is solved for.

With as many features of heads as facts, Hw >= T, the skip connection need not take part: the codes of answers are the
rows of W_U, up to a factor, and W_O moves the stream from x_S to each fact's target. Then nothing that is drawn, W_U
included, depends on which answer any fact has, and models that store different answers from one random initialization
differ in W_O alone.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from rote.constructions.dana2025.output_system import OutputSystem
from rote.constructions.dana2025.solution import Attempt, Wanted
from rote.models.attention_only import AttentionOnly
from rote.progress import Progress
from rote.tasks import AssociationTask


def output_attempt(
    attempt: Attempt, task: AssociationTask, spec: AttentionOnly, code_seed: int, progress: Progress
) -> Attempt:
    """The same attention, with W_U from the codes and W_O solved for alone."""
    if attempt.weights is None:
        return attempt
    rows = torch.arange(task.facts)
    weights, condition = solved_output(attempt.weights, spec, task, rows, code_seed, progress)
    measured = {name: attempt.measured[name] for name in ("score_std", "seconds") if name in attempt.measured}
    return replace(attempt, weights=weights, measured={**measured, "condition": condition}, choices={"code": 0})


def solved_output(
    attention: dict[str, Tensor],
    spec: AttentionOnly,
    task: AssociationTask,
    kept: Tensor,
    code_seed: int,
    progress: Progress,
) -> tuple[dict[str, Tensor] | None, float]:
    """Weights that store the rows `kept` of a task, and the condition number of the solve; none if it is too large."""
    contexts = torch.from_numpy(task.contexts).long()[kept]
    system = OutputSystem(spec, attention, contexts, progress)
    if not system.solvable:
        return None, math.inf
    wanted = Wanted.draw(task, spec.dim, 1, code_seed, every_token=spec.dim > 1)
    # Streams as long as x_S is wide, so that adding up to one rounds no more than x_S does.
    size = math.sqrt(spec.dim)
    dtype = attention["tokens"].dtype
    unembed = torch.zeros(spec.vocab, spec.dim, dtype=torch.float64)
    unembed[wanted.answers] = wanted.codes[0] / size
    last = (attention["positions"][-1] + attention["tokens"][contexts[:, -1]]).double()
    output = system.change(torch.arange(len(kept)), wanted.right[kept] * size - last)
    names = ("tokens", "positions", "layers.0.query", "layers.0.key", "layers.0.value")
    solved = {"layers.0.output": output.to(dtype), "unembed": unembed.to(dtype)}
    return {**{name: attention[name] for name in names}, **solved}, system.condition
