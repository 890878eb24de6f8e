"""`rote list papers`: every paper with its title, and what it states, builds and shows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rote.constructions import CONSTRUCTIONS
from rote.theory import PAPERS, RESULTS


def test_every_paper_is_listed_with_its_title(rote):
    listed = {paper["paper"]: paper for paper in rote("list", "papers", "--json").json}
    assert set(listed) == set(PAPERS)
    assert all(paper["title"] and paper["title"] in paper["citation"] for paper in listed.values())
    assert {result["id"] for paper in listed.values() for result in paper["results"]} == set(RESULTS)
    assert {method["id"] for paper in listed.values() for method in paper["constructions"]} == set(CONSTRUCTIONS)


def test_the_table_fits_eighty_columns(rote, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = rote("list", "papers").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("bietti2023" in line and "Birth of a Transformer" in line for line in lines)


def test_one_paper_shows_its_results_with_kind_and_statement(rote, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = rote("show", "mahdavi2024").out
    assert "Memorization Capacity of Multi-Head Attention in Transformers" in shown
    assert RESULTS["mahdavi2024.theorem1"].statement.split(",")[0] in shown
    assert "lower" in shown
    assert "mahdavi2024.heads" in shown
    assert "figures" not in rote("show", "bietti2023").out
    assert "dana2025.fig1a" in rote("show", "dana2025").out


@pytest.mark.parametrize("name", ["nobody1999", "dana2025.fig99", "nobody1999.fig1"])
def test_an_unknown_name_is_one_message(rote, name):
    outcome = rote("show", name)
    assert outcome.code == 2
    assert name in outcome.err
    assert len(outcome.err) < 200


def test_verdicts_are_told_without_running_anything(rote, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = rote("show", "dana2025")
    lines = shown.out.splitlines()
    table = lines[next(at for at, line in enumerate(lines) if line.startswith("claims of the paper")) :]
    assert max(len(line) for line in table[: table.index("")]) <= 80
    assert any("theorem2-checked" in line for line in table)
    figure = rote("show", "dana2025.theorem2-checked", "--json").json["figure"]
    judged = {claim["id"]: claim["verdicts"][0] for claim in figure["claims"]}
    assert judged["as-printed"]["verdict"] == judged["bound"]["verdict"] == "supported"
    assert judged["bound"]["command"] == "rote reproduce dana2025.theorem2-checked"
    assert not figure["trains"]
    told = rote("show", "dana2025.fig4").out
    assert "verdict slope-at-dim-2, released" in told
    assert "around $1.7Hd_h$" in told
    assert "asked by rote" in told


def test_papers_need_no_torch():
    code = "import sys; from rote.cli import main; main(['list', 'papers']); assert 'torch' not in sys.modules"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "claims by who makes them" in told.stdout
    assert " review " in told.stdout


def test_capacities_that_were_searched_for_are_shown(rote):
    document = rote("show", "mahdavi2024.heads", "--json").json["figure"]
    first = document["capacities"][0]
    assert [point["heads"] for point in first["points"]] == [1, 2, 5, 10, 20]
    assert all(min(point["too_many"]) > min(point["recalled"]) for point in first["points"])
    shown = rote("show", "mahdavi2024.heads").out
    assert "5,107 to 5,362, 5,107 to 5,362" in shown


def test_a_result_is_shown_with_statement_source_and_methods(rote):
    shown = rote("show", "dana2025.theorem1").out
    for text in ("a lower bound", "T = Hk + d", "Dana, Pydi, Chevaleyre 2025, Theorem 1", "rote bounds", "settings"):
        assert text in shown
    document = rote("show", "dana2025.theorem1", "--json").json
    assert set(document) == {"id", "result", "method"}
    assert document["result"]["methods"] == ["dana2025.theorem1"]
    assert document["method"]["meets"] == "dana2025.theorem1"


@pytest.mark.parametrize(
    ("id", "kind", "text"),
    [
        ("countries", "source", "CC BY 4.0"),
        ("random", "source", "options of kind=vectors"),
        ("fast", "protocol", "few steps"),
        ("llama", "target", "pip install 'byrote[hf]'"),
        ("morris2025.bits", "result", "measured and not proved"),
    ],
)
def test_everything_listed_can_be_shown(rote, id, kind, text):
    assert text in rote("show", id).out
    assert rote("show", id, "--json").json[kind]["id"] == id
    assert id in [one["id"] for one in rote("list", f"{kind}s", "--json").json]


@pytest.mark.parametrize("kind", ["methods", "results", "sources", "protocols", "targets"])
def test_lists_fit_eighty_columns(rote, kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    listed = rote("list", kind)
    assert listed.code == 0
    assert max(map(len, listed.out.splitlines())) <= 80
    assert "details: rote show ID" in listed.out
