"""Attention heads against an MLP at the same number of parameters: Figures 3 (experiment 5), 7 and 10.

The MLP-based model has one head and an MLP of width 2d(H - 1) where the attention-only model has H heads: the same
number of parameters up to the MLP's bias. The attention-only models of Figures 7 and 10 are those of 5 and 8, so that
these figures share runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rote.models.mlp_transformer import MlpTransformer
from rote.papers.dana2025.claims import undecided
from rote.papers.dana2025.heads import DEEP, DIM200, attention
from rote.papers.findings import Findings
from rote.papers.paper import Cell, Claim, Experiment, Figure, Quick, Training, Verdict, Weighting

WIDE = Training(batches=256, batch=1024)


def _cells(
    vocab: int, dims: Iterable[int], heads: Iterable[int], training: Training, mlp_training: Training, layers: int = 1
) -> tuple[Cell, ...]:
    cells = []
    for d in dims:
        for H in heads:
            spec = attention(vocab, d, d, H, layers=layers)
            cells.append(Cell(f"attention, d = {d}", spec.parameters(), spec, training))
        for H in heads:
            spec = MlpTransformer(
                vocab=vocab,
                context=2,
                dim=d,
                head_dim=d,
                heads=1,
                width=2 * d * (H - 1),
                layers=layers,
                positions_every_layer=layers > 1,
                scale_scores=True,
            )
            cells.append(Cell(f"MLP, d = {d}", spec.parameters(), spec, mlp_training))
    return tuple(cells)


def _gaps(found: Findings, weighting: Weighting) -> list[tuple[float, float, float]]:
    """(MLP minus attention, spread of the MLP's seeds, spread of attention's), below saturation, place by place."""
    gaps = []
    for one in found.series:
        other = found.named(one.name.replace("attention", "MLP"))
        if other is None or other is one:
            continue
        for left, right in zip(one.places, other.places, strict=True):
            a, m = left.mean(weighting), right.mean(weighting)
            if a is not None and m is not None and min(a, m) < 0.95:
                gaps.append((m - a, right.spread(weighting) or 0.0, left.spread(weighting) or 0.0))
    return gaps


def _same(found: Findings, weighting: Weighting) -> Verdict:
    gaps = _gaps(found, weighting)
    if not gaps:
        return undecided("no pair of cells to compare")
    values = np.array([gap for gap, _, _ in gaps])
    numbers = {"mean_gap": float(values.mean()), "largest_gap": float(np.abs(values).max()), "pairs": len(gaps)}
    most = np.abs(values).max()
    why = f"MLP minus attention {values.mean():+.3f} on average, largest |gap| {most:.3f}, {len(gaps)} pairs"
    close = float(np.abs(values).mean())
    return Verdict("holds" if close <= 0.02 else "does not", why, numbers)


def _better(found: Findings, weighting: Weighting) -> Verdict:
    gaps = _gaps(found, weighting)
    if len(gaps) < 4:
        return undecided("too few pairs of cells to compare")
    above = sum(gap > 0 for gap, _, _ in gaps)
    spreads = [float(np.mean([pair[place] for pair in gaps])) for place in (1, 2)]
    why = (
        f"MLP higher in {above} of {len(gaps)} pairs; spread over seeds {spreads[0]:.4f} (MLP) against "
        f"{spreads[1]:.4f} (attention)"
    )
    numbers = {"higher": above, "pairs": len(gaps), "mlp_spread": spreads[0], "attention_spread": spreads[1]}
    share = above / len(gaps)
    return Verdict("holds" if share >= 0.75 else "does not" if share <= 0.25 else "undecided", why, numbers)


CLAIMS = (
    Claim(
        "same-per-parameter",
        "Attention heads and an MLP memorize alike at the same number of parameters",
        "mean |gap| between cells of equal size is at most .02, full cells aside",
        _same,
    ),
    Claim(
        "mlp-better",
        "The MLP memorizes more per parameter (and its seeds scatter more)",
        "the MLP is higher in three quarters of the pairs; refuted when lower in three quarters",
        _better,
    ),
)

FIGURE3 = Figure(
    "dana2025.fig3",
    "Accuracy against parameters, attention and MLP, N = 70",
    Experiment(
        "dana2025.fig3",
        _cells(70, (7, 10, 13), range(1, 32, 5), WIDE, replace(WIDE, final=1e-4)),
        repeats=5,
        quick=Quick(("attention, d = 7", "MLP, d = 7"), repeats=1),
    ),
    "parameters",
    ("linear", "power"),
    CLAIMS,
)
FIGURE7 = Figure(
    "dana2025.fig7",
    "Accuracy against parameters, attention and MLP, N = 200",
    Experiment(
        "dana2025.fig5",
        _cells(200, (40, 50, 60), range(1, 12, 2), DIM200, replace(DIM200, final=1e-4)),
        repeats=5,
        quick=Quick(("attention, d = 40", "MLP, d = 40"), every=2, repeats=1),
    ),
    "parameters",
    ("linear", "power"),
    CLAIMS,
)
FIGURE10 = Figure(
    "dana2025.fig10",
    "Accuracy against parameters, attention and MLP, three layers, N = 70",
    Experiment(
        "dana2025.fig8",
        _cells(70, (7, 10, 13), range(1, 22, 4), DEEP, DEEP, layers=3),
        repeats=5,
        quick=Quick(("attention, d = 7", "MLP, d = 7"), every=2, repeats=1),
        note="Three layers as in the released code; the text says five.",
    ),
    "parameters",
    ("linear", "power"),
    CLAIMS,
)
