"""Model classes that take a graft: how their layers are named, normalised, biased and written.

Llama: `mlp_bias=True` gives every MLP biases, those of the layers that were there being zero. Mistral and Qwen2 without
a sliding window compute what a Llama computes, so they are written as one. GPT-2 has biases. Other classes have no
place for a threshold and are rejected.

A new layer has zero attention, a norm without gain, and neurons `value * act(gate . x - threshold)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from rote.errors import InputError
from rote.lm.language_model import LanguageModel, transformers

LLAMA_LIKE = ("llama", "mistral", "qwen2")
ALL_ZERO = {"silu": 104.0, "gelu_new": 6.0, "gelu": 6.0, "gelu_pytorch_tanh": 6.0}
"""Below minus this, an activation is exactly zero in float32: exp underflows, tanh or erf is -1."""


@dataclass(frozen=True)
class Neurons:
    """The neurons of one new layer, in the dtype that is saved."""

    gates: Float[Tensor, "neurons dim"]
    thresholds: Float[Tensor, " neurons"]
    values: Float[Tensor, "neurons dim"]


class Host(ABC):
    """A language model as the ground for a graft."""

    layers_field: ClassVar[str]

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.config: Any = model.module.config
        self.dtype: torch.dtype = next(model.module.parameters()).dtype
        self.act: Any = transformers().activations.ACT2FN[self.activation]
        if self.activation not in ALL_ZERO:
            raise InputError(
                f"{model.name}: its activation is {self.activation}; a gate closes exactly only with "
                f"{', '.join(ALL_ZERO)}"
            )

    @property
    def layers(self) -> int:
        return int(self.config.num_hidden_layers)

    @property
    def dim(self) -> int:
        return int(self.config.hidden_size)

    @property
    def all_zero(self) -> float:
        return ALL_ZERO[self.activation]

    @property
    @abstractmethod
    def activation(self) -> str: ...

    @property
    @abstractmethod
    def width(self) -> int:
        """Neurons per layer."""

    @property
    @abstractmethod
    def blocks(self) -> Any: ...

    @property
    @abstractmethod
    def last_norm(self) -> Any: ...

    @property
    @abstractmethod
    def down_projection(self) -> str:
        """Name of the matrix that writes the last MLP's output."""

    @abstractmethod
    def normed(self, states: Float[Tensor, "rows dim"]) -> Float[Tensor, "rows dim"]:
        """What the neurons of a new layer read of these residual states, in the dtype that is saved."""

    @abstractmethod
    def readout(self) -> Float[Tensor, "vocab dim"]:
        """The unembedding after the last norm's gain: logits of a residual direction, up to scale."""

    @abstractmethod
    def layer(self, number: int, neurons: Neurons) -> dict[str, Tensor]:
        """Tensors of layer `number`, by the checkpoint's names."""

    @abstractmethod
    def neurons(self, number: int, state: Mapping[str, Tensor]) -> Neurons:
        """The neurons of layer `number` of a grafted model's tensors, the inverse of `layer`."""

    @abstractmethod
    def kept(self) -> dict[str, Tensor]:
        """Tensors of the model as it is, and biases of zero where the new configuration wants some."""

    @abstractmethod
    def new_config(self, added: int) -> Any: ...

    def logits(self, states: Float[Tensor, "rows dim"]) -> Float[Tensor, "rows vocab"]:
        return self.model.module.lm_head(self.last_norm(states)).float()

    def push(self, states: Float[Tensor, "rows dim"], neurons: Neurons) -> Float[Tensor, "rows dim"]:
        """Residual states after a new layer."""
        opened = self.act(functional.linear(self.normed(states), neurons.gates, -neurons.thresholds))
        return states + functional.linear(opened, neurons.values.T)

    @cached_property
    def guide(self) -> Host:
        """This model for states that only guide the solve: in bfloat16 where a processor multiplies float32 slower."""
        native = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
        if self.dtype != torch.float32 or self.model.device.type != "cpu" or not native:
            return self
        return type(self)(replace(self.model, module=deepcopy(self.model.module).to(torch.bfloat16)))

    @torch.inference_mode()
    def residuals(self, ids: Tensor) -> Float[Tensor, "rows tokens dim"]:
        """Residual states after the last layer, at every token."""
        found: list[Tensor] = []
        handle = self.blocks[-1].register_forward_hook(
            lambda module, given, out: found.append(out[0] if isinstance(out, tuple) else out)
        )
        try:
            self.model.module.base_model(input_ids=ids.to(self.model.device), use_cache=False)
        finally:
            handle.remove()
        return found[0].clone()


