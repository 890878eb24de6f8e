"""Forward pass of attention-only Transformers.

One attention layer over many contexts, from tables over their distinct tokens.

In a first layer x_s depends on (token, position) alone. So the folded query x_S^T W_Q^hT W_K^h is a table over last
tokens and W_O^h W_V^h x_s a table over the tokens at position s; what is left per context is a score and a weighted sum
per head and position: 4 d H S operations instead of 8 d k H. Where positions are many, x_s is mixed first and goes
through W_O^h W_V^h in one large product. Contexts that share a token are multiplied together, and
the positions with which all of them begin alike are one (see `leading_run`). A head that attends to the last position
alone, whatever stands before a last token, adds a number that this token decides (see `saturated_heads`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float, Integer
from torch import Tensor

from rote.models.attention_only import AttentionOnly, heads_at_once
from rote.models.forward.architecture import Tap
from rote.models.forward.leading_run import leading_runs, split_by_run
from rote.models.forward.row_groups import RowGroups

SATURATED = 40.0
"""Lead of the last position's score, besides the log of the positions, beyond which all others count as unattended:
e^-40 of a head's output is below its rounding in float64."""
ROWS_PER_TOKEN = 16
"""Contexts per last token from which on it pays to look for saturated heads."""
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


Terms = Callable[[Tensor], Iterator[Tensor]]
"""What some heads add to every context, term by term, given their output matrices."""


@dataclass(frozen=True)
class Slab:
    """Some heads of a layer on some contexts, all but W_O."""

    heads: slice
    terms: Terms


def tabled_slabs(
    part: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    read_at: Callable[[int, Tensor], Tensor],
    scale: float = 1.0,
    run: int = 0,
) -> Iterator[Slab]:
    """Heads at the last position, some at a time; `read_at(s, tokens)` gives x_s for tokens at position s.

    All contexts hold the same tokens in their first `run` positions.
    """
    batch, context = contexts.shape
    groups = [RowGroups.of(contexts[:, position]) for position in range(run, context)]
    tables = [read_at(position, group.distinct) for position, group in enumerate(groups, run)]
    shared = [read_at(position, contexts[:1, position]) for position in range(run)]
    last = groups[-1]
    wide = context - run > FEW_POSITIONS
    if wide and len(last.distinct) * ROWS_PER_TOKEN <= batch:
        saturated = saturated_heads(part, torch.cat([*shared, *tables[:-1]]), tables[-1], scale, context)
        if 2 * int(saturated.sum()) > saturated.numel():
            given = (part, saturated, last, tables[-1], contexts, read_at, scale, run)
            yield Slab(slice(None), partial(_saturated, *given))
            return
    x = torch.stack([table.index_select(0, group.of_row) for table, group in zip(tables, groups, strict=True)], 1)
    laid_out = last.lay_out(x)
    scores_each = batch * max(context - run, x.shape[2] if wide else 0)
    for heads in slices(len(part["query"]), heads_at_once(scores_each, max(table.numel() for table in tables))):
        query, key, value = (part[name][heads] for name in ("query", "key", "value"))
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
            yield Slab(heads, partial(_read_first, read, value))
            continue
        looked_up = [
            (group, group.lay_out(attention[:, position : position + 1]), _between(tables[position], value))
            for position, group in enumerate(groups)
        ]
        if mixture is not None:
            of_run = torch.bmm(mixture.transpose(0, 1), value.transpose(1, 2))
            looked_up.append((last, last.lay_out(attention[:, -1:]), of_run))
        yield Slab(heads, partial(_looked_up, looked_up))


def _read_first(read: Float[Tensor, "batch heads dim"], value: Tensor, output: Tensor) -> Iterator[Tensor]:
    """What has been mixed goes through W_O^h W_V^h of all heads in one product."""
    through = torch.bmm(output, value).transpose(1, 2)
    yield read.flatten(1) @ through.reshape(-1, through.shape[2])


def _looked_up(positions: list[tuple[RowGroups, Tensor, Tensor]], output: Tensor) -> Iterator[Tensor]:
    """For each position a table of W_O^h W_V^h x_s over its tokens, weighted by attention."""
    for group, weights, between in positions:
        yield group.multiply(weights, _outward(between, output))[:, 0]


