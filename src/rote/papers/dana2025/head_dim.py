"""Growth in the head dimension: Figures 1b (experiment 2), 6 (vocab 200) and 9 (three layers).

The released experiments put one compression d -> k and one decompression k -> d around all heads of a layer when
k < d: variant `shared`. The paper's equation (2) has heads that read all of R^d: variant `per-head`.
"""

from __future__ import annotations

from collections.abc import Iterable

from rote.papers.claims import Claim, GrowsAs, Quotation
from rote.papers.dana2025 import released
from rote.papers.dana2025.claims import ABOVE_BOUND, FIGURE_1, released_values
from rote.papers.dana2025.heads import THREE_LAYERS, VOCAB_200, Variant, attention
from rote.papers.kinds.lookups import Cell, Experiment, LookupFigure, Quick, Training

VARIANTS: tuple[Variant, ...] = ("per-head", "shared")


def narrow_cells(
    vocab: int, dim: int, heads: int, head_dims: Iterable[int], training: Training, layers: int = 1,
    published: dict[int, float] | None = None,
) -> tuple[Cell, ...]:  # fmt: skip
    """Models of one dimension plotted against head_dim, a series per variant; released values are of `shared`."""
    return tuple(
        Cell(
            variant,
            k,
            attention(vocab, dim, k, heads, variant=variant, layers=layers),
            training,
            (published or {}).get(k) if variant == "shared" else None,
        )
        for variant in VARIANTS
        for k in head_dims
    )


def power_of_k(name: str, low: float, high: float, quotation: Quotation | None = None) -> tuple[Claim, ...]:
    """The claim for what the paper ran, which a sentence may make, and for what its equation says."""
    return (
        Claim(
            f"{name}-shared",
            f"As released (shared): accuracy is {name} in k",
            GrowsAs(low, high, series="shared"),
            quotation,
        ),
        Claim(
            f"{name}-per-head",
            f"Equation (2) (per-head): accuracy is {name} in k",
            GrowsAs(low, high, series="per-head"),
        ),
    )


FIGURE1B = LookupFigure(
    "dana2025.fig1b",
    "Accuracy against head dimension, d = 10, H = 20, N = 50",
    Experiment(
        "dana2025.fig1b",
        narrow_cells(50, 10, 20, range(1, 11), Training(), published=released.BY_HEAD_DIM),
        repeats=5,
        quick=Quick(repeats=2),
    ),
    "head dimension k",
    ("quadratic", "power", "linear"),
    (*power_of_k("quadratic", 1.75, 2.25, FIGURE_1), ABOVE_BOUND, released_values()),
)

FIGURE6 = LookupFigure(
    "dana2025.fig6",
    "Accuracy against head dimension, d = 50, H = 11, N = 200",
    Experiment(
        "dana2025.fig6",
        narrow_cells(200, 50, 11, released.LARGE_BY_HEAD_DIM, VOCAB_200, published=released.LARGE_BY_HEAD_DIM),
        repeats=5,
        quick=Quick(every=3, repeats=1),
        note="At k = d there is nothing to compress: the last point of `shared` is a per-head model.",
    ),
    "head dimension k",
    ("linear", "power", "quadratic"),
    (*power_of_k("linear", 0.9, 1.1), ABOVE_BOUND, released_values()),
)

FIGURE9 = LookupFigure(
    "dana2025.fig9",
    "Accuracy against head dimension, d = 10, H = 21, three layers, N = 70",
    Experiment(
        "dana2025.fig9",
        narrow_cells(70, 10, 21, range(1, 11), THREE_LAYERS, layers=3, published=released.DEEP_BY_HEAD_DIM),
        repeats=5,
        quick=Quick(("shared",), every=3, repeats=1),
        note="Three layers and positions as in the released code; the text says five.",
    ),
    "head dimension k",
    ("quadratic", "power", "linear"),
    (*power_of_k("quadratic", 1.75, 2.25), released_values()),
)
