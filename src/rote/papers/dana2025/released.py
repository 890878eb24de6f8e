"""Accuracies released with Dana, Pydi and Chevaleyre 2025, "Memorization in Attention-only Transformers" (AISTATS).

From the result files beside the published code (https://github.com/leodana2000/Transformer_Attentional_Memory), rounded
to four digits: means over 5 repeats (20 in experiment 6) of the accuracy over the last 100 training batches, so that
each pair counts as often as it was sampled.
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

DEEP_HEADS = (1, 5, 9, 13, 17, 21)

DEEP_BY_DIM_AND_HEADS: dict[int, tuple[float, ...]] = {
    7: (0.0659, 0.1136, 0.1520, 0.1966, 0.2396, 0.2943),
    10: (0.0876, 0.1769, 0.2886, 0.3832, 0.4639, 0.5434),
    13: (0.1138, 0.2880, 0.4343, 0.5863, 0.6956, 0.7695),
}
"""Experiment 1 at three layers: vocab 70, dim = head_dim, a column per number of heads in each layer."""

DEEP_BY_HEAD_DIM: dict[int, float] = {
    1: 0.0498,
    2: 0.0601,
    3: 0.0821,
    4: 0.1260,
    5: 0.1774,
    6: 0.2377,
    7: 0.3002,
    8: 0.3743,
    9: 0.4533,
    10: 0.5453,
}
"""Experiment 2 at three layers: vocab 70, dim 10, 21 heads; behind a shared compression where head_dim < 10."""

DEEP_MLP_BY_DIM: dict[int, tuple[float, ...]] = {
    7: (0.0659, 0.1393, 0.1872, 0.2273, 0.2508, 0.3039),
    10: (0.0899, 0.2915, 0.3992, 0.4934, 0.5278, 0.5696),
    13: (0.1177, 0.4518, 0.6724, 0.7281, 0.6764, 0.7099),
}
"""Experiment 5 at three layers: one head and an MLP of width 0, 8 dim, ..., 40 dim in each layer."""

BY_DIM: dict[int, float] = {
    5: 0.2639,
    6: 0.3621,
    7: 0.4600,
    8: 0.5782,
    9: 0.6972,
    10: 0.8087,
    11: 0.7769,
    12: 0.7890,
    13: 0.7855,
    14: 0.8118,
    15: 0.8136,
}
"""Experiment 3: vocab 50, head_dim 10, 20 heads; behind a shared compression where dim is not 10."""

WIDE_BY_DIM_AND_HEADS: dict[int, tuple[float, ...]] = {
    7: (0.0544, 0.0980, 0.1275, 0.1639, 0.2004, 0.2379, 0.2704),
    10: (0.0680, 0.1514, 0.2301, 0.3009, 0.3893, 0.4901, 0.5940),
    13: (0.0855, 0.2190, 0.3629, 0.5106, 0.6859, 0.9112, 0.9992),
}
"""Experiment 5, attention: vocab 70, dim = head_dim, a column for each of `HEADS`."""

WIDE_MLP_BY_DIM: dict[int, tuple[float, ...]] = {
    7: (0.0541, 0.1223, 0.1694, 0.1852, 0.2058, 0.2280, 0.2386),
    10: (0.0698, 0.2365, 0.3740, 0.4978, 0.5780, 0.5897, 0.6934),
    13: (0.0845, 0.3953, 0.7794, 0.9439, 0.9774, 0.9860, 0.9976),
}
"""Experiment 5, one head and an MLP of width 0, 10 dim, ..., 60 dim: the columns of `HEADS`."""

LARGE_HEADS = (1, 3, 5, 7, 9, 11)

LARGE_BY_DIM_AND_HEADS: dict[int, tuple[float, ...]] = {
    40: (0.0768, 0.1478, 0.2144, 0.2776, 0.3346, 0.3947),
    50: (0.0937, 0.2032, 0.2989, 0.3930, 0.4781, 0.5591),
    60: (0.1104, 0.2587, 0.3935, 0.5155, 0.6241, 0.7266),
}
"""Experiment 1 at vocab 200: dim = head_dim, a column per number of heads."""

LARGE_BY_HEAD_DIM: dict[int, float] = {
    1: 0.0334,
    5: 0.0569,
    10: 0.0915,
    15: 0.1303,
    20: 0.1753,
    25: 0.2233,
    30: 0.2747,
    35: 0.3301,
    40: 0.3883,
    45: 0.4453,
    50: 0.5603,
}
"""Experiment 2 at vocab 200: dim 50, 11 heads; behind a shared compression where head_dim < 50."""

LARGE_MLP_BY_DIM: dict[int, tuple[float, ...]] = {
    40: (0.0781, 0.2744, 0.3794, 0.3778, 0.3680, 0.3712),
    50: (0.0937, 0.4082, 0.5388, 0.5190, 0.5054, 0.5090),
    60: (0.1112, 0.5477, 0.6782, 0.6382, 0.6312, 0.6254),
}
"""Experiment 5 at vocab 200: one head and an MLP of width 0, 4 dim, ..., 20 dim."""