def _saturated(
    part: dict[str, Tensor],
    saturated: Bool[Tensor, "last heads"],
    last: RowGroups,
    table: Float[Tensor, "last dim"],
    contexts: Integer[Tensor, "batch context"],
    read_at: Callable[[int, Tensor], Tensor],
    scale: float,
    run: int,
    output: Tensor,
) -> Iterator[Tensor]:
    """The heads that attend to the last position alone, once per last token, and the others as usual."""
    mixed = table.new_zeros(len(contexts), output.shape[1])
    for token, alone in enumerate(saturated):
        rows = (last.of_row == token).nonzero().flatten()
        attending = {name: tensor[~alone] for name, tensor in part.items()}
        mixed[rows] = _of_last_token(part["value"][alone], output[alone], table[token])
        if len(attending["query"]):
            slabs = tabled_slabs(attending, contexts[rows], read_at, scale, run)
            mixed[rows] += summed(slabs, output[~alone], len(rows))
    yield mixed


def summed(slabs: Iterable[Slab], output: Float[Tensor, "heads dim head_dim"], rows: int) -> Float[Tensor, "rows dim"]:
    """sum_h W_O^h W_V^h A^h over all slabs."""
    mixed = output.new_zeros(rows, output.shape[1])
    for slab in slabs:
        for term in slab.terms(output[slab.heads]):
            mixed += term
    return mixed


def slices(length: int, step: int) -> Iterator[slice]:
    """0 to `length` in steps."""
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def saturated_heads(
    part: dict[str, Tensor],
    before: Float[Tensor, "tokens dim"],
    last: Float[Tensor, "last dim"],
    scale: float,
    context: int,
) -> Bool[Tensor, "last heads"]:
    """Heads that attend to the last position alone, for each last token and anything of `before` that precedes it.

    The scores of what precedes it are bounded coordinate by coordinate.
    """
    asked = _folded(last, part["query"] * scale, part["key"].transpose(1, 2))
    others = asked.clamp(min=0) @ before.amax(0) + asked.clamp(max=0) @ before.amin(0)
    return (asked * last[:, None]).sum(2) - others > SATURATED + math.log(context)


def _of_last_token(
    value: Float[Tensor, "heads k dim"], output: Float[Tensor, "heads dim k"], x: Float[Tensor, " dim"]
) -> Tensor:
    """sum_h W_O^h W_V^h x over these heads, in pairs: the terms of a solved model nearly cancel."""
    return torch.bmm(output, (value @ x)[:, :, None]).squeeze(2).sum(0)


def _run_as_one(
    x: Float[Tensor, "run dim"], asked: Float[Tensor, "tokens dim heads"]
) -> tuple[Float[Tensor, "tokens heads"], Float[Tensor, "tokens heads dim"]]:
    """Score and mixture of the positions that all contexts share, as of one position, for every last token and head."""
    scores = x @ asked
    together = scores.logsumexp(1)
    return together, (scores - together[:, None]).exp_().transpose(1, 2) @ x


def _folded(
    x: Float[Tensor, "tokens dim"], inner: Float[Tensor, "heads k dim"], outer: Float[Tensor, "heads dim k"]
) -> Float[Tensor, "tokens heads dim"]:
    """outer_h inner_h x for every token and head."""
    return _outward(_between(x, inner), outer)


def _between(x: Float[Tensor, "tokens dim"], inner: Float[Tensor, "heads k dim"]) -> Float[Tensor, "heads tokens k"]:
    heads, k, dim = inner.shape
    return (x @ inner.reshape(heads * k, dim).T).view(-1, heads, k).transpose(0, 1)


def _outward(
    between: Float[Tensor, "heads tokens k"], outer: Float[Tensor, "heads dim k"]
) -> Float[Tensor, "tokens heads dim"]:
    return torch.bmm(between, outer.transpose(1, 2)).transpose(0, 1)


After = Callable[[int, Tensor], Tensor]
"""What a layer does to the stream after attention, given its number: the MLP of an MLP-based Transformer."""


def logits(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"]
) -> Float[Tensor, "batch vocab"]:
    return stream(spec, weights, contexts) @ weights["unembed"].T


def stream(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"], tap: Tap | None = None
) -> Float[Tensor, "batch dim"]:
    """The residual stream at the last position, before the unembedding."""
    return residual(spec, weights, contexts, tap=tap)


