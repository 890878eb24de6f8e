"""Draw the capacities that ship with rote (`rote show mahdavi2024.heads`) for the documentation.

python tools/draw_capacities.py docs
"""

from __future__ import annotations

import sys
from pathlib import Path

from rote.experiments.vectors.shipped import shipped_findings
from rote.papers.mahdavi2024.capacity import BY_CONTEXT, BY_HEAD_DIM, BY_HEADS
from rote.report.drawing import write_chart

for figure in (BY_HEADS, BY_CONTEXT, BY_HEAD_DIM):
    for name, chart in shipped_findings(figure).charts().items():
        print(write_chart(chart, Path(sys.argv[1]) / f"{name}.png"))
