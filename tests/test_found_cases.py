"""Every case that an audit found is held by a test that exists."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from hostile.found import FOUND

TESTS = Path(__file__).parent


@cache
def names(file: str) -> tuple[set[str], str]:
    """Tests of a file, and all that its code says."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return tests, "\n".join(ast.unparse(node) for node in tree.body)


def test_no_case_is_missing():
    assert len(FOUND) >= 70


@pytest.mark.parametrize("case", FOUND)
def test_a_found_case_is_held_by_a_test(case):
    assert FOUND[case]
    for test in FOUND[case]:
        place, _, parameter = test.partition("#")
        file, _, function = place.partition("::")
        known, text = names(file)
        assert function in known
        assert function.startswith("test_")
        assert parameter in text