def residual(
    spec: AttentionOnly,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    after: After | None = None,
    tap: Tap | None = None,
) -> Float[Tensor, "batch dim"]:
    """The same, with `after` applied to the stream after each layer's attention."""
    if tap is not None:  # tables have no patterns to show
        return _layer_by_layer(spec, weights, contexts, after, tap)
    # Tables depend on the contexts at hand, which a traced graph must not.
    if spec.layers == 1 and not torch.compiler.is_exporting() and len(contexts) > 1:
        parts = split_by_run(leading_runs(contexts)[1], contexts.shape[1])
        if len(parts) > 1:
            stream = weights["tokens"].new_empty(len(contexts), spec.dim)
            for rows, run in parts:
                stream[rows] = _alike(spec, weights, contexts[rows], after, run)
            return stream
        return _alike(spec, weights, contexts, after, parts[0][1])
    return _alike(spec, weights, contexts, after)


def _alike(
    spec: AttentionOnly,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    after: After | None,
    run: int = 0,
) -> Float[Tensor, "batch dim"]:
    """The residual stream of contexts whose first `run` tokens are the same, from tables where that pays."""
    if spec.layers == 1 and spec.heads and not torch.compiler.is_exporting() and table_pays(contexts, run):
        stream = _one_layer_from_tables(spec, weights, contexts, run)
        return stream if after is None else after(0, stream)
    return _layer_by_layer(spec, weights, contexts, after)


def _layer_by_layer(
    spec: AttentionOnly,
    weights: dict[str, Tensor],
    contexts: Integer[Tensor, "batch context"],
    after: After | None,
    tap: Tap | None = None,
) -> Float[Tensor, "batch dim"]:
    """The residual stream, every position of every context computed."""
    stream = weights["tokens"][contexts]
    for layer in range(spec.layers):
        if (positions := stream_positions(spec, weights, layer)) is not None:
            stream = stream + positions
        last = layer == spec.layers - 1
        read = layer_input(spec, weights, layer, stream)
        seen = None if tap is None else partial(tap, f"layers.{layer}.attention")
        heads = layer_heads(weights, layer)
        parts = [heads] if tap is not None else summed_apart(spec, heads)
        mixed = heads_output(parts[0], read, last, score_scale(spec), seen)
        for part in parts[1:]:
            mixed = mixed + heads_output(part, read, last, score_scale(spec))
        stream = (stream[:, -1:] if last else stream) + layer_output(spec, weights, layer, mixed)
        stream = stream if after is None else after(layer, stream)
        stream = stream if tap is None else tap(f"layers.{layer}.stream", stream)
    return stream[:, 0]


def layer_heads(weights: dict[str, Tensor], layer: int) -> dict[str, Tensor]:
    """A layer's query, key, value and output matrices, one slice per head."""
    return {name: weights[f"layers.{layer}.{name}"] for name in ("query", "key", "value", "output")}


def summed_apart(spec: AttentionOnly, heads: dict[str, Tensor]) -> list[dict[str, Tensor]]:
    """The heads of a layer, and those that are summed after all others where there are any (`heads_apart`)."""
    if not spec.heads_apart:
        return [heads]
    first = spec.heads - spec.heads_apart
    return [{name: tensor[:first] for name, tensor in heads.items()},
            {name: tensor[first:] for name, tensor in heads.items()}]  # fmt: skip


def score_scale(spec: AttentionOnly) -> float:
    return 1 / math.sqrt(spec.head_dim) if spec.scale_scores else 1.0


def _one_layer_from_tables(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"], run: int = 0
) -> Float[Tensor, "batch dim"]:
    return attended(spec, weights, contexts, run).stream(weights)


@dataclass(frozen=True)
class Attended:
    """A layer of attention on some contexts, everything but W_O: heads that are summed apart each have their slabs."""

    spec: AttentionOnly
    direct: Float[Tensor, "batch dim"]
    slabs: tuple[Iterable[Slab], ...]

    def stream(self, weights: dict[str, Tensor]) -> Float[Tensor, "batch dim"]:
        """The residual stream, given weights that have this attention."""
        parts = summed_apart(self.spec, {"output": weights["layers.0.output"]})
        sums = [summed(slabs, part["output"], len(self.direct)) for slabs, part in zip(self.slabs, parts, strict=True)]
        return self.direct + layer_output(self.spec, weights, 0, sum(sums[1:], sums[0]))


