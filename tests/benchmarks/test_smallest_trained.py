"""The smallest trained model: the search for heads, fresh seeds, and going on where it was cut short."""

from __future__ import annotations

import numpy as np
import pytest

import rote
from rote.errors import InputError
from rote.folders import read_folder, verify
from rote.tasks import AssociationTask, Vocabulary
from studies import smallest_trained as module
from studies.smallest_trained import fewest, smallest_trained

FACTS = "random:vocab=6,context=2,facts=12,seed=1"


@pytest.mark.parametrize("start", [1, 3, 17, 40, 200])
@pytest.mark.parametrize("needed", [1, 2, 17, 40])
def test_the_fewest_heads_are_met_from_wherever_the_search_starts(start, needed):
    assert fewest(lambda heads: heads >= needed, start, 0.0, tries=60) == needed


def test_a_tolerance_ends_the_search_sooner_and_never_below_what_is_needed():
    tried = []

    def whole(heads: int) -> bool:
        tried.append(heads)
        return heads >= 170

    assert 170 <= (fewest(whole, 200, 0.05, tries=60) or 0) <= 179
    assert len(tried) <= 5


def test_a_search_that_runs_out_of_tries_says_that_nothing_was_whole():
    assert fewest(lambda heads: False, 5, 0.0, tries=3) is None


def test_the_smallest_trained_model_is_whole_from_fresh_seeds_and_verifies(tmp_path):
    search = smallest_trained(FACTS, tmp_path, parameters=120, dims=[2, 3], short=20, seeds=1, steps=300, polish=20)
    assert search.folder is not None
    assert search.summary is not None
    task = rote.facts(FACTS)
    assert verify(read_folder(search.folder), task).holds
    assert search.summary["recalled"] == task.facts == 12
    assert search.spec.parameters() == search.summary["parameters"]
    assert {tried.steps for tried in search.dims} == {20}
    assert [tried.spec.dim for tried in search.tries] == [search.dims[0].spec.dim] * len(search.tries)
    assert search.seconds > 0


def test_a_search_made_again_trains_nothing(tmp_path, monkeypatch):
    settings = {"parameters": 120, "dims": [3], "seeds": 1, "steps": 300, "polish": 20}
    first = smallest_trained(FACTS, tmp_path, **settings)
    monkeypatch.setattr(module, "train_best", None)
    assert smallest_trained(FACTS, tmp_path, **settings) == first


def test_models_of_another_training_are_refused_and_never_taken_for_these(tmp_path):
    settings = {"parameters": 120, "dims": [3], "tries": 1, "seeds": 1, "polish": 20}
    assert smallest_trained(FACTS, tmp_path, steps=300, **settings).folder is not None
    with pytest.raises(InputError, match="another protocol"):
        smallest_trained(FACTS, tmp_path, steps=310, **settings)


def test_what_was_reached_is_told_where_nothing_is_whole(tmp_path):
    search = smallest_trained(FACTS, tmp_path, parameters=60, dims=[2], tries=1, steps=1, polish=0)
    assert search.folder is None
    assert search.summary is None
    assert search.closest == search.tries[0]
    assert search.closest.recalled < 12
    assert search.spec == search.tries[0].spec


def test_facts_that_contradict_one_another_are_refused(tmp_path):
    contexts, answers = np.array([[0, 0], [0, 0], [0, 1]]), np.array([0, 1, 2])
    contradictory = AssociationTask(contexts, answers, Vocabulary.numbered(6))
    with pytest.raises(InputError, match="contradict"):
        smallest_trained(contradictory, tmp_path, parameters=60, dims=[2])


def test_settings_that_ask_for_nothing_are_refused_all_at_once(tmp_path):
    with pytest.raises(InputError, match=r"(?s)short=0.*tries=0.*seeds=0.*tolerance=1"):
        smallest_trained(FACTS, tmp_path, parameters=60, dims=[2], short=0, tries=0, seeds=0, tolerance=1.0)
