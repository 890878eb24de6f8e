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

*Integers.* With `format` int8 the matrices of a model on a grid are stored as 8-bit integers (safetensors' I8), one
byte per number, which transformers converts to float32 as it loads them. Their scales are absorbed: those of queries
and keys by the first norm's weight, those of values and outputs by the units of the stream, that of the unembedding by
the last norm's weight.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import safetensors.torch
import torch
from torch import Tensor

from rote.export.certificate import Condition
from rote.export.common.answer_chain import AnswerChain, chained
from rote.export.common.checkpoint import TRANSFORMERS, CheckpointRuntime, write_checkpoint
from rote.export.common.half_cache import half_conditions
from rote.export.common.integers import LARGEST, integer_weights, refuse_integers
from rote.export.common.norm_trick import ROUNDING, constant_for, largest_square_of, norm_conditions
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
    answer_words: ClassVar[bool] = True
    data: ClassVar[tuple[str, ...]] = ("model.safetensors",)
    caches: ClassVar[tuple[str, ...]] = ("float32", "float16")
    formats: ClassVar[tuple[str, ...]] = ("int8",)

    def refusals(self, subject: ExportSubject) -> list[str]:
        return (
            refuse_other_architectures("a plain checkpoint", subject.model)
            or refuse_text(subject)
            or refuse_integers(subject.model, subject.format)
            or refuse_scales(subject)
        )

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        pairs = pairs_of(subject.contexts, subject.read_back)
        size = write_tokenizer(folder, subject, pairs)
        gain = gain_for(subject)
        if subject.format is not None:
            config, state = integer_checkpoint(subject, pairs, size, gain)
            write_checkpoint(folder, config, state, size - 1)
            return Manifest(self.id, gain, pairs, format=subject.format)
        whole, chain = chained(subject, pairs)
        kind, form = smallest(whole, size)
        constant = constant_for(max(largest_square_of(form, subject), chain.largest_square if chain else 0.0))
        shape = LlamaShape.of(form, kind)
        state = llama_state(form, shape, subject, pairs, size, gain, constant, chain)
        longest = subject.longest_answer
        write_checkpoint(folder, llama_config(kind, form, shape, size), state, size - 1, longest)
        return Manifest(self.id, gain, pairs)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return CheckpointRuntime(folder, subject, manifest, self.versions)

    def conditions(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> tuple[Condition, ...]:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        contexts = torch.from_numpy(subject.contexts)
        whole, chain = chained(subject, manifest.places)
        form = smallest(whole, config["vocab_size"])[1] if manifest.format is None else in_units(subject)[0]
        angle = subject.spelling.context / config["rope_scaling"]["factor"]
        return (
            *norm_conditions(form, subject, _constants(folder), chain.largest_square if chain else 0.0),
            Condition(name="largest rotary angle", value=angle, below=ROUNDING),
            *(half_conditions(normal_form(subject.model), contexts) if manifest.cache == "float16" else ()),
        )


@dataclass(frozen=True)
class LlamaShape:
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


def refuse_scales(subject: ExportSubject) -> list[str]:
    """Why the scales of a grid cannot be absorbed by norms and stream."""
    model, precision = subject.model, subject.model.precision
    if subject.format is None or precision is None:
        return []
    shapes = {name: grid.scales.shape for name, grid in precision.grids.items()}
    one = ("layers.0.query", "layers.0.key", "layers.0.value", "unembed")
    alone = all(math.prod(shapes.get(name, (2,))) == 1 for name in one)
    output = shapes.get("layers.0.output", (2,))
    if len(normal_form(model).layers) > 1 or not alone or output[0] != 1 or output[-1] != 1:
        return [
            f"`format={subject.format}`: the norms of a plain checkpoint absorb one scale per tensor of one layer, and "
            "this model has more; export it to onnx"
        ]
    if subject.answer_tokens == "words":
        return [f"`format={subject.format}`: integers write an answer as one token; leave `answers=words` out"]
    return []


def in_units(subject: ExportSubject) -> tuple[NormalForm, Tensor, float]:
    """The normal form with a stream in units of W_O's integers, those units, and the factor on what heads read.

    With scales q, k, v and o of queries (the root of a head's dimensions included), keys, values and outputs, heads
    read a x, a^2 = q k, so that integers give the scores. What they write is then in units of o v / a.
    """
    form, integers = normal_form(subject.model), integer_weights(subject.model)
    query, key, value, output = (
        torch.from_numpy(integers[name].scales).double()
        for name in (f"layers.0.{kind}" for kind in ("query", "key", "value", "output"))
    )
    attention = subject.model.spec
    scaled = 1 / math.sqrt(getattr(attention, "head_dim", 1)) if getattr(attention, "scale_scores", False) else 1.0
    head_dim = form.head_dim + form.head_dim % 2
    read = math.sqrt(float(query) * scaled * math.sqrt(head_dim) * float(key)) or 1.0
    units = output.reshape(-1).expand(form.written) * float(value) / read
    units = torch.where(units > 0, units, 1.0)
    layer = form.layers[0]
    return (
        replace(
            form,
            tokens=form.tokens / units,
            positions=form.positions / units,
            unembed=form.unembed * units,
            layers=(
                replace(
                    layer, query=layer.query * units, key=layer.key * units, value=layer.value * units,
                    output=layer.output / units[:, None],
                ),
            ),
        ),
        units,
        read,
    )  # fmt: skip


def integer_checkpoint(
    subject: ExportSubject, pairs: Pairs | None, size: int, gain: float
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Settings and tensors of a Mistral whose matrices are 8-bit integers."""
    form, units, read = in_units(subject)
    codes, dim = integer_weights(subject.model), form.dim
    shape = LlamaShape.of(form, "mistral")
    constant = constant_for(form.largest_square(torch.from_numpy(subject.contexts)))
    state = llama_state(form, shape, subject, pairs, size, gain, constant)
    part, first = "model.layers.0.", shape.hidden - shape.constants
    rows = {
        kind: torch.zeros(shape.heads, shape.head_dim, shape.hidden, dtype=torch.int8)
        for kind in ("query", "key", "value")
    }
    for kind, tensor in rows.items():
        whole = torch.from_numpy(codes[f"layers.0.{kind}"].codes)
        tensor[: len(whole), : whole.shape[1], :dim] = whole
        state[f"{part}self_attn.{kind[0]}_proj.weight"] = tensor.reshape(-1, shape.hidden)
    output = torch.zeros(shape.hidden, shape.heads, shape.head_dim, dtype=torch.int8)
    whole = torch.from_numpy(codes["layers.0.output"].codes).permute(1, 0, 2)
    output[:dim, : whole.shape[1], : whole.shape[2]] = whole
    state[part + "self_attn.o_proj.weight"] = output.reshape(shape.hidden, -1)
    unembed = torch.zeros(size, shape.hidden, dtype=torch.int8)
    unembed[: subject.vocab, :dim] = torch.from_numpy(codes["unembed"].codes)
    below, lowest = float(state["lm_head.weight"][-1, first]), LARGEST["int8"]
    unembed[subject.vocab :, first] = -lowest
    state["lm_head.weight"] = unembed
    before, after = (torch.zeros(shape.hidden, dtype=torch.float64) for _ in range(2))
    before[:dim] = units * read * constant / 2
    after[:dim] = units * constant / 2 * gain * float(codes["unembed"].scales.reshape(-1)[0])
    after[first] = -0.5 * below / lowest
    state[part + "input_layernorm.weight"], state["model.norm.weight"] = before.float(), after.float()
    return llama_config("mistral", form, shape, size), state


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
    chain: AnswerChain | None = None,
) -> dict[str, Tensor]:
    """Tensors under the names of transformers' Llama and Mistral classes, in float32."""
    vocab, dim, hidden = subject.vocab, form.dim, shape.hidden
    first = hidden - shape.constants
    embed = torch.zeros(size, hidden, dtype=torch.float64)
    embed[:, first:] = constant
    for (token, position), row in inputs_of(subject.contexts, pairs, vocab).items():
        embed[row, :dim] = form.tokens[token] + form.positions[position]
    unembed = torch.zeros(size, hidden, dtype=torch.float64)
    unembed[:vocab, :dim] = form.unembed * gain
    below = bias_below(subject, gain)
    unembed[vocab:, first] = below
    if chain is not None:
        codes = slice(chain.first, chain.first + chain.codes.shape[1])
        for row, vector in chain.embedded().items():
            embed[row, : len(vector)] = vector
        for row, vector in chain.unembedded(gain, below, size - 1).items():
            unembed[row, codes] = vector
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
