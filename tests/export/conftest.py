"""Small models with their facts: countries in words, codes in letters, nouns of several lengths."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from exported_models import Example, example

import rote
from rote.export import export_model
from rote.tasks import AssociationTask
from rote.tasks.origin import Origin, Reading


@pytest.fixture(scope="session")
def words() -> Example:
    return example(rote.facts("countries").take(slice(0, 100)))


@pytest.fixture(scope="session")
def letters() -> Example:
    """Three letters each, and a letter stands at several places."""
    names = [a + b + c for a in "ABC" for b in "ABD" for c in "ACE"]
    rows = [(tuple(name), f"zone {place % 5}") for place, name in enumerate(names)]
    return example(AssociationTask.from_facts(rows, Origin(reading=Reading(keys="letters"))))


@pytest.fixture(scope="session")
def padded() -> Example:
    """Letters of several lengths, with spaces in them and in the answers."""
    import polars

    nouns = ["cat", "dog", "sea lion", "ant", "bee", "sea", "lion", "cow", "ox", "emu", "owl", "old owl"]
    table = polars.DataFrame({"noun": nouns, "kind": [("a b", "c", "d e")[len(noun) % 3] for noun in nouns]})
    task = rote.facts(table, keys="letters")
    assert isinstance(task, AssociationTask)
    return example(task)


@pytest.fixture(scope="session")
def words_in(words, tmp_path_factory):
    """Writes a copy of the export of `words` to a target, which is made once: tracing a graph takes seconds."""
    root = tmp_path_factory.mktemp("exported")

    def copied(target: str, folder: Path) -> None:
        if not (root / target).exists():
            export_model(words.built, target, root / target, words.task)
        shutil.copytree(root / target, folder)

    return copied


@pytest.fixture(params=["words", "letters", "padded"])
def any_example(request: pytest.FixtureRequest) -> Example:
    return request.getfixturevalue(request.param)
