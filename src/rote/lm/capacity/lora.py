"""Adapters as the subject of a capacity estimate: the base is frozen, only A and B are trained and counted.

The base is random or trained first. A random base has embeddings of variance 1 and matrices of variance 1 / inputs: at
the stock initialization (0.02) the logits of a normalised state cannot differ by a bit, whatever an adapter does. A
trained base has memorized `BASE_LOAD` bits per parameter of other random strings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import nn

from rote.errors import InputError
from rote.lm.capacity.strings import StringShape, random_strings
from rote.lm.capacity.subjects import LmSizes, MeterSubject, subject
from rote.lm.capacity.training import train
from rote.lm.language_model import count_parameters
from rote.lm.lora import Modules, adapt, effective_parameters, matrices_of

Base = Literal["random", "trained"]
BASE_LOAD, BASE_STEPS, BASE_RATE = 1.0, 1000, 0.1
BASE_SEED = 2_000_003
"""Added to the seed for the strings that a trained base has memorized."""


@dataclass(frozen=True)
class Lora:
    """Adapters of one rank."""

    rank: int
    modules: Modules = "all"
    base: Base = "trained"


def adapted_subject(model: str, sizes: LmSizes, shape: StringShape, lora: Lora | None) -> MeterSubject:
    """The subject that is named, or the adapters on it."""
    made = subject(model, sizes, shape)
    if lora is None:
        return made
    if lora.rank < 1:
        raise InputError(f"`lora`: {lora.rank} is no rank; give a whole number from 1")
    shapes = matrices_of(made.make(), lora.modules)
    if not shapes:
        raise InputError(f"`modules`: {model} has no matrices named as {lora.modules!r} ones are")
    widest = max(map(min, shapes.values()))
    if lora.rank > widest:
        raise InputError(f"`lora`: rank {lora.rank} exceeds that of every matrix of {model}, {widest}; give less")

    def make() -> nn.Module:
        module = _base(model, sizes, shape, lora.base, int(torch.randint(2**31, ())))
        adapt(module, lora.rank, lora.modules)
        return module

    identity: dict[str, Any] = made.identity | {"lora": {"rank": lora.rank, "modules": lora.modules, "base": lora.base}}
    return MeterSubject(f"{model}, LoRA of rank {lora.rank}", make, identity)


def lora_parameters(model: str, sizes: LmSizes, shape: StringShape, lora: Lora) -> int:
    """Numbers of A and B that matter: without r^2 per matrix."""
    shapes = matrices_of(subject(model, sizes, shape).make(), lora.modules)
    return effective_parameters(list(shapes.values()), lora.rank)


def _base(model: str, sizes: LmSizes, shape: StringShape, kind: Base, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    module = subject(model, sizes, shape).make()
    if kind == "random":
        _scale(module)
    else:
        module.load_state_dict(_trained(model, sizes, shape, seed))
    return module


@lru_cache(maxsize=8)
def _trained(model: str, sizes: LmSizes, shape: StringShape, seed: int) -> dict[str, torch.Tensor]:
    """The weights of a base after its own training."""
    torch.manual_seed(seed)
    module = subject(model, sizes, shape).make()
    bits = min(BASE_LOAD * count_parameters(module).total, shape.bits * shape.vocab**shape.key)
    number = shape.strings_of(bits)
    outcome = train(module, random_strings(shape, number, seed + BASE_SEED), shape, BASE_STEPS, BASE_RATE)
    if outcome.diverged:
        raise InputError(f"{model}: training the base diverged at rate {BASE_RATE:g}; use a random base")
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}


def _scale(module: nn.Module) -> None:
    """Embeddings of variance 1, matrices of variance 1 / inputs."""
    for name, (inputs, _) in matrices_of(module, "all").items():
        nn.init.normal_(module.get_submodule(name).weight, std=1 / math.sqrt(inputs))  # type: ignore[arg-type]
    for part in module.modules():
        if isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight)
