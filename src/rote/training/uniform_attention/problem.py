"""The training problem of F2 . uniform attention . F1: token frequencies, first tokens, and labels or targets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

SPARSE = 0.05
"""Density of the token frequencies up to which sparse products are used."""


@dataclass(frozen=True)
class SequenceProblem:
    """All sequences of a task. The network sees the order of tokens only at the first position."""

    shares: Float[Tensor, "tokens sequences"]
    """Frequency of each token in each sequence."""
    first: Int[Tensor, " sequences"]
    labels: Int[Tensor, " sequences"] | None = None
    targets: Float[Tensor, " sequences"] | None = None
    table: Float[Tensor, "width tokens"] | None = None
    """The tokens' vectors, if they are given and not trained."""

    @classmethod
    def of_tokens(
        cls, sequences: np.ndarray, tokens: int, labels: np.ndarray | None = None, targets: np.ndarray | None = None,
        table: np.ndarray | None = None,
    ) -> SequenceProblem:  # fmt: skip
        """The problem of given sequences of token numbers (sequences x length)."""
        shares = np.zeros((tokens, len(sequences)), dtype=np.float32)
        for place in range(sequences.shape[1]):
            shares[sequences[:, place], np.arange(len(sequences))] += 1 / sequences.shape[1]
        return cls.of_shares(shares, sequences[:, 0], labels, targets, table)

    @classmethod
    def of_shares(
        cls, shares: np.ndarray, first: np.ndarray, labels: np.ndarray | None = None,
        targets: np.ndarray | None = None, table: np.ndarray | None = None,
    ) -> SequenceProblem:  # fmt: skip
        """The problem of given token frequencies (tokens x sequences), for sequences too long to write out."""
        return cls(
            torch.from_numpy(np.ascontiguousarray(shares, dtype=np.float32)),
            torch.from_numpy(first.astype(np.int64)),
            None if labels is None else torch.from_numpy(labels.astype(np.int64)),
            None if targets is None else torch.from_numpy(targets.astype(np.float32)),
            None if table is None else torch.from_numpy(np.ascontiguousarray(table, dtype=np.float32)),
        )

    def average(self, hidden: Float[Tensor, "networks wide tokens"]) -> Float[Tensor, "networks wide sequences"]:
        """The mean over each sequence's tokens."""
        return self._product(hidden, self.shares, 0)

    def spread(self, slopes: Float[Tensor, "networks wide sequences"]) -> Float[Tensor, "networks wide tokens"]:
        """The transpose of `average`: the gradients of the means, by token."""
        return self._product(slopes, self.shares.mT, 1)

    def _product(self, left: Tensor, right: Tensor, way: int) -> Tensor:
        networks, wide, _ = left.shape
        flat = left.reshape(networks * wide, -1)
        if self._sparse is None:
            return (flat @ right).view(networks, wide, -1)
        product = self._sparse[way] @ np.ascontiguousarray(flat.numpy().T)
        return torch.from_numpy(np.ascontiguousarray(product.T)).view(networks, wide, -1)

    @cached_property
    def _sparse(self) -> tuple[Any, Any] | None:
        """Sparse frequencies by sequence and by token, if most are zero; None in float64, which uses dense products."""
        from scipy.sparse import csr_array

        shares = self.shares.numpy()
        if self.shares.dtype != torch.float32 or np.count_nonzero(shares) > SPARSE * shares.size:
            return None
        return csr_array(shares.T), csr_array(shares)
