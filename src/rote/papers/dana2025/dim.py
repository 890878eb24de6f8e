"""Growth in the embedding dimension: Figures 2a (experiment 3) and 2b (experiment 4, from experiment 1's trials)."""

from __future__ import annotations

from rote.papers.claims import Claim, GrowsAs
from rote.papers.dana2025 import released
from rote.papers.dana2025.claims import ABOVE_BOUND, released_values
from rote.papers.dana2025.head_dim import VARIANTS
from rote.papers.dana2025.heads import EXPERIMENT1, Variant, attention
from rote.papers.kinds.lookups import Cell, Experiment, LookupFigure, Quick, SlowerBeyond, StraightUpTo
from rote.papers.texts import preprint

HEAD_DIM = 10


TWO_PARTS = preprint(
    r"As shown on figure 2.a, the scaling law is composed of two parts: $d \le d_h$ and $d \ge d_h$.", "Section 4.2"
)
GREATER_BELOW = preprint(
    r"The fact that we observe a greater linear scaling for $d \le d_h$ also suggest that C(d, N) is linear in d for "
    r"$d \le d_h$ only.",
    "Section 4.2",
)


def _around_head_dim(variant: Variant) -> tuple[Claim, ...]:
    """Linear up to d = k and slower beyond, of what the paper ran; of what its equation says rote asks."""
    ran = variant == "shared"
    meaning = "As released (shared)" if ran else "Equation (2) (per-head)"
    return (
        Claim(
            f"linear-to-k-{variant}",
            f"{meaning}: accuracy is linear in d up to k",
            StraightUpTo(HEAD_DIM, variant),
            GREATER_BELOW if ran else None,
        ),
        Claim(
            f"slower-beyond-k-{variant}",
            f"{meaning}: accuracy grows more slowly in d beyond k",
            SlowerBeyond(HEAD_DIM, variant),
            TWO_PARTS if ran else None,
        ),
        Claim(
            f"flat-beyond-k-{variant}",
            f"{meaning}: beyond k the slope is less than a third of that up to k",
            SlowerBeyond(HEAD_DIM, variant, 1 / 3),
        ),
    )


FIGURE2A = LookupFigure(
    "dana2025.fig2a",
    "Accuracy against embedding dimension, k = 10, H = 20, N = 50",
    Experiment(
        "dana2025.fig2a",
        tuple(
            Cell(
                variant,
                d,
                attention(50, d, HEAD_DIM, 20, variant=variant),
                published=published if variant == "shared" else None,
            )
            for variant in VARIANTS
            for d, published in released.BY_DIM.items()
        ),
        repeats=5,
        quick=Quick(repeats=2),
    ),
    "embedding dimension d",
    ("saturating", "linear"),
    (*_around_head_dim("shared"), *_around_head_dim("per-head"), ABOVE_BOUND, released_values()),
)


FIGURE2B = LookupFigure(
    "dana2025.fig2b",
    "Accuracy per head against d = k, N = 50",
    EXPERIMENT1,
    "embedding and head dimension d = k",
    ("cubic", "quadratic", "power"),
    (
        Claim(
            "cubic-in-dim",
            "The slope in H grows as d^3",
            GrowsAs(2.7, 3.3),
            preprint(
                "We observe that the coefficient has a cubic growth when $d=d_h$, leading to the scaling $C(N)d^3H$.",
                "Section 4.2",
            ),
        ),
        Claim("quadratic-in-dim", "The slope in H grows as d^2", GrowsAs(1.7, 2.3)),
    ),
    y="slope of accuracy in H",
    saturation=None,
    derived="slopes",
)
