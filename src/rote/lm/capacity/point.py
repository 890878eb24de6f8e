"""One load of the capacity measurement: a fresh module trained on so many strings, and how many bits of them it holds.

    held = counted tokens x log2 V - code length under the trained module

The check: fresh strings of the same form must give zero gain. An overconfident model pays dearly for them, so one
temperature is fitted on half of the fresh strings and the other half is coded with it. That gain must be zero or less,
up to what chance explains.

Rounding measures how much survives lower precision. Floating-point formats round every weight by itself. Q8_0, Q5_0 and
Q4_0 are those of GGUF: whole numbers of 8, 5 and 4 bits times one float16 scale per 32 neighbours in a row, which the
largest of them determines (8.5, 5.5 and 4.5 bits per weight).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from rote.lm.capacity.strings import StringShape, random_strings
from rote.lm.capacity.subjects import MeterSubject, logits_of
from rote.lm.capacity.training import LOGITS_AT_ONCE, code_length, train
from rote.lm.language_model import ParameterCount, count_parameters

ROUNDINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "float16": lambda weight: weight.half().to(weight.dtype),
    "bfloat16": lambda weight: weight.bfloat16().to(weight.dtype),
    "Q8_0": lambda weight: in_blocks(weight, 8),
    "Q5_0": lambda weight: in_blocks(weight, 5),
    "Q4_0": lambda weight: in_blocks(weight, 4),
}


@torch.no_grad()
def after_rounding(module: nn.Module, measure: Callable[[], float]) -> dict[str, float]:
    """What `measure` gives for each rounding of the weights that are trained; the module is left as it was."""
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    kept = [weight.clone() for weight in weights]
    measured = {}
    for name, rounding in ROUNDINGS.items():
        for weight, own in zip(weights, kept, strict=True):
            weight.copy_(rounding(own))
        measured[name] = measure()
    for weight, own in zip(weights, kept, strict=True):
        weight.copy_(own)
    return measured


BLOCK = 32
"""Neighbours that share a scale."""


def in_blocks(weight: Tensor, bits: int) -> Tensor:
    """The weights as GGUF's Q8_0, Q5_0 or Q4_0 hold them; a block at the end of a row may be shorter."""
    rows = weight.reshape(-1, weight.shape[-1]) if weight.dim() else weight.reshape(1, 1)
    blocks = functional.pad(rows, (0, -rows.shape[1] % BLOCK)).reshape(len(rows), -1, BLOCK)
    most = 2 ** (bits - 1)
    if bits == 8:
        low, step = 1 - most, blocks.abs().amax(-1, keepdim=True) / (most - 1)
    else:
        low, step = -most, blocks.gather(-1, blocks.abs().argmax(-1, keepdim=True)) / -most
    kept = step.half().to(weight.dtype)
    codes = (blocks / torch.where(step == 0, 1, step)).round().clamp(low, most - 1)
    return (codes * kept).reshape(len(rows), -1)[:, : rows.shape[1]].reshape(weight.shape)


def trained_parameters(module: nn.Module) -> ParameterCount:
    """The parameters that training changes: all of them, or those of the adapters on a frozen module."""
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    if len(trained) == len(list(module.parameters())):
        return count_parameters(module)
    return ParameterCount(sum(weight.numel() for weight in trained), 0)


FRESH_SEED = 1_000_003
FRESH_STRINGS = 4096
TEMPERATURES = tuple(2.0**power for power in range(11))
"""The largest makes every token all but equally likely, which costs exactly what the tokens carry."""
ALLOWED_ERRORS = 4.0
"""Standard errors above zero that the gain on fresh strings may come out by chance."""


