"""Where rote was installed without a compiler, training works and says once, in one line, that it is slower."""

from __future__ import annotations

import subprocess
import sys

RUN = """
import sys
from rote.training import native_engine

native_engine.library_path = lambda: None
from rote.cli import main

FACTS = "random:vocab=8,context=2,facts=12,seed=1"
for name in ("one", "two"):
    assert main(["train", FACTS, "-o", name, "--dim", "4", "--heads", "2", "--seeds", "2", "--steps", "20"]) == 0
"""


def test_a_slower_engine_is_said_once(tmp_path):
    done = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, check=True)
    said = [line for line in done.stderr.splitlines() if "native engine" in line]
    assert said == [
        "rote: the native engine is not built here: training runs on the torch engine, several times slower "
        "(install rote where there is a C++ compiler to have it built)"
    ]
    assert "RuntimeWarning" not in done.stderr
