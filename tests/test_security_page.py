"""SECURITY.md names a test for each guarantee, and the tests exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_guarantee_names_its_test():
    table = re.search(r"\| input \|.*?\n\n", PAGE, re.DOTALL)
    assert table is not None
    rows = table[0].strip().splitlines()[2:]
    assert len(rows) >= 10
    assert all(re.search(r"`tests/[\w/]+\.py`", row.split("|")[-2]) for row in rows)


def test_every_test_that_is_named_exists():
    named = re.findall(r"`([\w/]*test_\w+\.py)`", PAGE)
    assert named
    known = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert [name for name in named if not any(path == name or path.endswith(f"/{name}") for path in known)] == []
    assert "security advisory" in PAGE
