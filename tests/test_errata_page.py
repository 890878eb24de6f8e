"""docs/errata.md is what the records say, and every entry has a quotation, a kind and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.errata_page import errata_page
from rote.papers.errata import ERRATA, VERDICTS
from rote.theory import PAPERS

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "errata.md"
DEFINED = {
    name for path in TESTS.rglob("test_*.py") for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.M)
}


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == errata_page(), "run python tools/write_pages.py"


def test_ids_are_unique():
    assert len({entry.id for entry in ERRATA}) == len(ERRATA)


@pytest.mark.parametrize("entry", ERRATA, ids=lambda entry: entry.id)
def test_every_entry_is_complete(entry):
    assert entry.paper in PAPERS
    assert entry.id.startswith(f"{entry.paper}.")
    assert entry.verdict in VERDICTS
    assert entry.tests
    assert set(entry.tests) <= DEFINED, sorted(set(entry.tests) - DEFINED)
    assert entry.title
    assert entry.truth.endswith((".", ")"))
    assert entry.quotation
    assert entry.version
    assert entry.place
    if entry.verdict in ("false", "unproved", "misprint or convention"):
        assert entry.counterexample
