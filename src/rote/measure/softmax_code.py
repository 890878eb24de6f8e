"""Bits a model holds by the code its logits give: the measure for trained models, which are rarely all or nothing.

Someone who has the model needs -log2 softmax(beta logits)[answer] further bits a fact, with one inverse temperature
beta for all facts. The facts' entropy less the shortest such code is what the model holds (in the manner of Allen-Zhu
and Li 2024, Morris et al. 2025). beta is fitted because only the argmax was trained or built for: a built model may be
right on every fact with logits of any scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Integer
from scipy.optimize import brentq
from torch import Tensor

from rote.arguments import typed
from rote.errors import InputError
from rote.measure.matching import for_model, stream_logits
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks.facts import Facts, facts

SAMPLE_FLOATS = 2**22
"""Logits kept in memory to find beta; with more facts than that, those of an even sample of them."""

PASSES = 40
"""Newton steps over all facts before giving up on the last digits; two or three are usual."""

BLOCK_FLOATS = 2**16
"""Logits worked on at once: half a megabyte in float64 stays in the cache through the eight steps on it."""

NOTHING = 1e-9
"""A code so short, in nats, might as well be empty."""

NEGLIGIBLE = 1e-9
"""Share of the code that another step must be expected to save."""


@dataclass(frozen=True)
class SoftmaxCode:
    """The shortest code found and what it says about the model."""

    entropy_bits: float
    """Bits in the answers, before anyone sees the model."""
    code_bits: float
    """Bits still needed beside the model."""
    inverse_temperature: float
    parameters: int

    @property
    def bits(self) -> float:
        """Bits the model holds; never negative."""
        return max(0.0, self.entropy_bits - self.code_bits)

    @property
    def bits_per_parameter(self) -> float:
        return self.bits / self.parameters


@typed
def softmax_code(
    model: Model,
    task: Facts,
    progress: Progress = SILENT,
    rows: int | None = None,
    sample_floats: int = SAMPLE_FLOATS,
) -> SoftmaxCode:
    """Code the task's answers with the model. Keys that occur more than once are coded once, by their commonest answer.

    One pass over the facts when their logits fit in memory; otherwise one to find beta on a sample and a few Newton
    steps on all of them, `rows` facts at a time.

    >>> import rote
    >>> task = rote.facts("random:vocab=6,context=2,facts=9,seed=1")
    >>> code = rote.softmax_code(rote.build(task).model, task)
    >>> code.code_bits < 1e-3 < code.bits_per_parameter
    True
    """
    task = for_model(facts(task), model).majority()
    bits = task.answer_bits
    if bits is None:
        raise InputError(
            f"softmax_code needs one answer per context, which these {task.kind} do not have; "
            "measure the divergence from distributions, or the error of real targets"
        )
    answers = torch.from_numpy(task.answers_to_recall()).long()

    def chunks() -> Iterator[tuple[Tensor, Tensor]]:
        for taken, logits in stream_logits(model, task, progress, "coding facts", rows):
            yield logits, answers[taken]

    sample, sampled = _sample(chunks(), task.facts, sample_floats)
    beta = best_inverse_temperature(lambda beta: code_length(sample, sampled, beta))
    if len(sampled) == task.facts:
        nats = code_length(sample, sampled, beta).nats
    else:
        beta, nats = _descend(lambda beta: _total(chunks(), beta), beta)
    return SoftmaxCode(bits, nats / math.log(2), beta, model.parameters)


class CodeLength(NamedTuple):
    """sum_t log sum_j exp(beta (l_tj - l_t,answer)) and its first two derivatives in beta; convex in beta."""

    nats: float
    slope: float
    curvature: float


def code_length(logits: Float[Tensor, "facts vocab"], answers: Integer[Tensor, " facts"], beta: float) -> CodeLength:
    """Length of the code at one inverse temperature, in float64."""
    rows = max(1, BLOCK_FLOATS // logits.shape[1])
    blocks = zip(logits.split(rows), answers.split(rows), strict=True)
    return _sum(_block_length(block, asked, beta) for block, asked in blocks)


def _block_length(logits: Tensor, answers: Tensor, beta: float) -> CodeLength:
    gaps = logits.double() - logits.gather(1, answers[:, None]).double()
    highest = gaps.amax(1, keepdim=True)
    if not bool(highest.isfinite().all()):
        # Not a number, or an answer with logit -inf: only the uniform code, beta = 0, has a length at all.
        facts, vocab = gaps.shape
        return CodeLength(math.inf if beta > 0 else facts * math.log(vocab), math.inf, math.inf)
    gaps.clamp_(min=-1e150)  # a logit of -inf must not turn 0 x inf into something that is not a number
    shares = (gaps - highest).mul_(beta).exp_()
    total = shares.sum(1)
    nats = (beta * highest.squeeze(1) + total.log()).sum()
    mean = shares.mul_(gaps).sum(1) / total
    spread = shares.mul_(gaps).sum(1) / total - mean.square()
    return CodeLength(float(nats), float(mean.sum()), float(spread.sum()))


def best_inverse_temperature(length: Callable[[float], CodeLength]) -> float:
    """The beta >= 0 at which a convex code length stops falling.

    Where every fact is recalled it falls for ever, and the beta that leaves a billionth of a nat will do.
    """
    if length(0.0).slope >= 0:
        return 0.0
    above = 1.0
    while (here := length(above)).slope < 0 and here.nats > NOTHING:
        above *= 8
    if here.slope < 0:
        return above
    below = above / 8
    while length(below).slope > 0:
        below /= 8
    root = brentq(lambda u: length(math.exp(u)).slope, math.log(below), math.log(above), xtol=1e-12)
    return math.exp(float(root))  # pyright: ignore[reportArgumentType]


def _descend(length: Callable[[float], CodeLength], beta: float) -> tuple[float, float]:
    """Newton's method on all facts from a sample's beta, kept between what is known to be too small and too large."""
    small, large = 0.0, math.inf
    best = (beta, math.inf)
    for _ in range(PASSES):
        here = length(beta)
        best = min(best, (beta, here.nats), key=lambda pair: pair[1])
        small, large = (beta, large) if here.slope < 0 else (small, beta)
        gain = here.slope**2 / here.curvature if 0 < here.curvature < math.inf else math.inf
        if here.nats <= NOTHING or gain <= NEGLIGIBLE * here.nats or (beta == 0 and here.slope >= 0):
            break
        step = beta - here.slope / here.curvature if gain < math.inf else math.nan
        if small < step < large and step <= 8 * beta:
            beta = step
        elif large == math.inf:
            beta = 8 * max(beta, 1e-3)
        else:
            beta = math.sqrt(small * large) if small > 0 else large / 8
        if beta < 1e-12:
            beta = 0.0
    return best


def _sample(chunks: Iterator[tuple[Tensor, Tensor]], facts: int, floats: int) -> tuple[Tensor, Tensor]:
    """Logits and answers of every fact, or of every n-th so that they fit in memory."""
    kept, kept_answers, start = [], [], 0
    for logits, answers in chunks:
        stride = max(1, math.ceil(facts * logits.shape[1] / floats))
        first = -start % stride
        kept.append(logits[first::stride].clone())
        kept_answers.append(answers[first::stride])
        start += len(answers)
    return torch.cat(kept), torch.cat(kept_answers)


def _total(chunks: Iterator[tuple[Tensor, Tensor]], beta: float) -> CodeLength:
    return _sum(code_length(logits, answers, beta) for logits, answers in chunks)


def _sum(parts: Iterable[CodeLength]) -> CodeLength:
    return CodeLength(*(sum(values) for values in zip(*parts, strict=True)))