def attended(
    spec: AttentionOnly, weights: dict[str, Tensor], contexts: Integer[Tensor, "batch context"], run: int = 0
) -> Attended:
    """The attention of one layer from tables; slabs are computed one by one, as they are asked for."""
    positions = stream_positions(spec, weights, 0)

    def stream_at(position: int, tokens: Tensor) -> Tensor:
        embedded = weights["tokens"][tokens]
        return embedded if positions is None else embedded + positions[position]

    def read_at(position: int, tokens: Tensor) -> Tensor:
        return layer_input(spec, weights, 0, stream_at(position, tokens), slice(position, position + 1))

    parts = summed_apart(spec, {name: weights[f"layers.0.{name}"] for name in ("query", "key", "value")})
    slabs = tuple(tabled_slabs(part, contexts, read_at, score_scale(spec), run) for part in parts)
    return Attended(spec, stream_at(-1, contexts[:, -1]), slabs)


def stream_positions(spec: AttentionOnly, weights: dict[str, Tensor], layer: int) -> Tensor | None:
    """Positions that enter the residual stream before a layer, if any."""
    name = spec.stream_positions(layer)
    return None if name is None else weights[name]


def layer_input(
    spec: AttentionOnly, weights: dict[str, Tensor], layer: int, stream: Tensor, places: slice = slice(None)
) -> Tensor:
    """What a layer's heads read: the stream or its shared compression, with the positions that it does not carry."""
    read = stream @ weights["compress"].T if spec.compressed else stream
    name = spec.attention_positions(layer)
    return read if name is None else read + weights[name][places]


def layer_output(spec: AttentionOnly, weights: dict[str, Tensor], layer: int, mixed: Tensor) -> Tensor:
    """What a layer adds to the stream."""
    return mixed @ weights["decompress"].T if spec.compressed else mixed


def heads_output(
    part: dict[str, Tensor],
    x: Float[Tensor, "batch context dim"],
    last_only: bool,
    scale: float = 1.0,
    seen: Callable[[Tensor], Tensor] | None = None,
) -> Float[Tensor, "batch position dim"]:
    """sum_h W_O^h W_V^h A^h for the last position, or for every position with a causal mask.

    `seen` is given the patterns of all heads and gives back those to use.
    """
    queries = x[:, -1:] if last_only else x
    together = len(part["query"])
    if seen is None and not torch.compiler.is_exporting():
        together = heads_at_once(queries.shape[1] * x.shape[0] * x.shape[1], queries.numel())
    mixed = torch.zeros_like(queries)
    for slab in zip(*(tensor.split(together) for tensor in part.values()), strict=True):
        some = dict(zip(part, slab, strict=True))
        values = head_values(some, queries, x, scale, seen).flatten(2)
        mixed = mixed + values @ some["output"].permute(0, 2, 1).reshape(values.shape[2], x.shape[2])
    return mixed


def head_values(
    part: dict[str, Tensor],
    queries: Float[Tensor, "batch position dim"],
    x: Float[Tensor, "batch context dim"],
    scale: float = 1.0,
    seen: Callable[[Tensor], Tensor] | None = None,
) -> Float[Tensor, "batch position heads head_dim"]:
    """W_V^h A^h of every head: what W_O reads."""
    heads, (batch, positions, dim) = len(part["query"]), queries.shape
    attention = attention_of(part, queries, x, scale)
    if seen is not None:
        attention = seen(attention.transpose(1, 2)).transpose(1, 2)
    mixed = (attention.reshape(batch, positions * heads, x.shape[1]) @ x).view(batch, positions, heads, dim)
    return torch.einsum("bphd,hkd->bphk", mixed, part["value"])


def attention_of(
    part: dict[str, Tensor],
    queries: Float[Tensor, "batch position dim"],
    x: Float[Tensor, "batch context dim"],
    scale: float = 1.0,
) -> Float[Tensor, "batch position heads context"]:
    """a^h of every head: how much each position attends to each, causal where all positions ask.

    The key matrix is folded into the query (x_S^T W_Q^T W_K) so that nothing of size context x heads x dim is held.
    """
    heads, rank, dim = part["query"].shape
    batch, positions, _ = queries.shape
    asked = (queries @ part["query"].reshape(heads * rank, dim).T).view(batch, positions, heads, rank)
    asked = torch.einsum("bphr,hrd->bphd", asked, part["key"]).reshape(batch, positions * heads, dim)
    scores = (asked @ x.transpose(1, 2)).view(batch, positions, heads, x.shape[1]) * scale
    if positions > 1:
        later = torch.ones(positions, x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        scores = scores.masked_fill(later[None, :, None], -math.inf)
    return scores.softmax(-1)
