"""Threshold heads: heads whose attention to the last position is set where it divides the facts.

Two coordinates of x are set aside: an indicator of the last position (x_S has 1 there, all others 0), and one in which
the padding token lies so deep that no head looks at it. A head's first query-key row reads the indicator, so its key
vector adds the same to the scores of every context: in it, the indicator's entry is a threshold, the largest score of
a fact drawn at random. About half of the facts then keep the head's attention on the last position. Of a pool of such
heads those whose own features are best conditioned on the facts are kept. Where keys are words spelled in letters this
lowers the condition number from about 1e12 to 1e5: without it most heads always look at the same position.

A one-token key is preceded by padding only, which these heads ignore; at most `dim` such keys could then be stored. If
there are any, the first few heads attend to padding as to any other token.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.random_attention.draw import Embeddings, Heads, gaussian, orthonormal_rows
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.saturation import PAD_DEPTH
from rote.models.attention_only import AttentionOnly

PAD_VALUE = 2.0**-6
"""What heads that look at padding take of the coordinate it is deep in: its value is then not much above others'."""
POOL = 2
"""Heads drawn for each one kept."""
POOL_ROWS = 600
"""Facts on which the heads of a pool are compared."""


def draw_threshold_embeddings(
    spec: AttentionOnly, pad: int | None, dtype: torch.dtype, generator: torch.Generator
) -> Embeddings:
    """Gaussian tokens and positions but for the two coordinates set aside; `pad` is the padding token's id."""
    tokens = gaussian((spec.vocab, spec.dim), generator)
    positions = gaussian((spec.context, spec.dim), generator)
    tokens[:, -1] = 0
    positions[:, -1] = 0
    positions[-1] = 0
    positions[-1, -1] = 1
    if pad is not None:
        tokens[pad, -2] = -PAD_DEPTH
    return Embeddings(tokens.to(dtype), positions.to(dtype))


def draw_threshold_heads(
    count: int, spec: AttentionOnly, score_std: float, differences: Differences, generator: torch.Generator
) -> Heads:
    """`count` heads that read every context, the best of a pool; first those that look at padding, where needed."""
    bare = padding_alone(differences)
    readers = min(count, 1 + math.ceil(len(bare) / spec.head_dim)) if len(bare) else 0
    heads = _pool(POOL * (count - readers), spec, score_std, differences.dtype, generator)
    plain = best_of_pool(with_thresholds(heads, differences, generator), count - readers, differences, generator)
    if not readers:
        return plain
    pool = _pool(POOL * readers, spec, score_std, differences.dtype, generator)
    key, value = pool.key.clone(), pool.value.clone()
    key[:, 0, -2] = 0
    value[:, :, -2] *= PAD_VALUE
    pool = with_thresholds(Heads(pool.query, key, value), differences, generator, bare)
    return Heads.together([best_of_pool(pool, readers, differences, generator, bare), plain])


def padding_alone(differences: Differences) -> Integer[Tensor, " rows"]:
    """Facts whose key is one token after nothing but padding."""
    return (differences.before[:, :, -2] < -PAD_DEPTH / 2).all(1).nonzero().flatten()


def _pool(drawn: int, spec: AttentionOnly, score_std: float, dtype: torch.dtype, generator: torch.Generator) -> Heads:
    """Heads to choose from, their thresholds still at zero."""
    rank, dim = spec.rank, spec.dim
    query = torch.zeros(drawn, rank, dim, dtype=torch.float64)
    key = torch.zeros(drawn, rank, dim, dtype=torch.float64)
    query[:, 0, -1] = 1
    key[:, 0, -2] = 1
    # Coordinates have variance 1 in x_S and 3 in x_s - x_S: token and position against the last token.
    v = score_std / math.sqrt((rank - 1) * dim * 3 * dim)
    query[:, 1:] = gaussian((drawn, rank - 1, dim), generator) * math.sqrt(v)
    key[:, 1:, :-2] = gaussian((drawn, rank - 1, dim - 2), generator) * math.sqrt(v)
    value = orthonormal_rows(drawn, spec.head_dim, dim, generator)
    return Heads(query.to(dtype), key.to(dtype), value.to(dtype))


def with_thresholds(
    heads: Heads,
    differences: Differences,
    generator: torch.Generator,
    rows: Integer[Tensor, " rows"] | None = None,
) -> Heads:
    """Set each head's threshold to the largest score of one of these facts, drawn at random."""
    facts = _sample(differences, len(heads), generator, rows)
    last = differences.last_tokens[differences.last_place[facts]]
    asked = torch.einsum("hd,hrd->hr", last, heads.query.double())
    asked = torch.einsum("hr,hrd->hd", asked, heads.key.double())
    scores = torch.einsum("hsd,hd->hs", differences.before[facts], asked)
    key = heads.key.clone()
    largest = scores.amax(1)
    # A head that ignores padding has no place to divide in a key of one token.
    key[:, 0, -1] = torch.where(largest > -PAD_DEPTH / 2, largest, 0.0).to(key.dtype)
    return Heads(heads.query, key, heads.value)


def best_of_pool(
    pool: Heads,
    count: int,
    differences: Differences,
    generator: torch.Generator,
    rows: Integer[Tensor, " rows"] | None = None,
) -> Heads:
    """The heads whose features have the largest least singular value on a sample of these facts.

    A head that looks at the same few tokens whatever the fact has fewer independent features than columns.
    """
    if len(pool) <= count:
        return pool
    facts = _sample(differences, POOL_ROWS, generator, rows).unique()
    width = pool.value.shape[1]
    features = torch.empty(len(facts), len(pool) * width, dtype=torch.float64)
    differences.features(pool, width, features, facts)
    each: Float[Tensor, "heads rows width"] = features.view(len(facts), len(pool), width).transpose(0, 1)
    least = torch.linalg.eigvalsh(each.transpose(1, 2) @ each)[:, 0]
    kept = least.topk(count).indices.sort().values
    return Heads(pool.query[kept], pool.key[kept], pool.value[kept])


def _sample(
    differences: Differences, count: int, generator: torch.Generator, rows: Tensor | None
) -> Integer[Tensor, " count"]:
    among = differences.facts if rows is None else len(rows)
    places = torch.randint(0, among, (count,), generator=generator)
    return places if rows is None else rows[places]
