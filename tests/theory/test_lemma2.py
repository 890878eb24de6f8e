"""The corrected Lemma 2 (docs/lemma2.md): exact instances, the certified range, and where the printed lemma fails."""

import itertools
import random

import numpy as np
import pytest

from rote.theory.crowding import Crowding, crowding
from rote.theory.exact_rank import PRIME, all_contexts, dependent_rows, exact_rank, rank_modulo
from rote.theory.rank_range import CERTIFIED_CONTEXTS, certified_sizes, rank_is_known


def differences(contexts, tokens: int) -> np.ndarray:
    """x_s - x_S of every context and position, where all token and position vectors are independent."""
    unit = np.eye(tokens + contexts.shape[1], dtype=np.int64)
    x = unit[contexts] + unit[tokens:]
    return (x[:, :-1] - x[:, -1:]).reshape(-1, unit.shape[1])


def attention_rank(contexts, dim: int, heads: int) -> int:
    """Rank of the attention outputs alone, for weights at random."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(contexts.max() + 1, dim))[contexts] + draw.normal(size=(contexts.shape[1], dim))
    outputs = []
    for _ in range(heads):
        scores = np.exp(np.einsum("td,de,tse->ts", x[:, -1], draw.normal(size=(dim, dim)), x) / dim)
        outputs.append(np.einsum("ts,tsd->td", scores / scores.sum(1, keepdims=True), x))
    return int(np.linalg.matrix_rank(np.concatenate(outputs, 1)))


def test_lemma_2_fails_on_four_contexts():
    four = all_contexts(2, 2)
    assert min(len(four), 1 * 4) == 4
    assert attention_rank(four, dim=4, heads=1) == 3
    # The reason: all outputs lie in the span of one vector and two differences.
    unit = np.eye(4, dtype=np.int64)
    x = unit[four] + unit[2:]
    assert rank_modulo(np.concatenate([x[:, -1], (x[:, 0] - x[:, 1])])) == 3


def test_the_proof_of_lemma_2_needs_s_at_least_d():
    """v_t orthogonal to the two vectors of t annihilates every attention output, whatever W is."""
    draw = np.random.default_rng(1)
    contexts, dim = all_contexts(5, 2), 10
    x = draw.normal(size=(5, dim))[contexts] + draw.normal(size=(2, dim))
    v = np.stack([np.linalg.svd(pair)[2][-1] for pair in x])
    for _ in range(20):
        scores = np.exp(np.einsum("td,de,tse->ts", x[:, -1], draw.normal(size=(dim, dim)), x) / dim)
        outputs = np.einsum("ts,tsd->td", scores / scores.sum(1, keepdims=True), x)
        assert abs((v * outputs).sum()) < 1e-12
    assert np.linalg.norm(v) == pytest.approx(5)


def test_no_hyperplane_does_not_mean_full_rank():
    """Rank-one matrices span all matrices, and one of them raises a rank by one."""
    draw = np.random.default_rng(2)
    dim, contexts = 3, 6
    matrices = [np.outer(draw.normal(size=dim), draw.normal(size=contexts)) for _ in range(40)]
    assert np.linalg.matrix_rank(np.stack([matrix.ravel() for matrix in matrices])) == dim * contexts
    assert np.linalg.matrix_rank(np.concatenate(matrices[:2])) == 2 < min(2 * dim, contexts)


@pytest.mark.parametrize(("vocab", "context", "dim", "head_dim", "heads"), [
    (3, 2, 2, 1, 7), (4, 2, 4, 3, 4), (3, 3, 3, 2, 12), (2, 5, 2, 2, 15), (6, 2, 5, 5, 6), (4, 3, 6, 4, 15),
])  # fmt: skip
@pytest.mark.parametrize("rank_one", [False, True])
def test_all_contexts_have_the_rank_that_is_proved(vocab, context, dim, head_dim, heads, rank_one):
    assert rank_is_known(vocab, context, dim, head_dim)
    expected = min(vocab**context, min(dim, vocab) + heads * head_dim)
    assert exact_rank(all_contexts(vocab, context), dim, head_dim, heads, rank_one=rank_one) == expected


def smallest_bound(contexts, dim: int, head_dim: int, heads: int) -> int:
    """|T \\ U| + min(d, last tokens of U) + H min(k, a(U)), smallest over all U."""
    bounds = [len(contexts)]
    for count in range(1, len(contexts) + 1):
        for chosen in itertools.combinations(range(len(contexts)), count):
            part = contexts[list(chosen)]
            skip = min(dim, len(set(part[:, -1].tolist())))
            reach = rank_modulo(differences(part, int(contexts.max()) + 1))
            bounds.append(len(contexts) - count + skip + heads * min(head_dim, reach))
    return min(bounds)


@pytest.mark.parametrize("seed", range(8))
def test_rank_of_every_set_of_pairs_is_the_minimum_over_its_subsets(seed):
    draw = np.random.default_rng(seed)
    every = all_contexts(3 + seed % 2, 2)
    contexts = every[draw.permutation(len(every))[:7]]
    dim, heads = int(draw.integers(2, 5)), int(draw.integers(1, 3))
    head_dim = int(draw.integers(1, dim + 1))
    expected = smallest_bound(contexts, dim, head_dim, heads)
    assert exact_rank(contexts, dim, head_dim, heads, seed=seed) == expected


def test_a_crowded_subset_of_pairs_lowers_the_rank():
    """9 facts on three tokens and one elsewhere: Hk + d = 10 with 5 tokens for 5 dimensions, but the rank is 7."""
    contexts = np.concatenate([all_contexts(3, 2), [[3, 4]]])
    assert smallest_bound(contexts, 5, 5, 1) == exact_rank(contexts, 5, 5, 1) == 1 + 3 + 3


def test_a_subset_can_have_less_than_its_bound_beyond_pairs():
    """S = 3: one head on the contexts with one last token computes sums of functions of one token each."""
    same_last = all_contexts(2, 3)
    same_last = same_last[same_last[:, -1] == 0]
    assert rank_modulo(differences(same_last, 2)) == 3
    assert exact_rank(same_last, dim=4, head_dim=3, heads=1) == 3 < 1 + 3


def test_a_sample_of_the_certified_range():
    sizes = list(certified_sizes())
    assert {(size.vocab, size.context) for size in sizes} == {
        (vocab, context) for vocab in range(2, 11) for context in range(3, 11) if vocab**context <= CERTIFIED_CONTEXTS
    }
    small = [size for size in sizes if size.vocab**size.context <= 260]
    for size in random.Random(0).sample(small, 12):
        contexts = all_contexts(size.vocab, size.context)
        assert exact_rank(contexts, size.dim, size.dim, size.heads, rank_one=True) == size.rank


def test_what_is_known():
    assert rank_is_known(50, 2, 10, 10)
    assert rank_is_known(5, 2, 100, 100)
    assert rank_is_known(5, 4, 12, 12)
    assert not rank_is_known(5, 6, 12, 12)
    assert rank_is_known(5, 6, 12, 5)
    assert not rank_is_known(50, 2, 1, 1)  # at d = 1 two answers at most can be the maximum


def test_rank_modulo_a_prime():
    draw = np.random.default_rng(0)
    thin = draw.integers(PRIME, size=(30, 7))
    mixed = thin.astype(object) @ draw.integers(PRIME, size=(7, 25)).astype(object) % PRIME
    assert rank_modulo(mixed.astype(np.int64)) == 7


def test_the_facts_that_crowd_are_found():
    crowded = np.array(list(itertools.product(range(3), repeat=4)))
    others = np.random.default_rng(0).integers(3, 40, size=(29, 4))
    contexts = np.concatenate([crowded, others])
    found = crowding(contexts, dim=10, head_dim=10, heads=10)
    assert found == Crowding(facts=81, tokens=3, last_tokens=3, rank=3 + 10 * 5)
    assert crowding(contexts, dim=10, head_dim=2, heads=50) is None


def test_rows_of_a_dependence_are_told_apart():
    rows = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 5]])
    assert dependent_rows(rows).tolist() == [True, True, True, False]
    assert not dependent_rows(rows[[0, 1, 3]]).any()
