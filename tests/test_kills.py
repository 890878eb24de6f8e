"""Commands that are killed at random moments lose and leave nothing; `benchmarks/kills.py` does the same, longer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "kills.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.slow
def test_eight_kills_of_sweep_build_train_and_export_cost_nothing():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--kills", "8"], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 kills" in done.stdout
