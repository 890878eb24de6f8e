"""Every test that the page of corrections names exists."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "errata.md"


def test_every_correction_has_its_test():
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    defined = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.M)
    }
    assert named
    assert named <= defined, sorted(named - defined)
