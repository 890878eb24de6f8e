"""The native engine's source compiles without a warning, at every vector width."""

from __future__ import annotations

import platform
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
import setuptools

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def build():
    """The names of `setup.py`, which builds nothing here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", lambda **_: None)
        return runpy.run_path(str(ROOT / "setup.py"))


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
@pytest.mark.parametrize("lanes", [4, 8, 16] if platform.machine() in ("x86_64", "AMD64") else [4])
def test_the_engine_compiles_without_warnings(build, lanes):
    flags = [*build["COMMON"], *build["WIDE"].get(lanes, [])]
    assert {"-Wall", "-Wextra"} <= set(flags)
    macros = [f"-DROTE_LANES={lanes}", f"-DROTE_ISA=lanes{lanes}"]
    source = str(ROOT / build["SOURCE"] / "engine.cpp")
    done = subprocess.run(
        ["g++", *flags, *macros, "-Werror", "-fsyntax-only", source], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
