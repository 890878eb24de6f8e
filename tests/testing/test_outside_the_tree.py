"""A construction and a bound in files outside the tree, as docs/extending.md writes them, pass the shipped suites."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rote.extend
from rote.errors import InputError
from rote.testing import kept_registries

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extending.md"
FILES = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))


def test_the_page_imports_only_what_is_promised():
    for text in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "rote":
                assert node.module in ("rote", "rote.extend", "rote.testing")
                promised = __import__(str(node.module), fromlist=["__all__"]).__all__
                assert {alias.name for alias in node.names} <= set(promised)


def run_outside(folder: Path, files: dict[str, str], *chosen: str) -> str:
    """What pytest reports about these files, in a folder and a process of their own."""
    for name, text in files.items():
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    done = subprocess.run(
        [*command, "test_mine2026.py", *chosen], cwd=folder, capture_output=True, text=True, check=False
    )
    return f"exit {done.returncode}\n{done.stdout}{done.stderr}"


def test_a_construction_and_a_bound_outside_the_tree_pass_the_suites(tmp_path):
    assert set(FILES) == {"mine2026.py", "test_mine2026.py"}
    report = run_outside(tmp_path, FILES)
    assert report.startswith("exit 0\n"), report
    assert int(re.search(r"(\d+) passed", report).group(1)) >= 15


def test_the_suites_find_what_is_wrong(tmp_path):
    wrong = FILES["mine2026.py"].replace("answers).long()]", "answers).long().flip(0)]")
    wrong = wrong.replace('return SmallestModel("one dimension per token", spec)', 'return SmallestModel("", spec)')
    report = run_outside(tmp_path, {**FILES, "mine2026.py": wrong}, "-k", "stores or a_reason")
    failed = set(re.findall(r"^FAILED test_mine2026\.py::(\w+::\w+)", report, re.MULTILINE))
    assert "TestConstruction::test_it_stores_what_it_guarantees" in failed
    assert "TestResult::test_its_smallest_model_is_a_size_or_a_reason" in failed


def test_registries_are_kept():
    with kept_registries():
        rote.extend.register_paper(rote.extend.Paper("mine2026", "Mine 2026", "A table", "unpublished"))
        assert "mine2026" in rote.extend.PAPERS
    assert "mine2026" not in rote.extend.PAPERS


def test_ids_are_registered_once():
    with pytest.raises(InputError, match="paper dana2025: this id is registered already"):
        rote.extend.register_paper(rote.extend.PAPERS["dana2025"])
    with pytest.raises(InputError, match="letters and digits"):
        rote.extend.register_paper(rote.extend.Paper("a b", "A 2026", "A", "unpublished"))
    with pytest.raises(InputError, match="source countries: this name is registered already"):
        rote.extend.register_source(rote.extend.SOURCES["countries"])
