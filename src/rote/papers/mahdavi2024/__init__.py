"""Mahdavi, Liao and Thrampoulidis 2024, "Memorization Capacity of Multi-Head Attention in Transformers".

Capacity against H, n and k, saturation of heads, the published grids, and the statements. The paper's figures are named
here by what they vary, since they differ only in that.
"""

from rote.papers.kinds.statements import Statement
from rote.papers.kinds.vectors import VectorFigure
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS
from rote.papers.mahdavi2024.grids import GRIDS, SATURATION
from rote.papers.mahdavi2024.statements import STATEMENTS

MAHDAVI2024: tuple[VectorFigure, ...] = (BY_HEADS, BY_CONTEXT, BY_HEAD_DIM, SATURATION, *GRIDS)
MAHDAVI2024_STATEMENTS: tuple[Statement, ...] = STATEMENTS