class LlamaHost(Host):
    """Llama, and what can be written as one."""

    layers_field = "num_hidden_layers"

    @property
    def activation(self) -> str:
        return str(self.config.hidden_act)

    @property
    def width(self) -> int:
        return int(self.config.intermediate_size)

    @property
    def blocks(self) -> Any:
        return self.model.module.model.layers

    @property
    def last_norm(self) -> Any:
        return self.model.module.model.norm

    @property
    def down_projection(self) -> str:
        return f"model.layers.{self.layers - 1}.mlp.down_proj"

    def normed(self, states: Float[Tensor, "rows dim"]) -> Float[Tensor, "rows dim"]:
        exact = states.float()
        return (exact * torch.rsqrt(exact.pow(2).mean(-1, keepdim=True) + self.config.rms_norm_eps)).to(self.dtype)

    def readout(self) -> Float[Tensor, "vocab dim"]:
        return self.model.module.lm_head.weight.detach().float() * self.last_norm.weight.detach().float()

    def layer(self, number: int, neurons: Neurons) -> dict[str, Tensor]:
        config, new = self.config, _Zeros(self.dtype)
        heads = int(config.num_attention_heads)
        size = int(getattr(config, "head_dim", None) or self.dim // heads)
        keys = int(config.num_key_value_heads) * size
        gates, thresholds = new(self.width, self.dim), new(self.width)
        values, up_bias = new(self.dim, self.width), new(self.width)
        count = len(neurons.gates)
        gates[:count], thresholds[:count], values[:, :count] = neurons.gates, -neurons.thresholds, neurons.values.T
        up_bias[:count] = 1
        tensors = {
            "input_layernorm.weight": new(self.dim) + 1, "post_attention_layernorm.weight": new(self.dim) + 1,
            "self_attn.q_proj.weight": new(heads * size, self.dim), "self_attn.k_proj.weight": new(keys, self.dim),
            "self_attn.v_proj.weight": new(keys, self.dim), "self_attn.o_proj.weight": new(self.dim, heads * size),
            "mlp.gate_proj.weight": gates, "mlp.gate_proj.bias": thresholds,
            "mlp.up_proj.weight": new(self.width, self.dim), "mlp.up_proj.bias": up_bias,
            "mlp.down_proj.weight": values, "mlp.down_proj.bias": new(self.dim),
        }  # fmt: skip
        if self._attention_bias:
            tensors |= {f"self_attn.{name}_proj.bias": new(heads * size) for name in "q"}
            tensors |= {f"self_attn.{name}_proj.bias": new(keys) for name in "kv"}
            tensors["self_attn.o_proj.bias"] = new(self.dim)
        return {f"model.layers.{number}.{name}": tensor for name, tensor in tensors.items()}

    def neurons(self, number: int, state: Mapping[str, Tensor]) -> Neurons:
        mlp = f"model.layers.{number}.mlp"
        gates, thresholds = state[f"{mlp}.gate_proj.weight"], state[f"{mlp}.gate_proj.bias"]
        return Neurons(gates.clone(), -thresholds, state[f"{mlp}.down_proj.weight"].T.clone())

    @property
    def _attention_bias(self) -> bool:
        return self.config.model_type == "qwen2" or bool(getattr(self.config, "attention_bias", False))

    def kept(self) -> dict[str, Tensor]:
        tensors, new = _tensors(self.model.module), _Zeros(self.dtype)
        for number in range(self.layers):
            mlp = f"model.layers.{number}.mlp"
            for name, size in (("gate", self.width), ("up", self.width), ("down", self.dim)):
                tensors.setdefault(f"{mlp}.{name}_proj.bias", new(size))
            if self._attention_bias:
                tensors.setdefault(f"model.layers.{number}.self_attn.o_proj.bias", new(self.dim))
        return tensors

    def new_config(self, added: int) -> Any:
        names = (
            "vocab_size", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim",
            "hidden_act", "max_position_embeddings", "initializer_range", "rms_norm_eps", "rope_parameters",
            "tie_word_embeddings", "bos_token_id", "eos_token_id", "pad_token_id", "pretraining_tp",
            "attention_dropout",
        )  # fmt: skip
        given = {name: getattr(self.config, name) for name in names if getattr(self.config, name, None) is not None}
        return transformers().LlamaConfig(
            **given, num_hidden_layers=self.layers + added, mlp_bias=True, attention_bias=self._attention_bias,
            dtype=self.dtype, architectures=["LlamaForCausalLM"],
        )  # fmt: skip


class Gpt2Host(Host):
    """GPT-2."""

    layers_field = "n_layer"

    @property
    def activation(self) -> str:
        return str(self.config.activation_function)

    @property
    def width(self) -> int:
        return int(self.config.n_inner or 4 * self.dim)

    @property
    def blocks(self) -> Any:
        return self.model.module.transformer.h

    @property
    def last_norm(self) -> Any:
        return self.model.module.transformer.ln_f

    @property
    def down_projection(self) -> str:
        return f"transformer.h.{self.layers - 1}.mlp.c_proj"

    def normed(self, states: Float[Tensor, "rows dim"]) -> Float[Tensor, "rows dim"]:
        ones, zeros = torch.ones(self.dim, dtype=self.dtype), torch.zeros(self.dim, dtype=self.dtype)
        return functional.layer_norm(states, (self.dim,), ones, zeros, self.config.layer_norm_epsilon)

    def readout(self) -> Float[Tensor, "vocab dim"]:
        rows = self.model.module.lm_head.weight.detach().float() * self.last_norm.weight.detach().float()
        return rows - rows.mean(1, keepdim=True)

    def layer(self, number: int, neurons: Neurons) -> dict[str, Tensor]:
        new = _Zeros(self.dtype)
        gates, thresholds, values = new(self.dim, self.width), new(self.width), new(self.width, self.dim)
        count = len(neurons.gates)
        gates[:, :count], thresholds[:count], values[:count] = neurons.gates.T, -neurons.thresholds, neurons.values
        tensors = {
            "ln_1.weight": new(self.dim) + 1, "ln_1.bias": new(self.dim),
            "ln_2.weight": new(self.dim) + 1, "ln_2.bias": new(self.dim),
            "attn.c_attn.weight": new(self.dim, 3 * self.dim), "attn.c_attn.bias": new(3 * self.dim),
            "attn.c_proj.weight": new(self.dim, self.dim), "attn.c_proj.bias": new(self.dim),
            "mlp.c_fc.weight": gates, "mlp.c_fc.bias": thresholds,
            "mlp.c_proj.weight": values, "mlp.c_proj.bias": new(self.dim),
        }  # fmt: skip
        return {f"transformer.h.{number}.{name}": tensor for name, tensor in tensors.items()}

    def neurons(self, number: int, state: Mapping[str, Tensor]) -> Neurons:
        mlp = f"transformer.h.{number}.mlp"
        gates, thresholds = state[f"{mlp}.c_fc.weight"], state[f"{mlp}.c_fc.bias"]
        return Neurons(gates.T.clone(), -thresholds, state[f"{mlp}.c_proj.weight"].clone())

    def kept(self) -> dict[str, Tensor]:
        return _tensors(self.model.module)

    def new_config(self, added: int) -> Any:
        config = self.config.to_dict() | {"n_layer": self.layers + added}
        return type(self.config)(**config | {"dtype": self.dtype, "architectures": ["GPT2LMHeadModel"]})


class _Zeros:
    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def __call__(self, *shape: int) -> Tensor:
        return torch.zeros(shape, dtype=self.dtype)


def _tensors(module: Any) -> dict[str, Tensor]:
    """A module's tensors by name, one name for a tied pair."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    if module.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    return tensors


def host_of(model: LanguageModel) -> Host:
    """The host that a model's class is; a class that cannot take a graft is rejected, with the reason."""
    model.need_causal("a graft")
    config = model.module.config
    if config.num_hidden_layers < 1:
        raise InputError(f"{model.name}: has no layers, so there is nothing to graft onto")
    if config.model_type == "gpt2":
        return Gpt2Host(model)
    if config.model_type not in LLAMA_LIKE:
        raise InputError(
            f"{model.name}: {type(model.module).__name__} takes no graft: its MLPs have no biases in the stock class, "
            f"so a gate would have no threshold; classes that do: {', '.join(LLAMA_LIKE)} and gpt2"
        )
    kinds = set(getattr(config, "layer_types", None) or ())
    windowed = getattr(config, "sliding_window", None) if not kinds else kinds - {"full_attention"}
    if config.model_type != "llama" and windowed:
        raise InputError(
            f"{model.name}: attends through a sliding window, which a Llama with biases cannot do; such a model takes "
            "no graft"
        )
    return LlamaHost(model)
