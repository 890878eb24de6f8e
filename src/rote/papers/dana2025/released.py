"""Accuracies released with Dana, Pydi and Chevaleyre 2025, "Memorization in Attention-only Transformers" (AISTATS).

From the result files beside the published code (https://github.com/leodana2000/Transformer_Attentional_Memory), rounded
to four digits: means over 5 repeats (20 in experiment 6) of the accuracy over the last 100 training batches, so that
each pair counts as often as it was sampled. The numbers are in `released.json`, by the name of their table here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TABLES: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "released.json").read_text(encoding="utf-8"))


def _values(table: str) -> dict[int, float]:
    """An accuracy per size."""
    return {int(size): value for size, value in _TABLES[table].items()}


def _rows(table: str) -> dict[int, tuple[float, ...]]:
    """A row of accuracies per dimension."""
    return {int(dim): tuple(row) for dim, row in _TABLES[table].items()}


HEADS = (1, 6, 11, 16, 21, 26, 31)

BY_DIM_AND_HEADS = _rows("by_dim_and_heads")
"""Experiment 1: vocab 50, dim = head_dim, a row per dimension and a column per number of heads."""

BY_HEAD_DIM = _values("by_head_dim")
"""Experiment 2: vocab 50, dim 10, 20 heads; behind a shared compression where head_dim < 10."""

FLAT_BY_HEADS = _values("flat_by_heads")
"""Experiment 6: vocab 10, dim = head_dim = 2."""

DEEP_HEADS = (1, 5, 9, 13, 17, 21)

DEEP_BY_DIM_AND_HEADS = _rows("deep_by_dim_and_heads")
"""Experiment 1 at three layers: vocab 70, dim = head_dim, a column per number of heads in each layer."""

DEEP_BY_HEAD_DIM = _values("deep_by_head_dim")
"""Experiment 2 at three layers: vocab 70, dim 10, 21 heads; behind a shared compression where head_dim < 10."""

DEEP_MLP_BY_DIM = _rows("deep_mlp_by_dim")
"""Experiment 5 at three layers: one head and an MLP of width 0, 8 dim, ..., 40 dim in each layer."""

BY_DIM = _values("by_dim")
"""Experiment 3: vocab 50, head_dim 10, 20 heads; behind a shared compression where dim is not 10."""

WIDE_BY_DIM_AND_HEADS = _rows("wide_by_dim_and_heads")
"""Experiment 5, attention: vocab 70, dim = head_dim, a column for each of `HEADS`."""

WIDE_MLP_BY_DIM = _rows("wide_mlp_by_dim")
"""Experiment 5, one head and an MLP of width 0, 10 dim, ..., 60 dim: the columns of `HEADS`."""

LARGE_HEADS = (1, 3, 5, 7, 9, 11)

LARGE_BY_DIM_AND_HEADS = _rows("large_by_dim_and_heads")
"""Experiment 1 at vocab 200: dim = head_dim, a column per number of heads."""

LARGE_BY_HEAD_DIM = _values("large_by_head_dim")
"""Experiment 2 at vocab 200: dim 50, 11 heads; behind a shared compression where head_dim < 50."""

LARGE_MLP_BY_DIM = _rows("large_mlp_by_dim")
"""Experiment 5 at vocab 200: one head and an MLP of width 0, 4 dim, ..., 20 dim."""
