"""The rank of attention features in exact arithmetic: a proof by one instance.

The rank of the features of T contexts is the largest one at almost all parameters, since each minor is a real-analytic
function of them. So one instance whose rank is known exactly is a proof that almost every layer of these sizes has at
least that rank. The instance: whole numbers for e, pos, W_Q and W_V, and log(b) times whole numbers for W_K. Scores are
then log(b) times whole numbers m, so that softmax weights b^m / sum b^m are rational, and features too. They are
reduced modulo the prime p = 2^31 - 1: a minor that is not zero modulo p is not zero.
"""

from __future__ import annotations

import numpy as np

PRIME = 2**31 - 1
BASE = 7
"""b: a primitive root of the prime."""


def all_contexts(vocab: int, context: int) -> np.ndarray:
    """The N^S contexts, one per row."""
    return np.indices((vocab,) * context).reshape(context, -1).T


def exact_rank(contexts: np.ndarray, dim: int, head_dim: int, heads: int, rank_one: bool = False, seed: int = 0) -> int:
    """Rank modulo p of [x_S, V_1 A^1, ..., V_H A^H] on these contexts (one per row), at one random instance.

    Almost every attention layer with these sizes has at least this rank on them. `rank_one`: W_Q^T W_K of rank one.
    """
    return rank_modulo(exact_features(contexts, dim, head_dim, heads, rank_one, seed))


def exact_features(
    contexts: np.ndarray, dim: int, head_dim: int, heads: int, rank_one: bool = False, seed: int = 0
) -> np.ndarray:
    """The features of these contexts at one random instance, modulo p: one row per context."""
    draw = np.random.default_rng(seed)
    tokens, positions = int(contexts.max()) + 1, contexts.shape[1]
    e = draw.integers(PRIME, size=(tokens, dim))
    pos = draw.integers(PRIME, size=(positions, dim))
    x = e[contexts] + pos  # whole numbers below 2^32; reduced modulo p for values and modulo p - 1 for exponents
    value, exponent = x % PRIME, x % (PRIME - 1)
    groups = [value[:, -1]]
    for _ in range(heads):
        query, key = draw.integers(PRIME - 1, size=(2, 1 if rank_one else head_dim, dim))
        scores = _exponents(exponent, query, key)
        weights = _power(BASE, scores)
        total = weights.sum(1) % PRIME
        if not total.all():
            raise ArithmeticError("a sum of exponentials is divisible by the prime: take another seed")
        mixed = sum(weights[:, s, None] * value[:, s] % PRIME for s in range(positions)) % PRIME
        mixed = mixed * _power(total, np.full_like(total, PRIME - 2))[:, None] % PRIME
        read = draw.integers(PRIME, size=(head_dim, dim))
        groups.append(_product(mixed, read.T, PRIME))
    return np.concatenate(groups, 1)


def _exponents(x: np.ndarray, query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """x_S^T W_Q^T W_K x_s, in units of log b, modulo p - 1: by Fermat's theorem b^m depends on no more."""
    modulus = PRIME - 1
    asked = _product(x[:, -1], query.T, modulus)
    offered = _product(x.reshape(-1, x.shape[2]), key.T, modulus).reshape(*x.shape[:2], -1)
    scores = np.zeros(offered.shape[:2], dtype=np.int64)
    for i in range(asked.shape[1]):
        scores = (scores + asked[:, None, i] * offered[:, :, i]) % modulus
    return scores


def _product(left: np.ndarray, right: np.ndarray, modulus: int) -> np.ndarray:
    out = np.zeros((left.shape[0], right.shape[1]), dtype=np.int64)
    for i in range(left.shape[1]):  # one product of two numbers below 2^31 at a time fits in 63 bits
        out = (out + left[:, i, None] * right[None, i]) % modulus
    return out


def _power(base: int | np.ndarray, exponents: np.ndarray) -> np.ndarray:
    out = np.ones_like(exponents)
    square = np.broadcast_to(np.asarray(base, dtype=np.int64), exponents.shape).copy()
    left = exponents.copy()
    while left.any():
        out = np.where(left & 1, out * square % PRIME, out)
        square = square * square % PRIME
        left >>= 1
    return out


def rank_modulo(matrix: np.ndarray, prime: int = PRIME) -> int:
    """Rank over the field of `prime` elements, by elimination."""
    rest = np.array(matrix.T if matrix.shape[0] < matrix.shape[1] else matrix) % prime
    return _eliminate(rest, rest.shape[1], prime)


def dependent_rows(matrix: np.ndarray, prime: int = PRIME) -> np.ndarray:
    """Which rows take part in a linear dependence of the rows, over the field of `prime` elements."""
    rows = len(matrix)
    rest = np.concatenate([matrix % prime, np.eye(rows, dtype=np.int64)], 1)
    rank = _eliminate(rest, matrix.shape[1], prime)
    return np.count_nonzero(rest[rank:, matrix.shape[1] :], axis=0) > 0


def _eliminate(rest: np.ndarray, columns: int, prime: int) -> int:
    """Bring the first columns to echelon form in place, and count the pivots."""
    rank = 0
    for column in range(columns):
        nonzero = np.flatnonzero(rest[rank:, column])
        if not len(nonzero):
            continue
        pivot = rank + nonzero[0]
        if pivot != rank:
            rest[[rank, pivot]] = rest[[pivot, rank]]
        row = rest[rank, column:] * pow(int(rest[rank, column]), -1, prime) % prime
        below = rank + 1
        factors = rest[below:, column].copy()
        rest[below:, column:] = (rest[below:, column:] - factors[:, None] * row) % prime
        rank += 1
        if rank == rest.shape[0]:
            break
    return rank
