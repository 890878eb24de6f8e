"""The corrected rank bound against features computed from random weights."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.theory.rote_rank import feature_rank


def features(contexts: np.ndarray, dim: int, head_dim: int, heads: int, seed: int) -> np.ndarray:
    """Skip connection and value-projected attention outputs of one random layer, facts x (d + Hk)."""
    random = np.random.default_rng(seed)
    tokens, positions = contexts.max() + 1, contexts.shape[1]
    x = random.normal(size=(tokens, dim))[contexts] + random.normal(size=(positions, dim))
    blocks = [x[:, -1]]
    for _ in range(heads):
        scores = np.einsum("td,de,tse->ts", x[:, -1], random.normal(size=(dim, dim)), x)
        # Spread scores keep heads apart; all-equal scores (one context) stay as they are.
        scores *= 3 / max(float(scores.std()), 1e-9)
        attention = np.exp(scores - scores.max(1, keepdims=True))
        attention /= attention.sum(1, keepdims=True)
        mixed = np.einsum("ts,tsd->td", attention, x)
        blocks.append(mixed @ np.linalg.qr(random.normal(size=(dim, dim)))[0][:, :head_dim])
    return np.concatenate(blocks, 1)


def numerical_rank(matrix: np.ndarray) -> int:
    values = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), compute_uv=False)
    return int((values > values[0] * 1e-10).sum())


def bound_for(contexts: np.ndarray, dim: int, head_dim: int, heads: int, groups: int = 1) -> int:
    rank = feature_rank(
        dim=dim,
        head_dim=head_dim,
        heads=heads,
        context=contexts.shape[1],
        key_tokens=len(np.unique(contexts)),
        last_tokens=len(np.unique(contexts[:, -1])),
        groups=groups,
    )
    return min(rank, len(contexts))


@pytest.mark.parametrize(
    ("vocab", "context", "dim", "head_dim", "heads", "rank"),
    [(5, 2, 10, 10, 2, 15), (5, 3, 12, 12, 8, 53), (8, 2, 20, 20, 3, 32), (4, 4, 8, 8, 20, 124)],
)
def test_counterexamples_are_met_exactly(vocab, context, dim, head_dim, heads, rank):
    contexts = np.array(list(itertools.product(range(vocab), repeat=context)))
    assert numerical_rank(features(contexts, dim, head_dim, heads, seed=0)) == rank
    assert bound_for(contexts, dim, head_dim, heads) == rank


@pytest.mark.parametrize(("first", "second", "heads"), [(3, 3, 1), (4, 4, 1), (5, 5, 2), (3, 6, 1)])
def test_positions_that_share_no_tokens_cost_one_more_dimension(first, second, heads):
    """Keys such as (relation, country): the sum of weights is fixed per position, not only in total."""
    contexts = np.array([(a, first + b) for a in range(first) for b in range(second)])
    measured = numerical_rank(features(contexts, 12, 12, heads, seed=1))
    assert measured == bound_for(contexts, 12, 12, heads, groups=2) < bound_for(contexts, 12, 12, heads)


def test_facts_that_crowd_on_few_tokens_need_narrower_heads():
    """81 contexts over 3 tokens and 29 over others: p = 110 facts, one linear solve cannot hold them at k = 10."""
    crowded = np.array(list(itertools.product(range(3), repeat=4)))
    others = np.random.default_rng(0).integers(3, 40, size=(29, 4))
    contexts = np.concatenate([crowded, others])
    assert bound_for(contexts, 10, 10, 10) == len(contexts) == 110
    assert bound_for(crowded, 10, 10, 10) == 3 + 10 * 5
    assert numerical_rank(features(contexts, 10, 10, 10, seed=0)) == 29 + 3 + 10 * 5
    assert numerical_rank(features(contexts, 10, 2, 50, seed=0)) == 110


@settings(max_examples=40, deadline=None)
@given(
    vocab=st.integers(2, 7),
    context=st.integers(2, 3),
    dim=st.integers(1, 10),
    head_dim=st.integers(1, 10),
    heads=st.integers(1, 6),
    kept=st.floats(0.1, 1),
    seed=st.integers(0, 99),
)
def test_rank_never_exceeds_the_bound(vocab, context, dim, head_dim, heads, kept, seed):
    """On any subset of contexts, with N and the last tokens counted on that subset."""
    every = np.array(list(itertools.product(range(vocab), repeat=context)))
    chosen = np.random.default_rng(seed).permutation(len(every))[: max(1, int(kept * len(every)))]
    contexts, head_dim = every[chosen], min(dim, head_dim)
    assert numerical_rank(features(contexts, dim, head_dim, heads, seed)) <= bound_for(contexts, dim, head_dim, heads)
