"""One attempt of `rote.readout`: random attention, a fitted readout, and the model that is saved."""

from __future__ import annotations

import math
import time
from typing import Any

import torch
from torch import Tensor

from rote.constructions.common.random_attention.codes import answer_code
from rote.constructions.common.random_attention.draw import FOR_FITS
from rote.constructions.common.random_attention.setting import AttentionSetting
from rote.constructions.common.whitening import Whitened, whiten
from rote.constructions.construction import Request
from rote.constructions.rote.fit import ReadoutFit, fit_readout
from rote.constructions.rote.options import SAFETY, ReadoutOptions
from rote.errors import InputError
from rote.measure.matching import stream_logits
from rote.measure.recall import margins
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model, dtype_named
from rote.tasks import AssociationTask
from rote.theory.rote_readout import estimate
from rote.theory.sizes import task_rank

PATIENCE = {False: 5, True: 1}
"""Rounds without progress before a fit is given up: more heads are the better remedy where their number is open."""


def margin_and_noise(model: Model, task: AssociationTask) -> tuple[float, float]:
    """Smallest margin in the model's own dtype, and the largest rounding error of a logit against float64."""
    wide = model.to(torch.float64)
    answers = torch.from_numpy(task.answers).long()
    margin, noise, largest = math.inf, 0.0, 0.0
    for (rows, logits), (_, exact) in zip(stream_logits(model, task), stream_logits(wide, task), strict=True):
        margin = min(margin, float(margins(logits, answers[rows]).nan_to_num(nan=-math.inf).min()))
        noise = max(noise, float((logits.double() - exact).abs().max()))
        largest = max(largest, float(logits.abs().max()))
    return margin, max(noise, torch.finfo(model.dtype).eps * largest)


def _draw(
    task: AssociationTask,
    spec: AttentionOnly,
    request: Request[AssociationTask, ReadoutOptions],
    generator: torch.Generator,
) -> tuple[AttentionSetting, Whitened]:
    """Attention whose features have the rank they should, or the best of three draws."""
    given = request.options.score_std
    expected = min(task.facts, task_rank(task.shape, spec.dim, spec.head_dim, spec.heads))
    best: tuple[AttentionSetting, Whitened] | None = None
    for score_std in FOR_FITS if given is None else (given,):
        setting = AttentionSetting.draw(task, spec, dtype_named(request.dtype), score_std, generator, request.progress)
        white = whiten(setting.features)
        if best is None or white.rank > best[1].rank:
            best = setting, white
        if white.rank >= expected:
            break
    if best is None:
        raise InputError("score_std: there is no draw to fit")
    return best


def attempt(
    task: AssociationTask,
    spec: AttentionOnly,
    request: Request[AssociationTask, ReadoutOptions],
    generator: torch.Generator,
) -> tuple[Model, ReadoutFit, dict[str, Any]]:
    """Draw attention, fit its readout, and measure the model in the dtype that is saved."""
    began = time.perf_counter()
    setting, white = _draw(task, spec, request, generator)
    classes, answers = torch.unique(torch.from_numpy(task.answers).long(), return_inverse=True)
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
        white, answers, code, accept,
        steps=request.options.steps, patience=PATIENCE[request.heads is None], progress=request.progress,
        deadline=request.deadline,
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
