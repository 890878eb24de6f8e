"""Figures that pages show and whose data ship are current: each file carries the digest of the chart it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from pages.documented_charts import documented_charts
from rote.charts import digest
from rote.charts.drawing import write_chart

DOCS = Path(__file__).parents[2] / "docs"
CHARTS = documented_charts()


def carried(path: Path) -> str:
    with Image.open(path) as image:
        return image.info["Description"]


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_the_figure_is_current(name):
    assert carried(DOCS / f"{name}.png") == digest(CHARTS[name]), "run python tools/draw_figures.py"


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_a_page_shows_it(name):
    pages = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
    assert any(f"{name}.png" in page.read_text(encoding="utf-8") for page in pages)


def test_a_file_carries_the_digest_of_its_chart(tmp_path):
    chart = CHARTS["guarantees"]
    path = write_chart(chart, tmp_path / "chart.png")
    assert carried(path) == digest(chart)
