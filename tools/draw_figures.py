"""Draw the figures of docs/ whose data ship with rote: `python tools/draw_figures.py`."""

from __future__ import annotations

from pathlib import Path

from pages.diagrams import DIAGRAMS, write_diagram
from pages.documented_charts import documented_charts
from rote.charts.drawing import write_chart

DOCS = Path(__file__).parents[1] / "docs"

for name, chart in documented_charts().items():
    print(write_chart(chart, DOCS / f"{name}.png"))
for name, diagram in DIAGRAMS.items():
    print(write_diagram(diagram, DOCS / f"{name}.png"))
