"""A few of the bad inputs of benchmarks/bad_inputs.py, which tries ten thousand: no traceback, hang or file left."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hostile.surfaces import SHARES, surfaces
from hostile.watch import watched

pytest.importorskip("fastapi", reason="the page needs the package fastapi")

ATTEMPTS, LEAST = 60, 6
"""Attempts in all, and on one surface: of three, two may be harmless."""
NAMES = [name for name in SHARES if name not in ("language models", "exports")]  # in tests/lm and tests/export


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_refused_or_read_and_nothing_else(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (surface,) = surfaces(tmp_path / "store", name)
    count = max(LEAST, round(ATTEMPTS * SHARES[name]))
    verdicts = [watched(surface, number, tmp_path / "scratch") for number in range(count)]
    assert [(verdict.case, *verdict.flaws) for verdict in verdicts if verdict.flaws] == []
    assert sum(not verdict.accepted for verdict in verdicts) >= len(verdicts) / 2


def test_the_watch_sees_what_it_watches_for(tmp_path, monkeypatch):
    class Broken:
        name = "broken"

        def bad(self, rng, given):
            def attempt():
                (given / "left").write_text("half")
                raise KeyError("a mistake of ours")

            return attempt

    class Slow:
        name = "slow"

        def bad(self, rng, given):
            def attempt():
                while True:
                    pass

            return attempt

    (trace, left) = watched(Broken(), 0, tmp_path / "scratch").flaws
    assert "KeyError" in trace
    assert left == "leaves behind left"
    monkeypatch.setattr("hostile.watch.SECONDS", 0.1)
    assert watched(Slow(), 0, tmp_path / "scratch").flaws[0].startswith("hangs")


def test_the_watch_counts_processes_that_have_ended(tmp_path):
    spin = "import time\nwhile time.process_time() < 0.4: pass"

    class Forking:
        name = "forking"

        def __init__(self, helped):
            self.helped = helped

        def bad(self, rng, given):
            return lambda: subprocess.run([sys.executable, "-c", spin], check=True).returncode == 0

    for helped in (False, True):
        verdict = watched(Forking(helped), 0, tmp_path / "scratch")
        assert verdict.seconds > 0.4
