"""`--part` with a paper whose figures are of several kinds."""

from __future__ import annotations

import pytest

from rote.cli import main
from rote.papers import FIGURES
from rote.papers.dana2025 import DANA2025


@pytest.mark.slow
def test_a_part_of_a_paper_trains_its_tables_and_leaves_the_rest_to_the_whole(tmp_path, monkeypatch, capsys):
    (table,) = [figure for figure in DANA2025 if figure.id == "dana2025.fig4"]
    (statement,) = [figure for figure in FIGURES["dana2025"] if figure.id == "dana2025.lemma2-checked"]
    monkeypatch.setitem(FIGURES, "dana2025", (table, statement))
    words = ["reproduce", "dana2025", "--quick", "--repeats", "1", "--workers", "1", "--part", "1/6"]
    assert main([*words, "-o", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["dana2025.fig4-fast-quick"]
    assert "part 1/6" in capsys.readouterr().out
