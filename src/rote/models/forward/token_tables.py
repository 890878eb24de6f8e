"""One attention layer over many contexts, from tables over their distinct tokens.

In a first layer x_s depends on (token, position) alone. So the folded query x_S^T W_Q^hT W_K^h is a table over last
tokens and W_O^h W_V^h x_s a table over the tokens at position s; what is left per context is a score and a weighted sum
per head and position: 4 d H S operations instead of 8 d k H. Contexts that share a token are multiplied together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor


def table_pays(contexts: Integer[Tensor, "batch context"]) -> bool:
    """Whether the distinct tokens of all positions together are fewer than the contexts."""
    batch, context = contexts.shape
    if batch <= context:
        return False
    return sum(len(torch.unique(contexts[:, place])) for place in range(context)) <= batch


def tabled_heads_output(
    part: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    read_at: Callable[[int, Tensor], Tensor],
    scale: float = 1.0,
) -> Float[Tensor, "batch dim"]:
    """sum_h W_O^h W_V^h A^h at the last position; `read_at(s, tokens)` gives x_s for tokens at position s."""
    batch, context = contexts.shape
    heads, _, dim = part["query"].shape
    groups = [Groups.of(contexts[:, place]) for place in range(context)]
    x = torch.stack([read_at(place, contexts[:, place]) for place in range(context)], 1)
    last = groups[-1]
    asked = torch.einsum("ud,hrd->uhr", read_at(context - 1, last.distinct), part["query"])
    asked = torch.einsum("uhr,hrd->udh", asked, part["key"]) * scale
    scores = last.multiply(x.flatten(1), asked, context)
    attention = scores.view(batch, context, heads).softmax(1)
    mixed = x.new_zeros(batch, dim)
    for place, group in enumerate(groups):
        values = torch.einsum("ud,hkd->uhk", read_at(place, group.distinct), part["value"])
        written = torch.einsum("uhk,hdk->uhd", values, part["output"])
        mixed = mixed + group.multiply(attention[:, place], written, 1)
    return mixed


@dataclass(frozen=True)
class Groups:
    """Rows grouped by a number, laid out in blocks of equal height so that one batched product serves all groups.

    Blocks are as high as the average group; the last block of a group is padded, so that at most twice the rows are
    multiplied however uneven the groups.
    """

    distinct: Tensor
    """The numbers that occur."""
    blocks: Tensor
    """Group of each block."""
    rows: Tensor
    """Row in each place of the blocks (row 0 where there is padding)."""
    places: Tensor
    """Place of each row in the blocks."""

    @classmethod
    def of(cls, numbers: Integer[Tensor, " batch"]) -> Groups:
        distinct, group, counts = torch.unique(numbers, return_inverse=True, return_counts=True)
        height = -(-len(numbers) // len(distinct))
        blocks = (counts + height - 1) // height
        order = group.argsort(stable=True)
        # Consecutive places within a group; each group starts on a block of its own.
        shift = (blocks.cumsum(0) - blocks) * height - (counts.cumsum(0) - counts)
        places = torch.empty_like(order)
        places[order] = torch.arange(len(order), device=order.device) + shift[group[order]]
        rows = order.new_zeros(int(blocks.sum()) * height)
        rows[places] = torch.arange(len(order), device=order.device)
        number = torch.arange(len(distinct), device=order.device)
        return cls(distinct, number.repeat_interleave(blocks), rows, places)

    def multiply(
        self, x: Float[Tensor, "batch flat"], table: Float[Tensor, "groups inner outer"], parts: int
    ) -> Float[Tensor, "batch out"]:
        """Each row, cut into `parts` vectors, times its group's matrix."""
        blocks = x[self.rows].view(len(self.blocks), -1, x.shape[1] // parts)
        product = torch.bmm(blocks, table[self.blocks])
        return product.view(len(self.rows), -1)[self.places]
