"""Draw the capacities that ship with rote (`rote show mahdavi2024.heads`) for the documentation.

python tools/draw_capacities.py docs
"""

from __future__ import annotations

import sys
from pathlib import Path

from rote.experiments.vectors.shipped import shipped_findings
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS
from rote.report.style import save
from rote.report.vector_figure import drawn_vectors

for figure in (BY_HEADS, BY_CONTEXT, BY_HEAD_DIM):
    print(save(drawn_vectors(shipped_findings(figure)), Path(sys.argv[1]) / f"{figure.id}.png"))
