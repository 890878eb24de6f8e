"""Kajitsuka and Sato 2025, "On the Optimal Memorization Capacity of Transformers": experiments and
statements.

Smallest #blocks against N (Figure 7) and against the length n, and curves of training (Figures 1, 2, 4 and 5). What
the paper leaves open is chosen in `choices`.
"""

from rote.papers.kajitsuka2025.smallest import BY_LENGTH, BY_SEQUENCES, FIXED_EMBEDDING, THREE_CLASSES, TWO_CLASSES
from rote.papers.kajitsuka2025.statements import STATEMENTS
from rote.papers.kinds.blocks import BlockFigure
from rote.papers.kinds.statements import Statement

KAJITSUKA2025: tuple[BlockFigure, ...] = (BY_SEQUENCES, FIXED_EMBEDDING, BY_LENGTH, THREE_CLASSES, TWO_CLASSES)
KAJITSUKA2025_STATEMENTS: tuple[Statement, ...] = STATEMENTS
