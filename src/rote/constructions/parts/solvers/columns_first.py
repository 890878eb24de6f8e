"""Matrices turned for LAPACK, which reads columns first.

torch turns a matrix in tiles and on all cores; NumPy goes along it with a stride, which takes five to eight times as
long on thousands of rows.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def columns_first(matrix: Tensor) -> np.ndarray:
    """A copy of a matrix whose columns lie one after another."""
    return matrix.t().contiguous().numpy().T


def rows_of(matrix: np.ndarray, first: int, last: int) -> np.ndarray:
    """A copy of some rows of a matrix that lies columns first, in the same order."""
    return torch.from_numpy(matrix.T)[:, first:last].contiguous().numpy().T
