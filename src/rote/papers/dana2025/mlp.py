"""Attention heads against an MLP at the same number of parameters: Figures 3 (experiment 5), 7 and 10.

The MLP-based model has one head and an MLP of width 2d(H - 1) where the attention-only model has H heads: the same
number of parameters up to the MLP's bias. The attention-only models of Figures 7 and 10 are those of 5 and 8, so that
these figures share runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rote.models.mlp_transformer import MlpTransformer
from rote.papers.dana2025.heads import THREE_LAYERS, VOCAB_200, attention
from rote.papers.paper import Cell, Claim, Experiment, Figure, Quick, Training
from rote.papers.rules import MlpBetterAtEqualSize, SameAtEqualSize

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


CLAIMS = (
    Claim(
        "same-per-parameter",
        "Attention heads and an MLP memorize alike at the same number of parameters",
        SameAtEqualSize(),
    ),
    Claim(
        "mlp-better",
        "The MLP memorizes more per parameter (and its seeds scatter more)",
        MlpBetterAtEqualSize(),
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
        _cells(200, (40, 50, 60), range(1, 12, 2), VOCAB_200, replace(VOCAB_200, final=1e-4)),
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
        _cells(70, (7, 10, 13), range(1, 22, 4), THREE_LAYERS, THREE_LAYERS, layers=3),
        repeats=5,
        quick=Quick(("attention, d = 7", "MLP, d = 7"), every=2, repeats=1),
        note="Three layers as in the released code; the text says five.",
    ),
    "parameters",
    ("linear", "power"),
    CLAIMS,
)
