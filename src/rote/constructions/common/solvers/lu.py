"""LU factorisation in place, of matrices turned for LAPACK, which reads columns first.

It is torch's, on torch's threads: SciPy brings a linear algebra of its own, which took 1.5 times as long for factors of
6,000 rows and 1.7 times for triangular solves on the CPUs it was measured on. torch turns a matrix in tiles and on all
cores; NumPy goes along it with a stride, which takes five to eight times as long on thousands of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Integer
from torch import Tensor


class Lu(NamedTuple):
    """P F = L U, packed: U on and above the diagonal, L with ones on its diagonal below."""

    packed: Float[Tensor, "rows columns"]
    swaps: Integer[Tensor, " least"]
    """Row with which each row was exchanged in turn, counted from 1 as LAPACK does."""
    singular: bool

    @property
    def order(self) -> Integer[Tensor, " rows"]:
        """Rows of F in the order of P F."""
        order = list(range(len(self.packed)))
        for row, other in enumerate(self.swaps.tolist()):
            order[row], order[other - 1] = order[other - 1], order[row]
        return torch.tensor(order)


def lu_in_place(matrix: Float[Tensor, "rows columns"]) -> Lu:
    """Factorise a matrix that lies columns first; its numbers are overwritten by the factors."""
    swaps, info = torch.empty(0, dtype=torch.int32), torch.empty(0, dtype=torch.int32)
    torch.linalg.lu_factor_ex(matrix, out=(matrix, swaps, info))
    return Lu(matrix, swaps, bool(info))


def columns_first(matrix: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
    """A copy of a matrix whose columns lie one after another."""
    return matrix.t().clone(memory_format=torch.contiguous_format).t()


def rows_of(matrix: Float[Tensor, "rows columns"], first: int, last: int) -> Float[Tensor, "part columns"]:
    """A copy of some rows of a matrix that lies columns first, in the same order."""
    return matrix.t()[:, first:last].clone(memory_format=torch.contiguous_format).t()
