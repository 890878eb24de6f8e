"""Capacity by training: what it says was stored can be trained again, and it beats what Theorem 1 promises."""

from rote.experiments.capacity import trained_capacity
from rote.measure.recall import recall
from rote.models import AttentionOnly
from rote.tasks.generators import random_associations
from rote.training.train import train

SPEC = AttentionOnly(vocab=8, context=2, dim=3, head_dim=3, heads=2)
QUICK = {"steps": 300, "polish": 50}


def test_stored_facts_are_recalled_by_a_trained_model():
    measured = trained_capacity(SPEC, tolerance=0.1, seeds=1, **QUICK)
    assert 2 * 3 + 3 <= measured.recalled <= 64
    assert measured.recalled in {attempt.facts for attempt in measured.tries if attempt.complete}
    assert all("recalls" in (attempt.reason or "") for attempt in measured.tries if not attempt.complete)
    table = random_associations(8, 2, 64, seed=0).take(slice(0, measured.recalled))
    scaled = SPEC.model_copy(update={"scale_scores": True})
    (again,) = train(table, scaled, 1, "best", **QUICK)
    assert recall(again.model, table).complete


def test_same_arguments_same_result():
    first, second = (trained_capacity(SPEC, tolerance=0.2, seeds=2, workers=n, **QUICK) for n in (1, 2))
    assert (first.recalled, first.rejected) == (second.recalled, second.rejected)
    assert [attempt.facts for attempt in first.tries] == [attempt.facts for attempt in second.tries]


def test_a_table_may_run_out():
    task = random_associations(8, 2, 5, seed=2)
    measured = trained_capacity(SPEC, task=task, seeds=1, **QUICK)
    assert (measured.recalled, measured.rejected) == (5, None)
