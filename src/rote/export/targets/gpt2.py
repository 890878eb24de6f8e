"""`gpt2`: a plain GPT-2 checkpoint with its tokenizer and no code of its own.

GPT-2 has learned positions, so that tokens keep their ids. Its layer norm is undone in two steps. Two dimensions hold
C and -C, so that the variance is 2 C^2 / n up to |x|^2, and the norm's weight is C sqrt(2 / n). One dimension is always
0: after the norm it shows what was subtracted as the mean (and how that was rounded), and whatever reads the stream
adds it back. Its last norm has a bias, from which tokens that are only read get a logit that is never written.

The stream is as wide as all heads together. It is filled up where heads are few, and where they are many they are
spread over several layers: whatever gives fewest parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import safetensors.torch
import torch
from torch import Tensor
from torch.nn import functional

from rote.export.certificate import Condition
from rote.export.common.answer_chain import AnswerChain, chained
from rote.export.common.checkpoint import TRANSFORMERS, CheckpointRuntime, write_checkpoint
from rote.export.common.half_cache import half_conditions
from rote.export.common.norm_trick import constant_for, norm_conditions
from rote.export.common.normal_form import NormalForm, normal_form, refuse_other_architectures, spread
from rote.export.common.temperature import bias_below, gain_for
from rote.export.common.tokenizer import refuse_text, write_tokenizer
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target

EXTRA_DIMENSIONS = 3
"""Zero, C and -C."""


class Gpt2(Target):
    """Text in, `generate`, text out, in any process that has transformers."""

    id: ClassVar[str] = "gpt2"
    summary: ClassVar[str] = "plain GPT-2 checkpoint with tokenizer, no custom code"
    requirements: ClassVar[tuple[Requirement, ...]] = TRANSFORMERS
    extra: ClassVar[str | None] = "hf"
    sentences: ClassVar[bool] = True
    answer_words: ClassVar[bool] = True
    data: ClassVar[tuple[str, ...]] = ("model.safetensors",)
    caches: ClassVar[tuple[str, ...]] = ("float32", "float16")

    def refusals(self, subject: ExportSubject) -> list[str]:
        refused = refuse_other_architectures("a plain checkpoint", subject.model) or refuse_text(subject)
        read_back = subject.read_back
        if read_back is not None and (both := np.intersect1d(subject.contexts, read_back)).size:
            word = subject.spelling.tokens[int(both[0])]
            refused.append(
                f"{word!r} is both part of a key and an answer, and GPT-2 has one id for it; export to llama"
            )
        return refused

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        size = write_tokenizer(folder, subject, None)
        gain = gain_for(subject)
        form, shape, chain = arranged(subject, size)
        after = chain.largest_square if chain else 0.0
        constant = constant_for(max(after, form.largest_square(torch.from_numpy(subject.contexts))))
        state = gpt2_state(form, shape, subject.vocab, size, gain, constant, bias_below(subject, gain), chain)
        longest = subject.longest_answer
        write_checkpoint(folder, gpt2_config(form, shape, size), state, size - 1, longest)
        return Manifest(self.id, gain)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return CheckpointRuntime(folder, subject, manifest, self.versions)

    def conditions(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> tuple[Condition, ...]:
        embeddings = safetensors.torch.load_file(folder / "model.safetensors")["transformer.wte.weight"]
        shared = (embeddings == embeddings[0]).all(0) & (embeddings[0] != 0)
        form, _, chain = arranged(subject, len(embeddings))
        half = manifest.cache == "float16"
        return (
            *norm_conditions(form, subject, embeddings[0][shared], chain.largest_square if chain else 0.0),
            *(half_conditions(normal_form(subject.model), torch.from_numpy(subject.contexts)) if half else ()),
        )


@dataclass(frozen=True)
class Gpt2Shape:
    heads: int
    head_dim: int
    width: int

    @property
    def hidden(self) -> int:
        return self.heads * self.head_dim

    def parameters(self, layers: int, vocab: int, context: int) -> int:
        n = self.hidden
        per_layer = 4 * n * n + 4 * n + 2 * n * self.width + self.width + n + 4 * n
        return n * (2 * vocab + context + 2) + layers * per_layer


def arranged(subject: ExportSubject, vocab: int) -> tuple[NormalForm, Gpt2Shape, AnswerChain | None]:
    """The model with as many heads a layer as give fewest parameters, the sizes, and what follows an answer."""
    form, chain = chained(subject, None)
    choices = []
    for per_layer in range(1, form.heads + 1):
        split = per_layer < form.heads
        dim = form.dim + (form.written * len(form.layers) if split else 0)
        layers = sum(-(-len(layer.query) // per_layer) for layer in form.layers)
        head_dim = max(form.head_dim, -(-(dim + EXTRA_DIMENSIONS) // per_layer))
        shape = Gpt2Shape(per_layer, head_dim, max(1, form.width))
        choices.append((shape.parameters(layers, vocab, len(form.positions)), per_layer, shape))
    _, per_layer, shape = min(choices, key=lambda choice: choice[:2])
    return spread(form, per_layer), shape, chain


def gpt2_state(
    form: NormalForm,
    shape: Gpt2Shape,
    vocab: int,
    size: int,
    gain: float,
    constant: float,
    below: float,
    chain: AnswerChain | None = None,
) -> dict[str, Tensor]:
    """Tensors under the names of transformers' GPT-2 class, in float32."""
    dim, n = form.dim, shape.hidden
    zero, plus, minus = dim, dim + 1, dim + 2

    def zeros(*lengths: int) -> Tensor:
        return torch.zeros(*lengths, dtype=torch.float64)

    def reading(matrix: Tensor) -> Tensor:
        """A matrix (dim x outputs) as it stands behind a norm: the mean that was subtracted is added back."""
        whole = zeros(n, matrix.shape[1])
        whole[:dim], whole[zero] = matrix, -matrix.sum(0)
        return whole

    tokens, positions, unembed = zeros(size, n), zeros(len(form.positions) + 1, n), zeros(size, n)
    tokens[:vocab, :dim] = form.tokens[:vocab]
    positions[:-1, :dim] = form.positions
    tokens[:, plus], tokens[:, minus] = constant, -constant
    unembed[:vocab] = reading(form.unembed.T * gain).T
    unembed[vocab:, plus] = below
    if chain is not None:
        for row, vector in chain.embedded().items():
            tokens[row, :dim] = 0
            tokens[row, : len(vector)] = vector
        for row, vector in chain.unembedded(gain, below, size - 1).items():
            unembed[row] = reading(functional.pad(vector, (chain.first, dim - chain.first - len(vector)))[:, None]).T
            unembed[row, plus] = below
    undo, one = zeros(n), zeros(n)
    undo[: dim + 1] = constant * math.sqrt(2 / n)
    one[plus] = 1.0
    state = {
        "transformer.wte.weight": tokens,
        "transformer.wpe.weight": positions,
        "transformer.ln_f.weight": undo,
        "transformer.ln_f.bias": one,
        "lm_head.weight": unembed,
    }
    for number, layer in enumerate(form.layers):
        heads, rank, k = len(layer.query), layer.query.shape[1], layer.value.shape[1]
        inward, output = zeros(dim, 3, shape.heads, shape.head_dim), zeros(shape.heads, shape.head_dim, n)
        # transformers divides scores by the root of a head's dimensions.
        inward[:, 0, :heads, :rank] = layer.query.permute(2, 0, 1) * math.sqrt(shape.head_dim)
        inward[:, 1, :heads, :rank] = layer.key.permute(2, 0, 1)
        inward[:, 2, :heads, :k] = layer.value.permute(2, 0, 1)
        output[:heads, :k, :dim] = layer.output.permute(0, 2, 1)
        neurons, bias, back = zeros(n, shape.width), zeros(shape.width), zeros(shape.width, n)
        if layer.mlp is not None:
            neurons, bias, back[:, :dim] = reading(layer.mlp.inward.T), layer.mlp.bias, layer.mlp.outward.T
        part = f"transformer.h.{number}."
        state |= {
            part + "ln_1.weight": undo,
            part + "ln_1.bias": zeros(n),
            part + "attn.c_attn.weight": reading(inward.reshape(dim, 3 * n)),
            part + "attn.c_attn.bias": zeros(3 * n),
            part + "attn.c_proj.weight": output.reshape(n, n),
            part + "attn.c_proj.bias": zeros(n),
            part + "ln_2.weight": undo,
            part + "ln_2.bias": zeros(n),
            part + "mlp.c_fc.weight": neurons,
            part + "mlp.c_fc.bias": bias,
            part + "mlp.c_proj.weight": back,
            part + "mlp.c_proj.bias": zeros(n),
        }
    return {name: tensor.float().clone() for name, tensor in state.items()}


def gpt2_config(form: NormalForm, shape: Gpt2Shape, size: int) -> dict[str, Any]:
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": size,
        "n_positions": len(form.positions) + 1,
        "n_ctx": len(form.positions) + 1,
        "n_embd": shape.hidden,
        "n_layer": len(form.layers),
        "n_head": shape.heads,
        "n_inner": shape.width,
        "activation_function": form.activation,
        "layer_norm_epsilon": 1e-5,
        "attn_pdrop": 0.0,
        "embd_pdrop": 0.0,
        "resid_pdrop": 0.0,
        "scale_attn_weights": True,
        "tie_word_embeddings": False,
        "use_cache": True,
        "torch_dtype": "float32",
        "dtype": "float32",
    }
