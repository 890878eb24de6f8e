"""Forward pass of MLP-based Transformers."""

from __future__ import annotations

from jaxtyping import Float, Integer
from torch import Tensor
from torch.nn import functional

from rote.models.forward.attention_only import Tap, residual
from rote.models.mlp_transformer import MlpTransformer


def logits(
    spec: MlpTransformer,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    tap: Tap | None = None,
) -> Float[Tensor, "batch vocab"]:
    """Logits of the next token after each context."""
    return last_stream(spec, weights, contexts, tap) @ weights["unembed"].T


def last_stream(
    spec: MlpTransformer,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    tap: Tap | None = None,
) -> Float[Tensor, "batch dim"]:
    """The residual stream at the last position, before the unembedding."""

    def mlp(layer: int, stream: Tensor) -> Tensor:
        return stream + neurons(spec, weights, layer, stream) @ weights[f"layers.{layer}.mlp_out"].T

    return residual(spec.attention, weights, contexts, mlp, tap)


def neurons(
    spec: MlpTransformer, weights: dict[str, Tensor], layer: int, stream: Float[Tensor, "*rows dim"]
) -> Float[Tensor, "*rows width"]:
    """sigma(W_1 x + b): what W_2 reads."""
    before = stream @ weights[f"layers.{layer}.mlp_in"].T + weights[f"layers.{layer}.mlp_bias"]
    return functional.gelu(before) if spec.activation == "gelu" else before.relu()
