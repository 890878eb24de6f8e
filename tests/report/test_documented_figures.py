"""Figures that pages show and whose data ship are current: each file carries the digest of the chart it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from pages.diagrams import DIAGRAMS, write_diagram
from pages.diagrams import digest as diagram_digest
from pages.documented_charts import documented_charts
from rote.charts import digest
from rote.charts.drawing import write_chart

DOCS = Path(__file__).parents[2] / "docs"
CHARTS = documented_charts()
CURRENT = {name: digest(chart) for name, chart in CHARTS.items()} | {
    name: diagram_digest(diagram) for name, diagram in DIAGRAMS.items()
}


def carried(path: Path) -> str:
    with Image.open(path) as image:
        return image.info["Description"]


@pytest.mark.parametrize("name", sorted(CURRENT))
def test_the_figure_is_current(name):
    assert carried(DOCS / f"{name}.png") == CURRENT[name], "run python tools/draw_figures.py"


@pytest.mark.parametrize("name", sorted(CURRENT))
def test_a_page_shows_it(name):
    file = f"{name.rpartition('/')[2]}.png"
    assert any(file in page.read_text(encoding="utf-8") for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"])


def test_a_file_carries_the_digest_of_its_chart(tmp_path):
    chart = CHARTS["guarantees"]
    path = write_chart(chart, tmp_path / "chart.png")
    assert carried(path) == digest(chart)


def test_a_diagram_carries_its_digest(tmp_path):
    name, diagram = next(iter(DIAGRAMS.items()))
    assert carried(write_diagram(diagram, tmp_path / "diagram.png")) == CURRENT[name]
