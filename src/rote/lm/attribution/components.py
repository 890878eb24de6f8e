"""The heads and MLPs of a language model, how to read what they add, and how to replace it.

Llama-type models (Llama, Mistral, Qwen, SmolLM) and GPT-2 have a residual stream to which each layer adds the output of
its attention and of its MLP, a final norm, and an unembedding. A head's share of the attention output is its slice of
the output projection's input, times that projection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from rote.errors import InputError
from rote.lm.language_model import LanguageModel

ATTENTION_AND_MLP = (("self_attn", "o_proj", "mlp"), ("attn", "c_proj", "mlp"))
"""Names of a layer's attention, of the output projection inside it, and of the MLP: Llama-type models, GPT-2."""
STREAM = (("model", "layers", "norm"), ("transformer", "h", "ln_f"))
"""Names of the model inside a causal model, of its list of layers and of its final norm."""


class LmComponent(NamedTuple):
    """A head, or the MLP of a layer (`head` is None); both are counted from 0."""

    layer: int
    head: int | None

    def __str__(self) -> str:
        return f"mlp {self.layer}" if self.head is None else f"head {self.layer}.{self.head}"


@dataclass(frozen=True)
class LayerParts:
    """The modules of one layer."""

    block: nn.Module
    attention: nn.Module
    projection: nn.Module
    mlp: nn.Module


