"""The smallest #blocks: against the number of sequences N (Figure 7), and against their length n.

Loss and accuracy along training: Figures 1 and 2 (MultiNLI, N = 2000), Figures 4 and 5 (IMDb, N = 3000).
"""

from __future__ import annotations

from dataclasses import replace

from rote.papers.claims import Claim
from rote.papers.kajitsuka2025.statements import LITTLE_INFLUENCE
from rote.papers.kinds.blocks import (
    BlockCurvesFigure,
    BlocksDoNotGrow,
    BlockSearch,
    MoreBlocksRecallMore,
    NoMoreThanPublished,
    RandomSequences,
    SmallestBlocksFigure,
    TextSequences,
    blocks_grow_as,
)

PUBLISHED = (
    (600, 1), (700, 1), (800, 3), (900, 3), (1000, 4), (1100, 4), (1200, 5), (1300, 5), (1400, 5), (1500, 8),
    (1600, 10), (1700, 16),
)  # fmt: skip
"""Figure 7, MultiNLI: (N, #blocks), read off the plot."""

LADDER = (1, 2, 3, 4, 6, 8, 12, 16)
SQUARE_ROOT = Claim("square-root", "#blocks that training needs grow as sqrt(N)", blocks_grow_as(0.4, 0.6))
MULTINLI, IMDB = "MultiNLI", "IMDb"


def _by_sequences(kinds: tuple[TextSequences, ...], counts: tuple[int, ...]) -> tuple[BlockSearch, ...]:
    return tuple(BlockSearch(kind, count) for kind in kinds for count in counts)


BY_SEQUENCES = SmallestBlocksFigure(
    "kajitsuka2025.blocks",
    "Smallest #blocks against sequences N, texts of n = 8 tokens",
    "sequences",
    _by_sequences(
        (TextSequences(1000), TextSequences(3000), TextSequences(None)),
        (100, 200, 400, 600, 800, 1000, 1200, 1400, 1700),
    ),
    LADDER,
    (
        replace(SQUARE_ROOT, data=MULTINLI),
        Claim("published", "No more blocks are needed than Figure 7 shows", NoMoreThanPublished(), data=MULTINLI),
    ),
    trials=10,
    quick=(100, 400, 800, 1200),
    published=PUBLISHED,
    note="The embedding is trained: two numbers per token, beside 84 for each #blocks.",
)

FIXED_EMBEDDING = SmallestBlocksFigure(
    "kajitsuka2025.fixed",
    "Smallest #blocks against sequences N, embedding not trained",
    "sequences",
    _by_sequences((TextSequences(1000, "fixed"),), (20, 30, 40, 50, 60, 80, 100, 150)),
    LADDER,
    (SQUARE_ROOT,),
    trials=10,
    quick=(20, 40, 60),
    note="Not in the paper: with a random embedding that stays, F1, attention and F2 alone hold the labels.",
)

BY_LENGTH = SmallestBlocksFigure(
    "kajitsuka2025.length",
    "Smallest #blocks against length n, 500 sequences of random tokens",
    "context",
    tuple(BlockSearch(RandomSequences(context), 500) for context in (10, 100, 1000, 10_000)),
    LADDER,
    (
        Claim("no-growth", "#blocks does not grow with the length", BlocksDoNotGrow(), LITTLE_INFLUENCE),
        Claim("published", "No more blocks are needed than the published 4", NoMoreThanPublished()),
    ),
    trials=10,
    quick=(10, 10_000),
    published=((10, 4), (100, 4), (1000, 4), (10_000, 4)),
)


DEEPER = Claim("deeper", "Accuracy is higher with ten blocks or more than with one", MoreBlocksRecallMore())
BLOCKS = (1, 10, 20, 30, 40, 50)

THREE_CLASSES = BlockCurvesFigure(
    "kajitsuka2025.three-classes",
    "Loss and accuracy along training, 2,000 texts of three labels (Figures 1 and 2)",
    TextSequences(1000),
    2000,
    BLOCKS,
    (1, 10),
    (replace(DEEPER, data=MULTINLI),),
    note="Published for MultiNLI: about 0.92 with one block, 0.96 to 0.98 with more.",
)

TWO_CLASSES = BlockCurvesFigure(
    "kajitsuka2025.two-classes",
    "Loss and accuracy along training, 3,000 texts of two labels (Figures 4 and 5)",
    TextSequences(1000, classes=2),
    3000,
    BLOCKS,
    (1, 10),
    (replace(DEEPER, data=IMDB),),
    note="Published for IMDb: about 0.98 with one block, 0.99 with more.",
)
