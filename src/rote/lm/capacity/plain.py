"""A plain causal Transformer whose parts can be left out one at a time: attention, the MLP, the norms.

    x = token + position;  each block: x += attention(norm(x));  x += MLP(norm(x));  logits = norm(x) E^T

No biases. Without attention nothing would carry a key to later positions, so a block then begins with the running sum
of the positions so far, over the square root of their number, which has no parameters.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

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
