"""Forward pass of MLP-based Transformers."""

from __future__ import annotations

from jaxtyping import Float, Integer
from torch import Tensor
from torch.nn import functional

from rote.models.attention_only import Transformer
from rote.models.forward.architecture import Tap
from rote.models.forward.attention_only import residual
from rote.models.mlp_transformer import MlpTransformer


def logits(
    spec: MlpTransformer, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    return stream(spec, weights, contexts) @ weights["unembed"].T


def stream(
    spec: MlpTransformer,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    tap: Tap | None = None,
) -> Float[Tensor, "batch dim"]:
    """The residual stream at the last position, before the unembedding."""

    def mlp(layer: int, after: Tensor) -> Tensor:
        return after + neurons(spec, weights, layer, after) @ weights[f"layers.{layer}.mlp_out"].T

    return residual(spec.attention, weights, contexts, mlp, tap)


def neurons(
    spec: Transformer, weights: dict[str, Tensor], layer: int, entering: Float[Tensor, "*rows dim"]
) -> Float[Tensor, "*rows width"]:
    """sigma(W_1 x + b): what W_2 reads."""
    before = entering @ weights[f"layers.{layer}.mlp_in"].T + weights[f"layers.{layer}.mlp_bias"]
    return functional.gelu(before) if spec.activation == "gelu" else before.relu()
