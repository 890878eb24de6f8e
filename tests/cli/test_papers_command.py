"""`rote papers`: every paper with its title, and what it states, builds and shows."""

from __future__ import annotations

import pytest

from rote.constructions import CONSTRUCTIONS
from rote.theory import PAPERS, RESULTS


def test_every_paper_is_listed_with_its_title(rote):
    listed = {paper["paper"]: paper for paper in rote("papers", "--json").json}
    assert set(listed) == set(PAPERS)
    assert all(paper["title"] and paper["title"] in paper["citation"] for paper in listed.values())
    assert {result["id"] for paper in listed.values() for result in paper["results"]} == set(RESULTS)
    assert {method["id"] for paper in listed.values() for method in paper["constructions"]} == set(CONSTRUCTIONS)


def test_the_table_fits_eighty_columns(rote, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = rote("papers").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("bietti2023" in line and "Birth of a Transformer" in line for line in lines)


def test_one_paper_shows_its_results_with_kind_and_statement(rote, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = rote("papers", "mahdavi2024").out
    assert "Memorization Capacity of Multi-Head Attention in Transformers" in shown
    assert RESULTS["mahdavi2024.theorem1"].statement.split(",")[0] in shown
    assert "lower" in shown
    assert "mahdavi2024.heads" in shown
    assert "figures" not in rote("papers", "bietti2023").out
    assert "dana2025.fig1a" in rote("papers", "dana2025").out


@pytest.mark.parametrize("name", ["nobody1999", "dana2025.fig99", "nobody1999.fig1"])
def test_an_unknown_name_is_one_message(rote, name):
    outcome = rote("papers", name)
    assert outcome.code == 2
    assert name in outcome.err
    assert "known:" in outcome.err
