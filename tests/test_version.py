"""The version is written once."""

from __future__ import annotations

import tomllib
from pathlib import Path

import rote

ROOT = Path(__file__).resolve().parents[1]


def test_the_distribution_takes_its_version_from_the_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in settings["project"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "rote.version.__version__"}


def test_the_citation_is_of_this_version():
    stated = [line for line in (ROOT / "CITATION.cff").read_text().splitlines() if line.startswith("version:")]
    assert stated == [f"version: {rote.__version__}"]
