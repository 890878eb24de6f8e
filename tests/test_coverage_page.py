"""docs/coverage.md is what the records say, and what they name exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from pages.coverage import COVERAGE, STATUSES
from pages.coverage_page import coverage_page
from rote.constructions import CONSTRUCTIONS
from rote.papers import FIGURES
from rote.theory import RESULTS

ROOT = Path(__file__).parents[1]
ITEMS = [item for items in COVERAGE.values() for item in items]
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.M)
}
KNOWN = {*RESULTS, *CONSTRUCTIONS, *(figure.id for figures in FIGURES.values() for figure in figures)}


def exists(name: str) -> bool:
    if name.startswith("test_"):
        return name in TESTS
    if name.endswith(".md"):
        return (ROOT / name).is_file()
    return name in KNOWN or (name.startswith("rote.") and importlib.util.find_spec(name) is not None)


def test_the_page_is_current():
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    assert page == coverage_page(), "run python tools/write_pages.py"


def test_all_items_are_there():
    assert [len(items) for items in COVERAGE.values()] == [64, 8, 12, 13, 18]
    assert len({(source, item.item, item.place) for source, items in COVERAGE.items() for item in items}) == 115


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.item[:40])
def test_what_an_item_names_exists(item):
    assert item.status in STATUSES
    assert [name for name in item.where if not exists(name)] == []
    assert bool(item.where) == (item.status != "missing")
    assert item.reason or item.status == "complete"
