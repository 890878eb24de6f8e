"""Exact memorizers of fact tables, and on disk."""

from __future__ import annotations

import numpy as np
import pytest

from rote.constructions.kajitsuka2025.exact import exact_memorizer, load_exact, save_exact
from rote.errors import InputError
from rote.tasks import AssociationTask, Vocabulary

FACTS = [(("paris", "is", "in"), "france"), (("rome", "is", "in"), "italy"), (("is", "rome", "in"), "what")]


@pytest.mark.parametrize("storage", ["faithful", "lean", "hashed"])
def test_facts_in_words(storage):
    task = AssociationTask.from_facts(FACTS)
    memorizer = exact_memorizer(task, storage)
    assert memorizer.recalled(task) == 3
    other = AssociationTask.from_facts(FACTS[::-1])
    assert memorizer.recalled(other) == 3
    assert task.vocabulary.words(memorizer.answer(task)) == ("france", "italy", "what")


def test_words_longer_than_any_float_survive_the_disk(tmp_path):
    rng = np.random.default_rng(0)
    contexts = np.unique(rng.integers(0, 30, (900, 3)), axis=0)
    task = AssociationTask(contexts, rng.integers(0, 30, len(contexts)), Vocabulary.numbered(30))
    memorizer = exact_memorizer(task)
    assert memorizer.transformer.second.largest_bits > 53
    assert memorizer.recalled(task) == task.facts
    folder = save_exact(memorizer, tmp_path / "exact")
    assert load_exact(folder).recalled(task) == task.facts
    with pytest.raises(InputError, match="not an empty folder"):
        save_exact(memorizer, folder)


def test_spoilt_folders_are_refused(tmp_path):
    task = AssociationTask.from_facts(FACTS)
    with pytest.raises(InputError, match="cannot be read"):
        load_exact(tmp_path)
    folder = save_exact(exact_memorizer(task), tmp_path / "exact")
    text = (folder / "second.jsonl").read_text()
    (folder / "second.jsonl").write_text(text.replace('"0x1"', '"0x2"', 1))
    with pytest.raises(InputError, match="checksum"):
        load_exact(folder)
    (folder / "memorizer.json").write_text("{}")
    with pytest.raises(InputError, match="format"):
        load_exact(folder)
