"""What the meter can be put on: a Hugging Face configuration, a specification of rote, or any causal module.

A subject makes fresh modules that map token ids (strings x tokens) to logits (strings x tokens x vocab).

A plain causal Transformer whose parts can be left out one at a time: attention, the MLP, the norms.

    x = token + position;  each block: x += attention(norm(x));  x += MLP(norm(x));  logits = norm(x) E^T

No biases. Without attention nothing would carry a key to later positions, so a block then begins with the running sum
of the positions so far, over the square root of their number, which has no parameters.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from rote.errors import InputError, problems
from rote.files import read_json
from rote.lm.capacity.strings import StringShape
from rote.lm.language_model import transformers
from rote.lm.weight_files import read_config

Norm = Literal["rms", "layer", "none"]


class PlainTransformer(nn.Module):
    """`heads` or `mlp` of zero leave attention or the MLP out; `mlp` is the MLP's width."""

    def __init__(
        self,
        vocab: int,
        length: int,
        dim: int,
        layers: int,
        heads: int,
        head_dim: int,
        mlp: int,
        norm: Norm,
        tied: bool,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(length, dim)
        self.blocks = nn.ModuleList(_Block(dim, heads, head_dim, mlp, norm) for _ in range(layers))
        self.last_norm = _norm(norm, dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        for weight in self.parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=0.02)
        if tied:
            self.lm_head.weight = self.tokens.weight

    def forward(self, ids: Tensor) -> Tensor:
        state = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            state = block(state)
        return self.lm_head(self.last_norm(state))


class _Block(nn.Module):
    def __init__(self, dim: int, heads: int, head_dim: int, mlp: int, norm: Norm) -> None:
        super().__init__()
        self._heads, self._mlp = heads, mlp
        if heads:
            self.attention_norm = _norm(norm, dim)
            self.query, self.key, self.value = (nn.Linear(dim, heads * head_dim, bias=False) for _ in range(3))
            self.output = nn.Linear(heads * head_dim, dim, bias=False)
        if mlp:
            self.mlp_norm = _norm(norm, dim)
            self.up = nn.Linear(dim, mlp, bias=False)
            self.down = nn.Linear(mlp, dim, bias=False)

    def forward(self, state: Tensor) -> Tensor:
        if self._heads:
            normed = self.attention_norm(state)
            query, key, value = (
                part(normed).unflatten(2, (self._heads, -1)).transpose(1, 2)
                for part in (self.query, self.key, self.value)
            )
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            state = state + self.output(mixed.transpose(1, 2).flatten(2))
        else:
            so_far = torch.arange(1, state.shape[1] + 1, device=state.device, dtype=state.dtype)
            state = state.cumsum(1) / so_far.sqrt()[:, None]
        if self._mlp:
            state = state + self.down(functional.gelu(self.up(self.mlp_norm(state))))
        return state


def _norm(norm: Norm, dim: int) -> nn.Module:
    if norm == "rms":
        return nn.RMSNorm(dim, eps=1e-6)
    return nn.LayerNorm(dim, bias=False) if norm == "layer" else nn.Identity()


HUGGING_FACE = ("gpt2", "llama", "mamba")
PLAIN = ("plain", "attention-only", "mlp-only")


@dataclass(frozen=True)
class LmSizes:
    """Sizes of a model by its configuration's name; a configuration file's own sizes stand where one is absent."""

    dim: int = 16
    layers: int = 1
    heads: int = 2
    mlp: float | None = None
    """Width of the MLP as a multiple of dim. Default: the architecture's."""
    tied: bool = True
    """Whether the unembedding is the token embedding."""
    head_dim: int | None = None
    """Dimension of a head. Default: dim / heads, the only one that gpt2 supports."""
    norm: Norm | None = None
    """Norm of the plain Transformers. Default: rms. The others have fixed norms."""


@dataclass(frozen=True)
class MeterSubject:
    """Something to be measured: a name, a maker of fresh modules, and what results depend on."""

    name: str
    make: Callable[[], nn.Module]
    identity: dict[str, Any]


def subject(model: str, sizes: LmSizes, shape: StringShape) -> MeterSubject:
    """The subject that a user's words name: an architecture, a config.json, a rote spec, or module:function."""
    if model in (*HUGGING_FACE, *PLAIN):
        _refuse(model, sizes)
        return _named(model, sizes, shape) if model in HUGGING_FACE else _plain(model, sizes, shape)
    if model.endswith(".json"):
        return _from_file(Path(model), shape)
    if ":" in model:
        return _factory(model)
    raise InputError(
        f"{model}: cannot be measured; give {', '.join((*HUGGING_FACE, *PLAIN))}, a configuration file that ends in "
        ".json, or module:function, a Python function that makes a causal torch module"
    )


def logits_of(module: nn.Module, ids: Tensor) -> Tensor:
    """A module's logits, whether it returns them or an object that has them."""
    out = module(ids)
    return out if isinstance(out, Tensor) else out.logits


def check_causal(made: MeterSubject, shape: StringShape) -> None:
    """Refuse a module of the wrong form, or one whose logits look at later tokens."""
    torch.manual_seed(0)
    module = made.make()
    if not isinstance(module, nn.Module):
        raise InputError(f"{made.name}: made {type(module).__name__}, not a torch.nn.Module")
    ids = torch.randint(shape.vocab, (2, shape.length - 1))
    other = ids.clone()
    other[:, -1] = (other[:, -1] + 1) % shape.vocab
    module.eval()
    with torch.no_grad():
        try:
            logits, changed = logits_of(module, ids), logits_of(module, other)
        except (RuntimeError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{made.name}: fails on token ids of shape {tuple(ids.shape)} ({str(error).splitlines()[0]})"
            ) from None
    wanted = (*ids.shape, shape.vocab)
    if tuple(logits.shape) != wanted:
        raise InputError(f"{made.name}: gives logits of shape {tuple(logits.shape)}, expected {wanted}")
    if not torch.allclose(logits[:, :-1], changed[:, :-1], rtol=1e-4, atol=1e-5):
        raise InputError(
            f"{made.name}: is not causal, changing the last token changes the logits before it; code lengths would "
            "count what the model was shown. Mask later tokens"
        )


def _refuse(model: str, sizes: LmSizes) -> None:
    """Every size that this architecture cannot have."""
    refused = [
        f"`{name}`: {value} is too small; give at least 1"
        for name, value in (("dim", sizes.dim), ("layers", sizes.layers), ("heads", sizes.heads))
        if value < 1
    ]
    if sizes.mlp is not None and sizes.mlp * sizes.dim < 1:
        refused.append(f"`mlp`: {sizes.mlp:g} times `dim` is no width; attention-only has no MLP")
    if sizes.head_dim is not None and (sizes.head_dim < 1 or model in ("gpt2", "mamba", "mlp-only")):
        refused.append(f"`head_dim`: {model} cannot have heads of dimension {sizes.head_dim}")
    free = model in ("mamba", "mlp-only") or (model in PLAIN and sizes.head_dim is not None)
    if not refused and sizes.dim % sizes.heads and not free:
        refused.append(f"`heads`: {sizes.heads} heads do not divide `dim` {sizes.dim}")
    head_dim = sizes.head_dim or sizes.dim // max(1, sizes.heads)
    if not refused and model == "llama" and head_dim % 2:
        refused.append(f"`head_dim`: llama turns pairs of dimensions, {head_dim} is odd; choose other `dim` or `heads`")
    if sizes.norm is not None and model not in PLAIN:
        refused.append(f"`norm`: {model} has a fixed norm; {', '.join(PLAIN)} can have any")
    if refused:
        raise problems(model, refused)


def _plain(model: str, sizes: LmSizes, shape: StringShape) -> MeterSubject:
    heads = 0 if model == "mlp-only" else sizes.heads
    made = {
        "vocab": shape.vocab, "length": shape.length, "dim": sizes.dim, "layers": sizes.layers, "heads": heads,
        "head_dim": (sizes.head_dim or sizes.dim // heads) if heads else 0,
        "mlp": 0 if model == "attention-only" else round((4 if sizes.mlp is None else sizes.mlp) * sizes.dim),
        "norm": sizes.norm or "rms", "tied": sizes.tied,
    }  # fmt: skip
    return MeterSubject(model, lambda: PlainTransformer(**made), {"plain": made})


def _named(model: str, sizes: LmSizes, shape: StringShape) -> MeterSubject:
    package = transformers()
    common = {"vocab_size": shape.vocab, "tie_word_embeddings": sizes.tied, "bos_token_id": None, "eos_token_id": None}
    if model == "gpt2":
        config = package.GPT2Config(
            **common, n_positions=shape.length, n_embd=sizes.dim, n_layer=sizes.layers, n_head=sizes.heads,
            n_inner=None if sizes.mlp is None else round(sizes.mlp * sizes.dim),
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
            # GPT-2's own activation, as one operation of torch instead of eight.
            activation_function="gelu_pytorch_tanh",
        )  # fmt: skip
    elif model == "llama":
        config = package.LlamaConfig(
            **common, hidden_size=sizes.dim, intermediate_size=round((sizes.mlp or 3) * sizes.dim),
            num_hidden_layers=sizes.layers, num_attention_heads=sizes.heads, head_dim=sizes.head_dim,
            max_position_embeddings=shape.length, use_cache=False, pad_token_id=None,
        )  # fmt: skip
    else:
        config = package.MambaConfig(
            **common, hidden_size=sizes.dim, num_hidden_layers=sizes.layers, state_size=8, use_cache=False,
            expand=round(sizes.mlp or 2), pad_token_id=None,
        )  # fmt: skip
    return _hugging_face(model, config)


def _hugging_face(name: str, config: Any) -> MeterSubject:
    package = transformers()
    content = {key: value for key, value in config.to_diff_dict().items() if key != "transformers_version"}
    return MeterSubject(name, lambda: package.AutoModelForCausalLM.from_config(config), {"config": content})


def _from_file(path: Path, shape: StringShape) -> MeterSubject:
    """A configuration file: rote's, with an `architecture`, or Hugging Face's, with a `model_type`."""
    content = read_json(Path(os.path.realpath(path)))
    if isinstance(content, dict) and ("architecture" in content or "spec" in content):
        return _specification(path, content.get("spec", content), shape)
    package = transformers()
    config = read_config(path)
    if config["model_type"] not in package.models.auto.configuration_auto.CONFIG_MAPPING:
        raise InputError(f"{path}: transformers knows no model of type {config['model_type']!r} by itself")
    replaced = {"vocab_size": shape.vocab, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    made = package.AutoConfig.for_model(**{**config, **replaced, "use_cache": False})
    return _hugging_face(str(path), made)


class SpecModule(nn.Module):
    """A rote specification as a module: its forward pass on every context gives the logits of the last position."""

    def __init__(self, spec: Any, seed: int) -> None:
        from rote.training.initial import initial_weights

        super().__init__()
        self._spec = spec
        flat, start = torch.from_numpy(initial_weights(spec, seed)), 0
        self._names: dict[str, str] = {}
        for name, form in spec.shapes().items():
            size = int(torch.Size(form).numel())
            self._names[name] = name.replace(".", "_")
            self.register_parameter(self._names[name], nn.Parameter(flat[start : start + size].view(form).clone()))
            start += size

    def forward(self, ids: Tensor) -> Tensor:
        from rote.models.forward import forward

        weights: dict[str, Tensor] = {name: self.get_parameter(own) for name, own in self._names.items()}
        last = forward(self._spec, weights, ids)
        # Only the last position is read, and only it is counted; nothing is claimed of the others.
        return torch.cat([last.new_zeros(len(ids), ids.shape[1] - 1, last.shape[-1]), last[:, None]], 1)


def _specification(path: Path, content: Any, shape: StringShape) -> MeterSubject:
    from rote.models import spec_from_config
    from rote.training.initial import trainable

    spec = trainable(spec_from_config(content, str(path)))
    if shape.counted != 1 or (spec.vocab, spec.context) != (shape.vocab, shape.key):
        raise InputError(
            f"{path}: {spec.architecture} answers once after {spec.context} tokens of a vocabulary of {spec.vocab}; "
            f"measure it with `protocol=facts`, `vocab={spec.vocab}` and `key={spec.context}`"
        )
    return MeterSubject(str(path), lambda: SpecModule(spec, int(torch.randint(2**31, ()))), {"spec": spec.to_config()})


def _factory(model: str) -> MeterSubject:
    """A function by name; modules beside the caller are found as `python -m` would find them."""
    name, _, function = model.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        make: Any = getattr(importlib.import_module(name), function)
    except (ImportError, AttributeError, SyntaxError, ValueError) as error:
        raise InputError(f"{model}: cannot be imported ({error}); write module:function") from None
    if not callable(make):
        raise InputError(f"{model}: is not a function")
    return MeterSubject(model, cast(Callable[[], nn.Module], make), {"factory": model})