@dataclass(frozen=True)
class LmCapacityPoint:
    """What one trained module held."""

    strings: int
    steps: int
    rate: float
    seed: int
    parameters: int
    embeddings: int
    offered: float
    """Bits in the strings' counted tokens."""
    held: float
    """Of which the module saves so many."""
    recalled: int
    """Counted tokens whose logit is strictly the largest."""
    tokens: int
    fresh_gain: float
    """Bits per token that fresh strings gain, at the fitted temperature."""
    fresh_error: float
    """Standard error of that gain."""
    diverged: bool
    seconds: float
    """Processor time of training."""
    rounded: dict[str, float]
    """Bits held when the weights are rounded, by the rounding's name."""

    @property
    def complete(self) -> bool:
        return self.recalled == self.tokens

    @property
    def fresh_is_nothing(self) -> bool:
        """Whether the check holds: strings that were never seen earn nothing."""
        return self.fresh_gain <= ALLOWED_ERRORS * self.fresh_error

    def summary(self) -> dict[str, Any]:
        return asdict(self)


def measure_point(
    subject: MeterSubject,
    shape: StringShape,
    strings: int,
    steps: int,
    rate: float,
    seed: int,
    each: Callable[[int], None] = lambda step: None,
) -> LmCapacityPoint:
    """Train a fresh module on random strings and read off what it holds. The seed gives both."""
    torch.manual_seed(seed)
    module = subject.make()
    counted = trained_parameters(module)
    ids = random_strings(shape, strings, seed)
    began = time.process_time()
    outcome = train(module, ids, shape, steps, rate, each)
    seconds = time.process_time() - began
    offered = strings * shape.bits
    common = {
        "strings": strings, "steps": steps, "rate": rate, "seed": seed, "parameters": counted.total,
        "embeddings": counted.embeddings, "offered": offered, "tokens": strings * shape.counted,
        "seconds": round(seconds, 2),
    }  # fmt: skip
    if outcome.diverged:
        return LmCapacityPoint(
            **common, held=0.0, recalled=0, fresh_gain=0.0, fresh_error=0.0, diverged=True, rounded={}
        )
    with torch.no_grad():
        held = _held(module, ids, shape)
        gain, error = _fresh_gain(module, shape, seed)
        recalled = sum(_recalled(module, part, shape) for part in _parts(ids, shape))
        rounded = after_rounding(module, lambda: _held(module, ids, shape))
    return LmCapacityPoint(
        **common, held=held, recalled=recalled, fresh_gain=gain, fresh_error=error, diverged=False, rounded=rounded
    )


def _held(module: nn.Module, ids: Tensor, shape: StringShape) -> float:
    """Bits that the module saves, at least zero."""
    spent = sum(float(code_length(module, part, shape)) for part in _parts(ids, shape)) / math.log(2)
    return max(0.0, len(ids) * shape.bits - spent)


def _parts(ids: Tensor, shape: StringShape) -> tuple[Tensor, ...]:
    return ids.split(max(1, LOGITS_AT_ONCE // (shape.length * shape.vocab)))


def _recalled(module: nn.Module, ids: Tensor, shape: StringShape) -> int:
    logits = logits_of(module, ids[:, :-1])[:, shape.key - 1 :]
    own = logits.gather(2, ids[:, shape.key :, None])
    return int(((logits >= own).sum(2) == 1).sum())


def _fresh_gain(module: nn.Module, shape: StringShape, seed: int) -> tuple[float, float]:
    """Bits per token gained on fresh strings, and the standard error; half fit a temperature, half are coded.

    Keys of training may recur in fresh strings: their continuations do not.
    """
    fresh = random_strings(shape, min(FRESH_STRINGS, shape.vocab**shape.key), seed + FRESH_SEED)
    logits = torch.cat([logits_of(module, part[:, :-1])[:, shape.key - 1 :] for part in _parts(fresh, shape)]).double()
    wanted, half = fresh[:, shape.key :], len(fresh) // 2

    def costs(rows: slice, temperature: float) -> Tensor:
        scaled = (logits[rows] / temperature).flatten(0, 1)
        return functional.cross_entropy(scaled, wanted[rows].flatten(), reduction="none") / math.log(2)

    best = min(TEMPERATURES, key=lambda temperature: float(costs(slice(half), temperature).mean()))
    gains = math.log2(shape.vocab) - costs(slice(half, None), best)
    error = float(gains.std() / math.sqrt(len(gains))) if len(gains) > 1 else math.inf
    return float(gains.mean()), error
