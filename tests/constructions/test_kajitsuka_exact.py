"""Exact memorizers of fact tables."""

from __future__ import annotations

import numpy as np
import pytest

from rote.constructions.kajitsuka2025.exact import exact_memorizer
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


def test_words_longer_than_any_float_are_recalled():
    rng = np.random.default_rng(0)
    contexts = np.unique(rng.integers(0, 30, (900, 3)), axis=0)
    task = AssociationTask(contexts, rng.integers(0, 30, len(contexts)), Vocabulary.numbered(30))
    memorizer = exact_memorizer(task)
    assert memorizer.transformer.second.largest_bits > 53
    assert memorizer.recalled(task) == task.facts