@dataclass(frozen=True, eq=False)
class Components:
    """The parts of one language model."""

    model: LanguageModel
    stack: nn.Module
    """The module that holds the list of layers."""
    list_name: str
    layers: tuple[LayerParts, ...]
    norm: nn.Module
    unembedding: nn.Module
    heads: int
    """Attention heads per layer."""

    @cached_property
    def all(self) -> tuple[LmComponent, ...]:
        """Every component, layer by layer: its heads, then its MLP."""
        return tuple(
            LmComponent(layer, head) for layer in range(len(self.layers)) for head in (*range(self.heads), None)
        )

    def head_dim(self, layer: int) -> int:
        return _matrix(self.layers[layer].projection).shape[0] // self.heads

    def outward(self, layer: int) -> Float[Tensor, "heads head_dim dim"]:
        """What each head's values are multiplied with on their way to the residual stream."""
        weight = _matrix(self.layers[layer].projection)
        return weight.reshape(self.heads, self.head_dim(layer), -1)

    def value(self, layer: int) -> Float[Tensor, "heads head_dim dim"] | None:
        """What each head's input is multiplied with to give its values; None for a layout that is not known."""
        attention = self.layers[layer].attention
        given: Tensor | None = getattr(attention, "value_matrix", None)
        if given is not None:
            return given
        if hasattr(attention, "v_proj"):
            weight = attention.get_parameter("v_proj.weight").unflatten(0, (-1, self.head_dim(layer)))
            return weight.repeat_interleave(self.heads // len(weight), 0)
        if hasattr(attention, "c_attn"):
            weight = _matrix(attention.get_submodule("c_attn"))
            return weight[:, -weight.shape[0] :].T.unflatten(0, (self.heads, -1))
        return None

    def input_norm(self, layer: int) -> nn.Module:
        """The norm before a layer's attention."""
        block = self.layers[layer].block
        found = (getattr(block, name, None) for name in ("input_layernorm", "ln_1"))
        return next((norm for norm in found if norm is not None), nn.Identity())

    def stream_constants(self, layer: int) -> list[Float[Tensor, "tokens dim"]]:
        """Tables of positions that a layer adds to the stream before it is read."""
        positions = getattr(self.layers[layer].block, "positions", None)
        return [] if positions is None else [positions]

    def constants(self, layer: int) -> list[Float[Tensor, " dim"]]:
        """What a layer adds to the last token whatever it reads: the projection's bias, a table of positions."""
        bias = getattr(self.layers[layer].projection, "bias", None)
        positions = getattr(self.layers[layer].block, "positions", None)
        return [*([] if bias is None else [bias]), *([] if positions is None else [positions[-1]])]


def components_of(model: LanguageModel) -> Components:
    """The heads and MLPs of a causal language model; a message for a model that has none, or other ones."""
    model.need_causal("inspect")
    inner = next(((getattr(model.module, names[0]), names) for names in STREAM if _has(model.module, *names)), None)
    head = model.module.get_output_embeddings()
    if inner is None or head is None:
        raise _unknown(model, "no list of layers with attention and an MLP")
    stack, (_, list_name, norm_name) = inner
    layers = []
    for block in getattr(stack, list_name):
        names = next(
            (names for names in ATTENTION_AND_MLP if _has(block, *names[:2]) and hasattr(block, names[2])), None
        )
        if names is None:
            raise _unknown(model, "a layer without attention or without an MLP")
        attention = getattr(block, names[0])
        layers.append(LayerParts(block, attention, getattr(attention, names[1]), getattr(block, names[2])))
    heads = int(model.module.config.num_attention_heads)
    return Components(model, stack, list_name, tuple(layers), getattr(stack, norm_name), head, heads)


def _has(module: nn.Module, inner: str, *names: str) -> bool:
    return all(hasattr(getattr(module, inner, None), name) for name in names)


def _unknown(model: LanguageModel, found: str) -> InputError:
    return InputError(
        f"{model.name}: {type(model.module).__name__} has {found}; inspect reads Llama-type models (Llama, Mistral, "
        "Qwen, SmolLM) and GPT-2. `rote lm recall` asks any causal language model"
    )


def _matrix(projection: nn.Module) -> Float[Tensor, "inputs outputs"]:
    """The projection as a matrix that is multiplied from the right; GPT-2 stores it so, `Linear` transposed."""
    weight = projection.get_parameter("weight")
    return weight.T if isinstance(projection, nn.Linear) else weight


@dataclass
class Recording:
    """What the components did in one run, for every row and every position that was read."""

    values: list[Float[Tensor, "rows tokens heads head_dim"]] = field(default_factory=list)
    """Inputs of each layer's output projection, head by head."""
    mlps: list[Float[Tensor, "rows tokens dim"]] = field(default_factory=list)
    inputs: list[Float[Tensor, "rows tokens dim"]] = field(default_factory=list)
    """The residual stream before each layer."""
    final: Tensor | None = None
    """The residual stream before the final norm."""
    attention: list[Float[Tensor, "rows heads tokens keys"]] = field(default_factory=list)

    def output(self, component: LmComponent) -> Float[Tensor, "rows tokens size"]:
        """What a component gave; of a head its values before the output projection."""
        layer, head = component
        return self.mlps[layer] if head is None else self.values[layer][:, :, head]


@contextmanager
def recording(parts: Components) -> Iterator[Recording]:
    """Record every component of the runs inside."""
    seen = Recording()
    with ExitStack() as stack:
        for layer in parts.layers:
            stack.enter_context(_pre_hook(layer.block, lambda hidden: seen.inputs.append(hidden)))
            stack.enter_context(
                _pre_hook(layer.projection, lambda given: seen.values.append(given.unflatten(-1, (parts.heads, -1))))
            )
            stack.enter_context(_hook(layer.mlp, lambda out: seen.mlps.append(out)))
            handle = layer.attention.register_forward_hook(lambda _, __, out: _keep_attention(seen, out))
            stack.callback(handle.remove)
        stack.enter_context(_pre_hook(parts.norm, lambda hidden: setattr(seen, "final", hidden)))
        yield seen


def _keep_attention(seen: Recording, out: Any) -> None:
    if isinstance(out, tuple) and len(out) > 1 and out[1] is not None:
        seen.attention.append(out[1])


@dataclass(frozen=True)
class Replacement:
    """New outputs of one component for all rows and positions; a head's are its values before the projection."""

    component: LmComponent
    values: Tensor
    """Broadcast over rows and positions."""
    rows: slice
    """The rows of the batch in which it is replaced."""
    places: Tensor | None = None
    """True at positions where it is replaced. Default: all that are read."""

    def written_over(self, old: Tensor) -> Tensor:
        """The new outputs in the form of the old ones (rows x positions x size)."""
        new = self.values.to(old.dtype).expand_as(old)
        return new if self.places is None else old.where(~self.places[:, None], new)


@contextmanager
def replacing_components(parts: Components, replacements: Sequence[Replacement]) -> Iterator[None]:
    """Run the model with these components replaced."""
    heads: dict[int, list[Replacement]] = {}
    mlps: dict[int, list[Replacement]] = {}
    for replacement in replacements:
        chosen = mlps if replacement.component.head is None else heads
        chosen.setdefault(replacement.component.layer, []).append(replacement)
    with ExitStack() as stack:
        for layer, group in heads.items():
            stack.enter_context(_pre_hook(parts.layers[layer].projection, _in_heads(group, parts.heads)))
        for layer, group in mlps.items():
            stack.enter_context(_hook(parts.layers[layer].mlp, _in_rows(group)))
        yield


def _in_heads(group: Sequence[Replacement], heads: int) -> Callable[[Tensor], Tensor]:
    def changed(given: Tensor) -> Tensor:
        split = given.clone().unflatten(-1, (heads, -1))
        for replacement in group:
            at = (replacement.rows, slice(None), replacement.component.head)
            split[at] = replacement.written_over(split[at])
        return split.flatten(-2)

    return changed


def _in_rows(group: Sequence[Replacement]) -> Callable[[Tensor], Tensor]:
    def changed(out: Tensor) -> Tensor:
        out = out.clone()
        for replacement in group:
            out[replacement.rows] = replacement.written_over(out[replacement.rows])
        return out

    return changed


@contextmanager
def starting_at(parts: Components, layer: int, stream: Float[Tensor, "rows tokens dim"]) -> Iterator[None]:
    """Run the model from this layer on, with the residual stream before it given; earlier layers are left out."""
    kept = getattr(parts.stack, parts.list_name)
    setattr(parts.stack, parts.list_name, nn.ModuleList(list(kept)[layer:]))
    try:
        with _pre_hook(parts.layers[layer].block, lambda _: stream):
            yield
    finally:
        setattr(parts.stack, parts.list_name, kept)


@contextmanager
def _pre_hook(module: nn.Module, act: Callable[[Tensor], Tensor | None]) -> Iterator[None]:
    """Call `act` with the first argument; what it returns, if anything, takes its place."""

    def hook(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...] | None:
        new = act(given[0])
        return None if new is None else (new, *given[1:])

    handle = module.register_forward_pre_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _hook(module: nn.Module, act: Callable[[Tensor], Tensor | None]) -> Iterator[None]:
    def hook(_: nn.Module, __: Any, out: Any) -> Tensor | None:
        return act(out)

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()
