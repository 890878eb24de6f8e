"""`llama`: a plain Mistral or Llama checkpoint, whichever is smaller, with its tokenizer and no code of its own.

Both normalise what every layer reads and turn queries and keys by their positions; rote's models do neither. All of it
is undone exactly, but for rounding:

*Norm.* The stream has 4m dimensions, m of which hold the constant C, so that its mean square is C^2 / 4 up to |x|^2 and
the norm divides by C / 2. Its weight is C / 2 on the dimensions of x, which undoes that, and 0 on the constant, which
hides it from the heads. C is a power of two: where |x|^2 < 2^-24 m C^2, nothing is rounded. The last norm turns one
constant into 1, so that the unembedding has a bias: tokens that are only read are never written.

*Positions.* Rotary angles are divided by 10^30 (linear scaling), so that nothing turns. Places are ids of their own
(`parts.places`).

*MLPs.* Both multiply the neurons by a second matrix, here the constant 1.

*Heads.* Mistral takes any number of heads, Llama those that divide the stream's width; heads that do not are spread
over several layers (`spread`), and are scaled so that the cache of keys and values may be float16.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import safetensors.torch
import torch
from torch import Tensor

from rote.export.certificate import Condition
from rote.export.common.checkpoint import TRANSFORMERS, CheckpointRuntime, write_checkpoint
from rote.export.common.half_cache import half_conditions, within_half
from rote.export.common.norm_trick import ROUNDING, constant_for, norm_conditions
from rote.export.common.normal_form import NormalForm, normal_form, refuse_other_architectures, spread
from rote.export.common.places import Pairs, inputs_of, pairs_of
from rote.export.common.temperature import bias_below, gain_for
from rote.export.common.tokenizer import refuse_text, write_tokenizer
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target

TURN_DIVISOR = 1e30


class Llama(Target):
    """Text in, `generate`, text out, in any process that has transformers."""

    id: ClassVar[str] = "llama"
    summary: ClassVar[str] = "plain Mistral or Llama checkpoint with tokenizer, no custom code"
    requirements: ClassVar[tuple[Requirement, ...]] = TRANSFORMERS
    extra: ClassVar[str | None] = "hf"
    sentences: ClassVar[bool] = True
    data: ClassVar[tuple[str, ...]] = ("model.safetensors",)
    caches: ClassVar[tuple[str, ...]] = ("float32", "float16")

    def refusals(self, subject: ExportSubject) -> list[str]:
        return refuse_other_architectures("a plain checkpoint", subject.model) or refuse_text(subject)

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        pairs = pairs_of(subject.contexts)
        size = write_tokenizer(folder, subject, pairs)
        gain = gain_for(subject)
        contexts = torch.from_numpy(subject.contexts)
        kind, form = smallest(within_half(normal_form(subject.model), contexts), size)
        constant = constant_for(form.largest_square(contexts))
        shape = LlamaShape.of(form, kind)
        state = llama_state(form, shape, subject, pairs, size, gain, constant)
        write_checkpoint(folder, llama_config(kind, form, shape, size), state, size - 1)
        return Manifest(self.id, gain, pairs)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return CheckpointRuntime(folder, subject, manifest, self.versions)

    def conditions(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> tuple[Condition, ...]:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        whole, contexts = normal_form(subject.model), torch.from_numpy(subject.contexts)
        _, form = smallest(whole, config["vocab_size"])
        angle = subject.spelling.context / config["rope_scaling"]["factor"]
        return (
            *norm_conditions(form, subject, _constants(folder)),
            Condition(name="largest rotary angle", value=angle, below=ROUNDING),
            *(half_conditions(whole, contexts) if manifest.cache == "float16" else ()),
        )


@dataclass(frozen=True)
class LlamaShape:
    """Sizes of a checkpoint."""

    heads: int
    head_dim: int
    constants: int
    """m: dimensions that hold the constant."""
    width: int

    @property
    def hidden(self) -> int:
        return 4 * self.constants

    @classmethod
    def of(cls, form: NormalForm, kind: str) -> LlamaShape:
        constants = -(-form.dim // 3)
        if kind == "llama":
            while 4 * constants % form.heads:
                constants += 1
        return cls(form.heads, form.head_dim + form.head_dim % 2, constants, max(1, form.width))

    def parameters(self, layers: int, vocab: int) -> int:
        per_layer = 4 * self.heads * self.head_dim + 3 * self.width + 2
        return self.hidden * (2 * vocab + layers * per_layer + 1)


def smallest(form: NormalForm, vocab: int) -> tuple[str, NormalForm]:
    """Mistral's class, or Llama's with heads spread over as few layers as give fewest parameters; Llama's in a tie."""
    choices: list[tuple[int, str, int]] = []
    for per_layer in range(1, form.heads + 1):
        # Sizes alone decide: only the form that is chosen gets its tensors.
        split = per_layer < form.heads
        dim = form.dim + (form.written * len(form.layers) if split else 0)
        layers = sum(-(-len(layer.query) // per_layer) for layer in form.layers)
        constants = -(-dim // 3)
        while 4 * constants % per_layer:
            constants += 1
        shape = LlamaShape(per_layer, form.head_dim + form.head_dim % 2, constants, max(1, form.width))
        choices.append((shape.parameters(layers, vocab), "llama", per_layer))
    choices.append((LlamaShape.of(form, "mistral").parameters(len(form.layers), vocab), "mistral", form.heads))
    _, kind, per_layer = min(choices)
    return kind, spread(form, per_layer)


def _constants(folder: Path) -> Tensor:
    """The constants of the stream: what all embeddings share."""
    embeddings = safetensors.torch.load_file(folder / "model.safetensors")["model.embed_tokens.weight"]
    shared = (embeddings == embeddings[0]).all(0)
    return embeddings[0][shared & (embeddings[0] != 0)]


def llama_state(
    form: NormalForm,
    shape: LlamaShape,
    subject: ExportSubject,
    pairs: Pairs | None,
    size: int,
    gain: float,
    constant: float,
) -> dict[str, Tensor]:
    """Tensors under the names of transformers' Llama and Mistral classes, in float32."""
    vocab, dim, hidden = len(form.tokens), form.dim, shape.hidden
    first = hidden - shape.constants
    embed = torch.zeros(size, hidden, dtype=torch.float64)
    embed[:, first:] = constant
    for (token, position), row in inputs_of(subject.contexts, pairs, vocab).items():
        embed[row, :dim] = form.tokens[token] + form.positions[position]
    unembed = torch.zeros(size, hidden, dtype=torch.float64)
    unembed[:vocab, :dim] = form.unembed * gain
    unembed[vocab:, first] = bias_below(subject, gain)
    undo = torch.zeros(hidden, dtype=torch.float64)
    undo[:dim] = constant / 2
    with_one = undo.clone()
    with_one[first] = 0.5
    state = {"model.embed_tokens.weight": embed, "model.norm.weight": with_one, "lm_head.weight": unembed}
    for number, layer in enumerate(form.layers):
        query, key, value = (torch.zeros(shape.heads, shape.head_dim, hidden, dtype=torch.float64) for _ in range(3))
        output = torch.zeros(hidden, shape.heads, shape.head_dim, dtype=torch.float64)
        heads, rank, k = len(layer.query), layer.query.shape[1], layer.value.shape[1]
        # transformers divides scores by the root of a head's dimensions.
        query[:heads, :rank, :dim] = layer.query * math.sqrt(shape.head_dim)
        key[:heads, :rank, :dim] = layer.key
        value[:heads, :k, :dim] = layer.value
        output[:dim, :heads, :k] = layer.output.permute(1, 0, 2)
        gate, up = (torch.zeros(shape.width, hidden, dtype=torch.float64) for _ in range(2))
        down = torch.zeros(hidden, shape.width, dtype=torch.float64)
        if layer.mlp is not None:
            gate[:, :dim], gate[:, first], up[:, first] = layer.mlp.inward, layer.mlp.bias, 1.0
            down[:dim] = layer.mlp.outward
        part = f"model.layers.{number}."
        state |= {
            part + "input_layernorm.weight": undo,
            part + "self_attn.q_proj.weight": query.reshape(-1, hidden),
            part + "self_attn.k_proj.weight": key.reshape(-1, hidden),
            part + "self_attn.v_proj.weight": value.reshape(-1, hidden),
            part + "self_attn.o_proj.weight": output.reshape(hidden, -1),
            part + "post_attention_layernorm.weight": with_one,
            part + "mlp.gate_proj.weight": gate,
            part + "mlp.up_proj.weight": up,
            part + "mlp.down_proj.weight": down,
        }
    return {name: tensor.float().clone() for name, tensor in state.items()}


def llama_config(kind: str, form: NormalForm, shape: LlamaShape, size: int) -> dict[str, Any]:
    """Rotary settings stand under the names of transformers 5 and under those of earlier releases."""
    turn = {"rope_type": "linear", "factor": TURN_DIVISOR}
    return {
        "architectures": ["MistralForCausalLM" if kind == "mistral" else "LlamaForCausalLM"],
        "model_type": kind,
        "vocab_size": size,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.width,
        "num_hidden_layers": len(form.layers),
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.head_dim,
        "hidden_act": form.activation,
        "max_position_embeddings": len(form.positions) + 1,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "rope_scaling": {**turn, "type": "linear"},
        "rope_parameters": {**turn, "rope_theta": 10000.0},
        "attention_bias": False,
        "tie_word_embeddings": False,
        "use_cache": True,
        "torch_dtype": "float32",
        "dtype": "float32",
        **({"sliding_window": None} if kind == "mistral" else {"mlp_bias": False}),
    }
