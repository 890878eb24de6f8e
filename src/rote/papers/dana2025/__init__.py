"""Dana, Pydi and Chevaleyre 2025, "Memorization in Attention-only Transformers": Figures 1 to 10, and its
statements."""

from rote.papers.dana2025.association_statements import ASSOCIATION_STATEMENTS
from rote.papers.dana2025.attention_statements import ATTENTION_STATEMENTS
from rote.papers.dana2025.dim import FIGURE2A, FIGURE2B
from rote.papers.dana2025.encoder_statements import ENCODER_STATEMENTS
from rote.papers.dana2025.head_dim import FIGURE1B, FIGURE6, FIGURE9
from rote.papers.dana2025.heads import FIGURE1A, FIGURE4, FIGURE5, FIGURE8
from rote.papers.dana2025.mlp import FIGURE3, FIGURE7, FIGURE10
from rote.papers.kinds.lookups import LookupFigure
from rote.papers.kinds.statements import Statement

DANA2025: tuple[LookupFigure, ...] = (
    FIGURE1A, FIGURE1B, FIGURE2A, FIGURE2B, FIGURE3, FIGURE4, FIGURE5, FIGURE6, FIGURE7, FIGURE8, FIGURE9, FIGURE10,
)  # fmt: skip
DANA2025_STATEMENTS: tuple[Statement, ...] = (*ENCODER_STATEMENTS, *ATTENTION_STATEMENTS, *ASSOCIATION_STATEMENTS)
