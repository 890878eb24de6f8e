"""Loss and accuracy along training: Figures 1 and 2 (MultiNLI, N = 2000), Figures 4 and 5 (IMDb, N = 3000)."""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.blocks import BlockCurvesFigure, MoreBlocksRecallMore, TextSequences

DEEPER = Claim("deeper", "Accuracy is higher with ten blocks or more than with one", MoreBlocksRecallMore())
BLOCKS = (1, 10, 20, 30, 40, 50)

THREE_CLASSES = BlockCurvesFigure(
    "kajitsuka2025.three-classes",
    "Loss and accuracy along training, 2,000 texts of three labels (Figures 1 and 2)",
    TextSequences(1000),
    2000,
    BLOCKS,
    (1, 10),
    (DEEPER,),
    note="Published for MultiNLI: about .92 with one block, .96 to .98 with more.",
)

TWO_CLASSES = BlockCurvesFigure(
    "kajitsuka2025.two-classes",
    "Loss and accuracy along training, 3,000 texts of two labels (Figures 4 and 5)",
    TextSequences(1000, classes=2),
    3000,
    BLOCKS,
    (1, 10),
    (DEEPER,),
    note="Published for IMDb: about .98 with one block, .99 with more.",
)
