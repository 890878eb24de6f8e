"""Verification trusts nothing in the folder but the tensors."""

from __future__ import annotations

import json

import numpy as np
import pytest
import safetensors.torch

from rote.errors import InputError
from rote.folders import read_folder, verify
from rote.tasks import AssociationTask, Vocabulary


def failing(verdict) -> set[str]:
    return {check.name for check in verdict.checks if not check.holds}


def test_an_untouched_folder_verifies(folder, task):
    verdict = verify(read_folder(folder), task)
    assert verdict.holds
    assert len(verdict.missed) == 0


def test_facts_in_another_order_and_vocabulary_verify(folder, task):
    order = np.random.default_rng(0).permutation(task.facts)
    tokens = list(reversed(task.vocabulary.tokens))
    other = task.take(order).in_vocabulary(Vocabulary([*tokens, "a word of no fact"]))
    assert verify(read_folder(folder), other).holds


def test_one_changed_answer_is_named(folder, task):
    answers = task.answers.copy()
    answers[17] = (answers[17] + 1) % task.vocab
    verdict = verify(read_folder(folder), AssociationTask(task.contexts, answers, task.vocabulary))
    assert not verdict.holds
    assert verdict.missed.tolist() == [17]
    assert {"facts_fingerprint", "recalled"} <= failing(verdict)


def test_an_answer_in_a_word_the_model_never_heard_is_a_miss(folder, task):
    facts = [task[row] for row in range(task.facts)]
    facts[5] = facts[5]._replace(answer="unheard")
    verdict = verify(read_folder(folder), AssociationTask.from_facts(facts))
    assert verdict.missed.tolist() == [5]
    assert not verdict.holds


def test_facts_in_foreign_words_are_refused(folder):
    with pytest.raises(InputError, match="none of these facts"):
        verify(read_folder(folder), AssociationTask.from_facts([(("x", "y"), "z")]))


def flip_byte(path, offset_from_end: int) -> None:
    content = bytearray(path.read_bytes())
    content[-offset_from_end] ^= 0x40
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("offset", [1, 2, 3, 4, 250, 251, 252])
def test_one_flipped_byte_of_a_weight_is_found(folder, task, offset):
    flip_byte(folder / "model.safetensors", offset)
    verdict = verify(read_folder(folder), task)
    assert not verdict.holds
    assert "weights_fingerprint" in failing(verdict)


def test_a_weight_that_is_not_a_number_fails_its_facts(folder, task):
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    weights["unembed"][3] = float("nan")
    safetensors.torch.save_file(weights, folder / "model.safetensors")
    verdict = verify(read_folder(folder), task)
    assert not verdict.holds
    assert len(verdict.missed) == task.facts


@pytest.mark.parametrize(
    ("field", "lie"),
    [
        ("facts", 1000),
        ("recalled", 143),
        ("min_margin", 5.0),
        ("dtype", "float64"),
        ("parameters", 1),
        ("bits", 1e6),
        ("margin_rounding", 0.7),
    ],
)
def test_a_certificate_that_lies_is_caught(folder, task, field, lie):
    path = folder / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: lie}))
    assert failing(verify(read_folder(folder), task)) == {field}


def restated(folder, **lies):
    path = folder / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **lies}))
    return read_folder(folder)


def test_a_certificate_with_the_old_key_is_read(folder, task):
    path = folder / "certificate.json"
    stated = json.loads(path.read_text())
    assert "guaranteed" not in stated
    path.write_text(json.dumps({**stated, "meets": "dana2025.theorem1", "promised": 18}))
    read = read_folder(folder)
    assert read.certificate.guaranteed == 18
    assert verify(read, task).holds


def test_what_a_result_guarantees_is_recomputed(folder, task):
    # H k + d = 4 x 3 + 6
    assert verify(restated(folder, meets="dana2025.theorem1", guaranteed=18), task).holds
    for lie in (10**6, 17, 0, -1):
        assert failing(verify(restated(folder, meets="dana2025.theorem1", guaranteed=lie), task)) == {"guaranteed"}
    assert failing(verify(restated(folder, meets="nobody.theorem1", guaranteed=18), task)) == {"meets", "guaranteed"}
    assert failing(verify(restated(folder, meets=None, guaranteed=18), task)) >= {"guaranteed"}


def test_a_guarantee_that_was_not_met_is_caught(folder, task):
    assert not verify(restated(folder, meets="dana2025.theorem1", guaranteed=18), task.take(np.arange(10))).holds


def test_what_nothing_can_recompute_is_only_claimed(folder, task):
    verdict = verify(restated(folder, meets="dana2025.theorem2", guaranteed=9, measured={"seconds": 3}), task)
    assert [check.name for check in verdict.claimed] == ["guaranteed", "measured seconds"]
    assert verdict.holds
    assert verdict.claimed[0].outcome == "only claimed"


@pytest.mark.parametrize("times", [0.0, 0.05, 20.0, -1.0])
def test_rounding_that_is_understated_or_overstated_is_caught(folder, task, times):
    lie = times * read_folder(folder).certificate.margin_rounding
    assert failing(verify(restated(folder, margin_rounding=lie), task)) == {"margin_rounding"}


def test_nothing_to_verify(folder, task):
    (folder / "certificate.json").unlink()
    with pytest.raises(InputError, match="nothing to verify"):
        verify(read_folder(folder), task)
