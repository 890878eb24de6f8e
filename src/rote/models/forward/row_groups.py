"""Rows grouped by a number, so that one batched product multiplies every row with the matrix of its group."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor


@dataclass(frozen=True)
class RowGroups:
    """Rows grouped by a number, laid out in blocks of equal height so that one batched product serves all groups.

    A group is one block as high as the largest group, or several as high as the average one where groups are uneven;
    the last block of a group is padded. At most twice the rows are multiplied.
    """

    distinct: Tensor
    """The numbers that occur."""
    of_row: Tensor
    """Group of each row."""
    blocks: Tensor | None
    """Group of each block; none when blocks and groups are the same."""
    rows: Tensor
    """Row in each place of the blocks (row 0 where there is padding)."""
    places: Tensor
    """Place of each row in the blocks."""
    height: int

    @classmethod
    def of(cls, numbers: Integer[Tensor, " batch"]) -> RowGroups:
        counts = torch.bincount(numbers)
        distinct = counts.nonzero().squeeze(1)
        counts = counts[distinct]
        every = torch.arange(len(numbers), device=numbers.device)
        order = numbers.argsort(stable=True)
        group = every[: len(distinct)].repeat_interleave(counts)
        of_row = torch.empty_like(order).index_copy_(0, order, group)

        height = -(-len(numbers) // len(distinct))
        even = int(counts.max()) <= 2 * height
        height = int(counts.max()) if even else height
        blocks = (counts + height - 1) // height
        # Rows of a group stand in consecutive places; each group starts on a block of its own.
        shift = (blocks.cumsum(0) - blocks) * height - (counts.cumsum(0) - counts)
        sorted_places = every + shift[group]
        places = torch.empty_like(order).index_copy_(0, order, sorted_places)
        rows = order.new_zeros(int(blocks.sum()) * height).index_copy_(0, sorted_places, order)
        return cls(
            distinct, of_row, None if even else every[: len(distinct)].repeat_interleave(blocks), rows, places, height
        )

    def lay_out(self, x: Float[Tensor, "batch parts inner"]) -> Float[Tensor, "blocks rows inner"]:
        """Rows in their places, each as `parts` vectors."""
        return x.index_select(0, self.rows).view(-1, self.height * x.shape[1], x.shape[2])

    def multiply(
        self, laid_out: Float[Tensor, "blocks rows inner"], table: Float[Tensor, "groups inner outer"]
    ) -> Float[Tensor, "batch parts outer"]:
        """Each row's vectors times the matrix of its group."""
        product = torch.bmm(laid_out, table if self.blocks is None else table[self.blocks])
        return product.view(len(self.rows), -1, table.shape[2]).index_select(0, self.places)
