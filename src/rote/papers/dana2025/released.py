"""Accuracies released with Dana, Pydi and Chevaleyre 2025, "Memorization in Attention-only Transformers" (AISTATS).

From the result files beside the published code, rounded to four digits: means over 5 repeats (20 in experiment 6) of
the accuracy over the last 100 training batches, so that each pair counts as often as it was sampled.
"""

from __future__ import annotations

HEADS = (1, 6, 11, 16, 21, 26, 31)

BY_DIM_AND_HEADS: dict[int, tuple[float, ...]] = {
    3: (0.0586, 0.0652, 0.0758, 0.0856, 0.0879, 0.0950, 0.0973),
    4: (0.0678, 0.0904, 0.1143, 0.1257, 0.1463, 0.1596, 0.1737),
    5: (0.0738, 0.1193, 0.1582, 0.1922, 0.2248, 0.2572, 0.2936),
    6: (0.0856, 0.1536, 0.2103, 0.2659, 0.3138, 0.3753, 0.4232),
    7: (0.1005, 0.1887, 0.2634, 0.3443, 0.4313, 0.5125, 0.5913),
    8: (0.1121, 0.2311, 0.3348, 0.4450, 0.5596, 0.6628, 0.7833),
    9: (0.1217, 0.2758, 0.4133, 0.5523, 0.6960, 0.8337, 0.9384),
    10: (0.1298, 0.3243, 0.5062, 0.6852, 0.8608, 0.9634, 0.9974),
    11: (0.1401, 0.3710, 0.5866, 0.8020, 0.9618, 0.9986, 0.9998),
    12: (0.1471, 0.4359, 0.6792, 0.9174, 0.9966, 0.9999, 0.9999),
    13: (0.1626, 0.4820, 0.7745, 0.9882, 0.9998, 1.0000, 0.9999),
}
"""Experiment 1: vocab 50, dim = head_dim, a row per dimension and a column per number of heads."""

BY_HEAD_DIM: dict[int, float] = {
    1: 0.0815,
    2: 0.1096,
    3: 0.1554,
    4: 0.2094,
    5: 0.2879,
    6: 0.3567,
    7: 0.4534,
    8: 0.5457,
    9: 0.6391,
    10: 0.8044,
}
"""Experiment 2: vocab 50, dim 10, 20 heads; behind a shared compression where head_dim < 10."""

FLAT_BY_HEADS: dict[int, float] = {
    1: 0.3305,
    5: 0.4969,
    9: 0.6334,
    13: 0.7340,
    17: 0.8567,
    21: 0.8578,
}
"""Experiment 6: vocab 10, dim = head_dim = 2."""
