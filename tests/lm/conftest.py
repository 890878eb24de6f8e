"""Tiny language models, saved once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="language models need the package transformers")
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def gpt2(tmp_path_factory):
    from tiny import save_gpt2

    return save_gpt2(tmp_path_factory.mktemp("models") / "gpt2")


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    from tiny import save_llama

    return save_llama(tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture(scope="session")
def mamba(tmp_path_factory):
    from tiny import save_mamba

    return save_mamba(tmp_path_factory.mktemp("models") / "mamba")


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    from tiny import save_bert

    return save_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture
def capitals(tmp_path):
    """A table of five facts; one answer has two tokens."""
    path = tmp_path / "capitals.csv"
    path.write_text("country,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\nNorway,Oslo\nAmerica,New York\n")
    return path
