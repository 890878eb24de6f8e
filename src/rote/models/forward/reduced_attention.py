"""Forward pass of attention-only Transformers without redundant parameters: the fixed numbers are filled in first."""

from __future__ import annotations

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.forward import attention_only
from rote.models.reduced_attention import ReducedAttention


def logits(
    spec: ReducedAttention, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    """Logits of the next token after each context."""
    return attention_only.logits(spec.full, filled_in(spec, weights), contexts)


def filled_in(spec: ReducedAttention, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of `spec.full`: identity blocks and zero rows in their places."""
    tokens, dim = weights["tokens"], spec.dim
    zero = tokens.new_zeros(1, dim)
    made = {
        "tokens": torch.cat([_identity(tokens, dim), tokens]),
        "positions": torch.cat([zero, weights["positions"]]),
        "unembed": torch.cat([zero, weights["unembed"]]),
    }
    for name in ("layers.0.query", "layers.0.value"):
        heads, size, _ = weights[name].shape
        made[name] = torch.cat([_identity(tokens, size).expand(heads, size, size), weights[name]], 2)
    return {name: made[name] if name in made else weights[name] for name in spec.full.shapes()}


def _identity(like: Tensor, size: int) -> Tensor:
    return torch.eye(size, dtype=like.dtype, device=like.device)
