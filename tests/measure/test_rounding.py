"""Rounding of margins: by hand in both dtypes, and where there is nothing to compare."""

import numpy as np
import pytest
import torch

from rote.measure import recall
from rote.measure.certificate import examine, margin_rounding
from rote.measure.recall import margins
from rote.models import AttentionOnly
from rote.tasks import AssociationTask, DistributionTask, Vocabulary
from rote.testing.random_models import random_model

SPEC = AttentionOnly(vocab=9, context=3, dim=6, head_dim=4, heads=5)


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(2)
    contexts = np.stack(np.unravel_index(rng.choice(9**3, 60, replace=False), (9,) * 3), 1)
    return AssociationTask(contexts, rng.integers(0, 9, 60), Vocabulary.numbered(9))


def answered_by(model, task):
    """The same contexts with the model's own answers, so that every fact is recalled."""
    answers = model.logits(task.inputs(slice(0, task.facts))).argmax(1).numpy()
    return AssociationTask(task.contexts, answers, task.vocabulary)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_it_is_the_largest_change_over_the_smallest_margin_of_what_is_recalled(task, dtype):
    model = random_model(SPEC, 3).to(dtype)
    for facts in (answered_by(model, task), task):
        own, exact = (
            margins(each.logits(facts.inputs(slice(0, facts.facts))), torch.from_numpy(facts.answers).long())
            for each in (model, model.to(torch.float64))
        )
        right = own > 0
        by_hand = float((own - exact)[right].abs().max() / own[right].min())
        assert by_hand > 0
        assert margin_rounding(model, facts, recall(model, facts)) == pytest.approx(by_hand)
        assert examine(model, facts).certificate.margin_rounding == pytest.approx(by_hand)


def test_of_many_facts_those_with_the_smallest_margins_are_compared_and_others_evenly(task, monkeypatch):
    model = random_model(SPEC, 3).to(torch.bfloat16)
    facts = answered_by(model, task)
    seen = recall(model, facts)
    for name, count in (("COMPARED", 50), ("SAMPLED", 20)):
        monkeypatch.setattr(f"rote.measure.certificate.{name}", count)
    exact = recall(model.to(torch.float64), facts).margins
    rows = {*np.argsort(seen.margins, kind="stable")[:10].tolist(), *np.linspace(0, 59, 10).astype(int).tolist()}
    change = max(abs(seen.margins[row] - exact[row]) for row in rows)
    assert margin_rounding(model, facts, seen) == pytest.approx(change / seen.min_margin)


def test_float64_is_compared_with_itself(task):
    model = random_model(SPEC, 3).to(torch.float64)
    assert examine(model, answered_by(model, task)).certificate.margin_rounding == 0


def test_nothing_recalled_leaves_nothing_to_compare(task):
    model = random_model(SPEC, 3).to(torch.float32)
    wrong = AssociationTask(task.contexts, (answered_by(model, task).answers + 1) % 9, task.vocabulary)
    assert examine(model, wrong).certificate.margin_rounding is None


def test_a_vocabulary_of_one_word_has_margins_that_rounding_does_not_move():
    model = random_model(SPEC.model_copy(update={"vocab": 1}), 0).to(torch.float32)
    facts = AssociationTask(np.zeros((1, 3), dtype=np.int64), np.array([0]), Vocabulary.numbered(1))
    assert margin_rounding(model, facts, recall(model, facts)) == 0


def test_distributions_have_no_smallest_margin_to_be_held_against():
    contexts = np.array([[0, 1, 2], [1, 2, 3]])
    starts, tokens = np.array([0, 9, 18]), np.tile(np.arange(9), 2)
    task = DistributionTask(contexts, np.full(2, 0.5), starts, tokens, np.full(18, 1 / 9), Vocabulary.numbered(9))
    assert examine(random_model(SPEC, 0).to(torch.float32), task).certificate.margin_rounding is None
