"""A model as llama.cpp's Llama with matrices in blocks, and what llama.cpp computes with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.export.common.gguf_blocks import BLOCKS, decoded, encoded, rounded_inputs
from rote.export.common.norm_trick import constant_for
from rote.export.common.normal_form import NormalForm, normal_form
from rote.export.common.places import pairs_of
from rote.export.common.temperature import bias_below, gain_for
from rote.export.subject import ExportSubject
from rote.export.targets.llama import LlamaShape, llama_state

MATRICES = ("q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight", "lm_head.weight")
"""Ends of the names of what is in blocks."""


def block_shape(form: NormalForm, block: int) -> LlamaShape:
    """Sizes whose rows are whole blocks: the stream's width, and the width of all heads together.

    Heads have 4^n dimensions where that takes few more: scores are divided by the root, then a power of two.
    """
    quarter = block // 4
    constants = quarter * -(-form.dim // (3 * quarter))
    head_dim = form.head_dim + form.head_dim % 2
    if (power := 4 ** math.ceil(math.log(head_dim, 4) - 1e-9)) <= 2 * head_dim:
        head_dim = power
    together = block // math.gcd(block, head_dim)
    return LlamaShape(together * -(-form.heads // together), head_dim, constants, max(1, form.width))


LARGEST_SCALE = 2.0**15
"""A power of two below the largest float16, 65,504."""


@dataclass(frozen=True, eq=False)
class BlockState:
    """Tensors of a GGUF file: matrices as bytes, and everything as the numbers that those stand for."""

    format: str
    shape: LlamaShape
    gain: float
    plain: dict[str, Tensor]
    """The tensors before they are put into blocks."""
    encoded: dict[str, np.ndarray]

    @classmethod
    def of(cls, subject: ExportSubject, format: str, size: int) -> BlockState:
        pairs, gain, form = pairs_of(subject.contexts), _gain(subject, format), normal_form(subject.model)
        shape = block_shape(form, BLOCKS[format])
        constant = constant_for(form.largest_square(torch.from_numpy(subject.contexts)))
        plain = llama_state(form, shape, subject, pairs, size, gain, constant)
        steps = _steps(subject, shape, gain)
        data = {
            name: encoded(tensor.numpy(), format, _of_rows(steps.get(name), len(tensor)))
            for name, tensor in plain.items()
            if name.endswith(MATRICES)
        }
        return cls(format, shape, gain, plain, data)

    @property
    def state(self) -> dict[str, Tensor]:
        """The tensors that are not in blocks."""
        return self.plain

    @cached_property
    def numbers(self) -> dict[str, Tensor]:
        """Every tensor as llama.cpp reads it."""
        read = {name: torch.from_numpy(decoded(data, self.format)) for name, data in self.encoded.items()}
        return self.plain | read

    def logits(self, ids: Integer[Tensor, "batch context"]) -> Float[Tensor, "batch vocab"]:
        """What llama.cpp computes, up to the order of its sums: inputs of matrices are rounded to 8 bits."""
        of, shape = self.numbers, self.shape
        x = of["model.embed_tokens.weight"][ids]
        later = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        number = 0
        while f"model.layers.{number}.self_attn.q_proj.weight" in of:
            part = f"model.layers.{number}."
            read = rounded_inputs(_normed(x, of[part + "input_layernorm.weight"]), self.format)
            query, key, value = (
                (read @ of[f"{part}self_attn.{kind}_proj.weight"].T).unflatten(-1, (shape.heads, shape.head_dim))
                for kind in ("q", "k", "v")
            )
            scores = torch.einsum("bshk,bthk->bhst", query, key) / math.sqrt(shape.head_dim)
            mixed = torch.einsum("bhst,bthk->bshk", scores.masked_fill(later, -math.inf).softmax(-1), value)
            x = x + rounded_inputs(mixed.flatten(2), self.format) @ of[part + "self_attn.o_proj.weight"].T
            number += 1
        read = rounded_inputs(_normed(x[:, -1], of["model.norm.weight"]), self.format)
        return read @ of["lm_head.weight"].T


def _normed(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight


def _of_rows(step: np.ndarray | None, rows: int) -> np.ndarray | None:
    """Steps of all rows; rows beyond those that are given are empty."""
    if step is None:
        return None
    whole = np.zeros(rows, np.float32)
    whole[: len(step)] = step
    return whole


def _gain(subject: ExportSubject, format: str) -> float:
    """The gain of the logits, as large as the float16 scales of the format can write: TQ's are the largest weight."""
    gain = gain_for(subject)
    while format.startswith("TQ") and gain > 1 and -bias_below(subject, gain) > LARGEST_SCALE:
        gain /= 2
    return gain


def _steps(subject: ExportSubject, shape: LlamaShape, gain: float) -> dict[str, np.ndarray]:
    """The grid of each row of a matrix, in float32, for models whose tensors are on grids."""
    model, precision = subject.model, subject.model.precision
    if precision is None:
        return {}
    found: dict[str, np.ndarray] = {}
    spec = model.spec
    scaled = 1 / math.sqrt(getattr(spec, "rank", 1)) if getattr(spec, "scale_scores", False) else 1.0
    rows = shape.heads * shape.head_dim
    for number in range(getattr(spec, "layers", 1)):
        for kind, factor in (("query", scaled * math.sqrt(shape.head_dim)), ("key", 1.0), ("value", 1.0)):
            scales = precision.grids[f"layers.{number}.{kind}"].scales.astype(np.float32)
            if scales.size == 1:
                name = f"model.layers.{number}.self_attn.{kind[0]}_proj.weight"
                found[name] = np.full(rows, np.float32(factor) * scales.reshape(-1)[0])
        scales = precision.grids[f"layers.{number}.output"].scales.astype(np.float32)
        if scales.shape[0] == scales.shape[2] == 1:
            each = np.broadcast_to(scales[0, :, 0], (spec.dim or 1,))
            found[f"model.layers.{number}.self_attn.o_proj.weight"] = each
    scales = precision.grids["unembed"].scales.astype(np.float32)
    if scales.size == 1:
        found["lm_head.weight"] = np.full(spec.vocab or 1, np.float32(gain) * scales.reshape(-1)[0])
    return found
