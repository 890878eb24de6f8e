"""The study of real tables, on a small one: plan, build, train and capacity, kept and written as a page."""

from __future__ import annotations

import pytest

from studies import real_tables as module
from studies.real_tables import TableSettings, real_tables
from studies.real_tables_page import write_real_tables_page

SMALL = "random:vocab=6,context=2,facts=12,seed=1"
QUICK = TableSettings(
    SMALL, 120, (3,), 20, seeds=1, protocol={"steps": 300, "polish": 20}, also={"dana2025.theorem1": "float64"}
)
HOPELESS = TableSettings(SMALL.replace("seed=1", "seed=2"), 60, (2,), 20, tries=1, protocol={"steps": 1, "polish": 0})


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return folder, real_tables(folder, tables=[QUICK, HOPELESS], workers=1)


def test_the_smallest_models_are_whole_and_hold_what_counting_allows(study):
    table = study[1][0]
    assert table.ceiling == 1
    assert table.shape.associations == 12
    assert table.trained_model is not None
    assert table.trained_model.whole
    for model in (*table.built, table.trained_model):
        assert model.whole
        assert model.bytes * 8 >= table.bits
    assert table.smallest_built().parameters <= table.smallest_built("attention-only").parameters
    assert table.fewest_bytes.bytes <= table.smallest_built().bytes
    assert table.guaranteed is not None
    assert table.stored >= min(12, table.guaranteed)


def test_ways_that_a_plan_does_not_size_are_built_on_request_in_the_dtype_asked_for(study):
    assert "float64" in [model.dtype for model in study[1][0].built if model.id == "dana2025.theorem1"]


def test_a_table_that_training_does_not_recall_whole_says_what_was_reached(study):
    table = study[1][1]
    assert table.trained_model is None
    assert table.trained.closest.recalled < 12


def test_a_study_made_again_builds_and_trains_nothing(study, monkeypatch):
    folder, tables = study
    monkeypatch.setattr("rote.experiments.sizing.built.build", None)
    for name in ("plan", "capacity", "verify"):
        monkeypatch.setattr(module, name, None)
    again = real_tables(folder, tables=[QUICK, HOPELESS], workers=1)
    assert again == tables


def test_the_page_shows_every_table_and_its_figure(study, tmp_path):
    page, drawn = write_real_tables_page(study[1], tmp_path / "real_tables.md", "make the page")
    text = page.read_text(encoding="utf-8")
    assert drawn.name in text
    assert drawn.stat().st_size > 10_000
    assert "none with full recall" in text
    assert "make the page" in text
    assert all(SMALL.split(",seed")[0] in line for line in text.splitlines() if line.startswith("| random"))
