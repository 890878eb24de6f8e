"""`rote.readout`: more facts than Theorem 1 promises, by fitting W_O and W_U on fixed random attention.

Theorem 1 asks for E(t) exactly and so stores p facts, the rank of the features. An association asks only for the
strict maximum: W_O (through the exact skip gauge) and W_U are fitted by cross-entropy until the saved model itself, in
its own dtype, recalls every fact by more than its own rounding noise.

How many fit: about 2(dp + md) / log2 m for m answers, two bits per fitted number (measured, d >= 5); for two answers
this is Cover's 2p. It is an estimate: beyond it the construction says how many it stored, and fails.
"""

from __future__ import annotations

import math
import time
from typing import Any

import torch
from pydantic import Field
from torch import Tensor

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.constructions.dana2025.theorem1 import check_answers
from rote.constructions.parts.random_attention.codes import answer_code
from rote.constructions.parts.random_attention.setting import Setting
from rote.constructions.rote.fit import ReadoutFit, Whitened, fit_readout, whiten
from rote.errors import CheckFailed, InputError
from rote.measure.recall import margins, recall
from rote.measure.streaming import stream_logits
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model, dtype_named
from rote.tasks import AssociationTask
from rote.theory.dana2025 import promised
from rote.theory.readout_sizes import estimate, readout_spec
from rote.theory.sizes import task_rank

SCORE_STDS = (5.0, 10.0, 2.5)
"""Sharp enough to tell contexts apart, not so sharp that a head always looks at the same position: such a head's
features vanish, and the rank falls below what it should be."""

PATIENCE = {False: 5, True: 1}
"""Rounds without progress before a fit is given up: more heads are the better remedy where their number is open."""

SAFETY = 4.0
"""Every margin must exceed this many times the largest rounding error of a logit in the saved dtype."""


class ReadoutOptions(Options):
    """Settings of the fit."""

    steps: int = Field(default=3000, ge=1)
    """L-BFGS steps at most; the fit ends as soon as the saved model recalls everything."""
    score_std: float | None = Field(default=None, gt=0)
    """Standard deviation of attention scores; when absent 5, 10 and 2.5 are tried until heads are independent."""
    growths: int = Field(default=4, ge=0)
    """How often heads are added when a fit fails and their number was left open."""


def margin_and_noise(model: Model, task: AssociationTask) -> tuple[float, float]:
    """Smallest margin in the model's own dtype, and the largest rounding error of a logit against float64."""
    wide = model.to(torch.float64)
    answers = torch.from_numpy(task.answers).long()
    margin, noise, largest = math.inf, 0.0, 0.0
    for rows, logits in stream_logits(model, task):
        margin = min(margin, float(margins(logits, answers[rows]).nan_to_num(nan=-math.inf).min()))
        noise = max(noise, float((logits.double() - wide.logits(task.inputs(rows))).abs().max()))
        largest = max(largest, float(logits.abs().max()))
    return margin, max(noise, torch.finfo(model.dtype).eps * largest)


def _draw(
    task: AssociationTask, spec: AttentionOnly, request: Request, generator: torch.Generator
) -> tuple[Setting, Whitened]:
    """Attention whose features have the rank they should, or the best of three draws."""
    given = request.options.score_std
    expected = min(task.facts, task_rank(task.shape, spec.dim, spec.head_dim, spec.heads))
    best: tuple[Setting, Whitened] | None = None
    for score_std in SCORE_STDS if given is None else (given,):
        setting = Setting.draw(task, spec, dtype_named(request.dtype), score_std, generator, request.progress)
        white = whiten(setting.features)
        if best is None or white.rank > best[1].rank:
            best = setting, white
        if white.rank >= expected:
            break
    if best is None:
        raise InputError("score_std: there is no draw to fit")
    return best


def _attempt(
    task: AssociationTask, spec: AttentionOnly, request: Request, generator: torch.Generator
) -> tuple[Model, ReadoutFit, dict[str, Any]]:
    began = time.perf_counter()
    setting, white = _draw(task, spec, request, generator)
    classes, place = torch.unique(torch.from_numpy(task.answers).long(), return_inverse=True)
    # Tokens that are nobody's answer share one row, a class that is never right, so that they never win.
    never = int(len(classes) < spec.vocab)
    code = torch.zeros(len(classes) + never, spec.dim, dtype=torch.float64)
    code[: len(classes)] = answer_code(len(classes), spec.dim, generator)

    def exported(solved: Tensor, unembed: Tensor) -> Model:
        every = unembed[-1:].repeat(spec.vocab, 1)
        every[classes] = unembed[: len(classes)]
        return setting.model(solved, every)

    def accept(solved: Tensor, unembed: Tensor) -> bool:
        margin, noise = margin_and_noise(exported(solved, unembed), task)
        return margin > SAFETY * noise

    fit = fit_readout(
        white, place, code, accept,
        steps=request.options.steps, patience=PATIENCE[request.heads is None], progress=request.progress,
    )  # fmt: skip
    model = exported(fit.output, fit.unembed)
    margin, noise = margin_and_noise(model, task)
    measured = {
        "rank": white.rank,
        "estimate": estimate(task.shape, spec),
        "evaluations": fit.evaluations,
        "margin": margin,
        "rounding_noise": noise,
        "seconds": round(time.perf_counter() - began, 3),
    }
    return model, fit, measured


def build_readout(request: Request) -> Draft:
    if not isinstance(request.task, AssociationTask):
        raise InputError(f"rote.readout stores an AssociationTask, not a {type(request.task).__name__}")
    task = request.task.majority()
    spec = readout_spec(task.shape, request.dim, request.head_dim, request.heads)
    check_answers(task, spec)
    generator = torch.Generator().manual_seed(request.seed)
    failed = ""
    for growth in range(1 + (request.options.growths if request.heads is None else 0)):
        model, fit, measured = _attempt(task, spec, request, generator)
        if fit.accepted:
            told = {"growths": growth, "promised_by_theorem1": promised(spec), **measured}
            return Draft(model, "rote.readout", measured["estimate"], told)
        stored = recall(model, task).recalled
        failed = _failure(task, spec, request, stored, measured)
        spec = spec.model_copy(update={"heads": spec.heads + max(1, round(0.12 * spec.heads))})
    raise CheckFailed(failed)


def _failure(
    task: AssociationTask, spec: AttentionOnly, request: Request, stored: int, measured: dict[str, Any]
) -> str:
    if stored == task.facts:
        outcome = (
            f"all {task.facts} facts are recalled in {request.dtype}, but the smallest margin {measured['margin']:.2g} "
            f"is not {SAFETY:g} times the rounding noise {measured['rounding_noise']:.2g}"
        )
    else:
        outcome = f"{stored} of {task.facts} facts are stored in {request.dtype}"
    return (
        f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: {outcome} after {measured['evaluations']} "
        f"evaluations. The estimate 2(dp + md)/log2 m for this model is {measured['estimate']} facts (p = "
        f"{measured['rank']}). Give more heads or a larger dim, leave --heads out, or allow more steps"
    )


register(
    Construction(
        id="rote.readout",
        summary="more facts than Theorem 1: random attention, W_O and W_U fitted by cross-entropy",
        source="rote; skip gauge of dana2025.theorem1, about two bits per fitted number",
        tasks=(AssociationTask,),
        build=build_readout,
        options=ReadoutOptions,
    )
)
