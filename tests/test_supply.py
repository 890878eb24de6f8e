"""What rote is made of: pinned packages with hashes, and data whose licences are told."""

from __future__ import annotations

import functools
import operator
import re
from pathlib import Path

import pytest

from rote.tasks.sources import SOURCES

ROOT = Path(__file__).parents[1]
FILES = ("core", "test", "site", "fuzz", "release")
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.M)


def versions(text: str) -> dict[str, str]:
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in PINNED.findall(text)}


def requirements(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", FILES)
def test_every_package_is_pinned_to_the_version_of_the_constraints_with_hashes(name):
    constraints, pinned = versions((ROOT / "constraints.txt").read_text()), versions(requirements(name))
    assert pinned
    differing = {package for package in pinned.keys() & constraints.keys() if pinned[package] != constraints[package]}
    assert differing == set()
    blocks = re.split(r"\n(?=\S)", requirements(name).strip())
    assert [block for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("name", FILES)
def test_no_file_of_hashes_names_an_index(name):
    assert not re.search(r"://|--index|--find-links| @ ", requirements(name))


def test_what_the_project_needs_is_among_the_hashes():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for name, wanted in (
        ("core", project["dependencies"]),
        ("site", [*project["dependencies"], *functools.reduce(operator.iadd, extras.values(), [])]),
    ):
        packages = {re.split(r"[\[<>=!~ ]", text)[0].lower() for text in wanted} - {"torch"}
        assert packages - versions(requirements(name)).keys() == set()


def test_every_source_tells_its_licence_and_so_does_the_page_on_data():
    page = (ROOT / "docs" / "data.md").read_text()
    for source in SOURCES.values():
        assert source.licence, source.name
        assert source.citation, source.name
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{source.name}`")]
        assert source.licence.lower() in row.lower(), (source.name, source.licence)
