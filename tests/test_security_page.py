"""SECURITY.md names a test for each guarantee, and the tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
TEST = re.compile(r"`([\w/]*test_\w+\.py)`")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


def test_every_kind_of_input_names_its_test():
    rows = [line for line in SECTIONS["Not trusted"].splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 12
    assert [row for row in rows if not TEST.search(row.split("|")[-2])] == []


@pytest.mark.parametrize("section", ["Network", "Interrupts and limits", "Dependencies"])
def test_every_guarantee_in_words_names_its_test(section):
    """Paragraphs and items; those about what is not guaranteed promise nothing."""
    blocks = [block for block in re.split(r"\n\n|\n(?=- )", SECTIONS[section]) if block.strip()]
    promises = [block for block in blocks if not block.startswith("Not guaranteed")]
    introduced = [block for block in promises if not block.rstrip().endswith("(`tests/web`):")]
    assert introduced
    assert [block for block in introduced if not TEST.search(block)] == []


def test_every_test_that_is_named_exists():
    named = TEST.findall(PAGE)
    known = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert [name for name in named if not any(path == name or path.endswith(f"/{name}") for path in known)] == []


def test_what_is_not_guaranteed_and_a_contact_are_named():
    assert PAGE.count("Not guaranteed:") >= 3
    assert "private vulnerability reporting" in SECTIONS["Reporting"]
    assert "@" not in SECTIONS["Reporting"]
