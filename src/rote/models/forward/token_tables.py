"""One attention layer over many contexts, from tables over their distinct tokens.

In a first layer x_s depends on (token, position) alone. So the folded query x_S^T W_Q^hT W_K^h is a table over last
tokens and W_O^h W_V^h x_s a table over the tokens at position s; what is left per context is a score and a weighted sum
per head and position: 4 d H S operations instead of 8 d k H. Where positions are many, x_s is mixed first and goes
through W_O^h W_V^h in one large product. Contexts that share a token are multiplied together, and
the positions with which all of them begin alike are one (see `leading_run`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.models.attention_only import heads_at_once

FEW_POSITIONS = 3
"""Positions (besides a shared run) whose values are looked up; more are mixed first, in one large product."""


def table_pays(contexts: Integer[Tensor, "batch context"], run: int = 0) -> bool:
    """Whether the distinct tokens of all positions together are fewer than the contexts.

    A shared run of positions, which only tables make use of, is worth as many times more tokens as there are positions
    for each one that is left.
    """
    batch, context = contexts.shape
    left = context - run
    worth = batch * (context // left)
    if worth <= left:
        return False
    return sum(int(torch.bincount(contexts[:, position]).count_nonzero()) for position in range(run, context)) <= worth


def tabled_heads_output(
    part: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    read_at: Callable[[int, Tensor], Tensor],
    scale: float = 1.0,
    run: int = 0,
) -> Float[Tensor, "batch dim"]:
    """sum_h W_O^h W_V^h A^h at the last position; `read_at(s, tokens)` gives x_s for tokens at position s.

    All contexts hold the same tokens in their first `run` positions.
    """
    batch, context = contexts.shape
    groups = [RowGroups.of(contexts[:, position]) for position in range(run, context)]
    tables = [read_at(position, group.distinct) for position, group in enumerate(groups, run)]
    shared = [read_at(position, contexts[:1, position]) for position in range(run)]
    x = torch.stack([table.index_select(0, group.of_row) for table, group in zip(tables, groups, strict=True)], 1)
    last = groups[-1]
    laid_out = last.lay_out(x)
    mixed = x.new_zeros(batch, x.shape[2])
    wide = context - run > FEW_POSITIONS
    scores_each = batch * max(context - run, x.shape[2] if wide else 0)
    together = heads_at_once(scores_each, max(table.numel() for table in tables))
    for slab in zip(*(part[name].split(together) for name in ("query", "key", "value", "output")), strict=True):
        query, key, value, output = slab
        asked = _folded(tables[-1], query * scale, key.transpose(1, 2)).transpose(1, 2)
        scores, mixture = last.multiply(laid_out, asked), None
        if run:
            score, mixture = _run_as_one(torch.cat(shared), asked)
            scores = torch.cat([scores, score.index_select(0, last.of_row)[:, None]], 1)
        attention = scores.softmax(1)
        if wide:
            read = torch.bmm(attention[:, : context - run].transpose(1, 2), x)
            if mixture is not None:
                read.addcmul_(attention[:, -1, :, None], mixture.index_select(0, last.of_row))
            through = torch.bmm(output, value).transpose(1, 2)
            mixed += read.flatten(1) @ through.reshape(-1, through.shape[2])
            continue
        for position, group in enumerate(groups):
            weights = group.lay_out(attention[:, position : position + 1])
            mixed += group.multiply(weights, _folded(tables[position], value, output))[:, 0]
        if mixture is not None:
            values = _through(mixture, value, output)
            mixed += last.multiply(last.lay_out(attention[:, -1:]), values)[:, 0]
    return mixed


def _run_as_one(
    x: Float[Tensor, "run dim"], asked: Float[Tensor, "tokens dim heads"]
) -> tuple[Float[Tensor, "tokens heads"], Float[Tensor, "tokens heads dim"]]:
    """Score and mixture of the positions that all contexts share, as of one position, for every last token and head."""
    scores = x @ asked
    together = scores.logsumexp(1)
    return together, (scores - together[:, None]).exp_().transpose(1, 2) @ x


def _through(
    mixture: Float[Tensor, "tokens heads dim"],
    value: Float[Tensor, "heads k dim"],
    output: Float[Tensor, "heads dim k"],
) -> Float[Tensor, "tokens heads dim"]:
    """W_O^h W_V^h of every token's mixture."""
    values = torch.bmm(torch.bmm(mixture.transpose(0, 1), value.transpose(1, 2)), output.transpose(1, 2))
    return values.transpose(0, 1)


def _folded(
    x: Float[Tensor, "tokens dim"], inner: Float[Tensor, "heads k dim"], outer: Float[Tensor, "heads dim k"]
) -> Float[Tensor, "tokens heads dim"]:
    """outer_h inner_h x for every token and head."""
    heads, k, dim = inner.shape
    between = (x @ inner.reshape(heads * k, dim).T).view(-1, heads, k).transpose(0, 1)
    return torch.bmm(between, outer.transpose(1, 2)).transpose(0, 1)


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
