"""The version is written once."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import rote
from rote.version import DISTRIBUTION, pip_install

ROOT = Path(__file__).resolve().parents[1]


def test_the_distribution_takes_its_version_from_the_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in settings["project"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "rote.version.__version__"}


def test_the_citation_is_of_this_version():
    stated = [line for line in (ROOT / "CITATION.cff").read_text().splitlines() if line.startswith("version:")]
    assert stated == [f"version: {rote.__version__}"]


def test_the_distribution_is_byrote_wherever_pip_is_named():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["project"]["name"] == DISTRIBUTION == "byrote"
    assert pip_install("hf") == "pip install 'byrote[hf]'"
    assert pip_install() == "pip install byrote"
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("benchmarks/*.py")]
    wrong = re.compile(r"pip install.{0,3}rote|\brote\[\w")
    others = [path for path in texts if wrong.search(path.read_text(encoding="utf-8"))]
    assert others == []
