"""The floor of coverage: a run below it fails, and CI makes that run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(("floor", "code"), [(10, 0), (90, 1)])
def test_a_run_below_the_floor_fails(tmp_path, floor, code):
    module = ROOT / "src" / "rote" / "errors.py"
    data = coverage.CoverageData(str(tmp_path / ".coverage"))
    reached = coverage.Coverage(data_file=None).analysis2(str(module))[1]
    data.add_lines({str(module): reached[: len(reached) // 2]})
    data.write()
    (tmp_path / "pyproject.toml").write_text(f"[tool.coverage.report]\nfail_under = {floor}\n")
    tool = [sys.executable, str(ROOT / "tools" / "coverage_by_package.py")]
    done = subprocess.run(tool, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "all" in done.stdout
    assert ("below the floor 90%" in done.stderr) == bool(code)


def test_ci_holds_the_floor():
    assert "\nmake test COVERAGE=yes\n" in (ROOT / ".ci" / "run").read_text()
    assert coverage.Coverage(config_file=str(ROOT / "pyproject.toml")).get_option("report:fail_under") >= 90
