"""Recall: strict maximum, nothing less; and the same whatever the chunks."""

import numpy as np
import pytest
import torch
from exact_logits import lookup, telling
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import InputError
from rote.measure import matching, recall
from rote.measure.recall import margins
from rote.models import AttentionOnly, QueryAttention
from rote.tasks import AssociationTask, DistributionTask, VectorTask, Vocabulary
from rote.testing.random_models import random_model

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("row", "answer", "held", "margin"),
    [
        ([0.0, 2.0, 1.0], 1, True, 1.0),
        ([0.0, 2.0, 1.0], 2, False, -1.0),
        ([2.0, 2.0, 1.0], 1, False, 0.0),
        ([0.0, 0.0, 0.0], 0, False, 0.0),
        ([1.0, np.nextafter(1.0, 2.0), 0.0], 1, True, np.spacing(1.0)),
        ([NAN, 2.0, 1.0], 1, False, -INF),
        ([0.0, NAN, 1.0], 1, False, -INF),
        ([0.0, INF, 1.0], 1, True, INF),
        ([INF, INF, 1.0], 1, False, -INF),
        ([-INF, 0.0, -INF], 1, True, INF),
        ([-INF, -INF, -INF], 1, False, -INF),
    ],
)
def test_only_a_strict_maximum_is_recalled(row, answer, held, margin):
    task = AssociationTask(np.array([[0, 1], [1, 2]]), np.array([answer, 0]), Vocabulary.numbered(3))
    safe = [9.0, 0.0, 0.0]
    # The logits come from a stub of the stream: W = I would turn an infinite encoding into NaN elsewhere.
    with pytest.MonkeyPatch.context() as patch:
        parts = [torch.tensor([row, safe]).double()]
        patch.setattr("rote.measure.matching.Model.logits_in_parts", lambda model, inputs: iter(parts))
        found = recall(telling(task.contexts, np.zeros((2, 3))), task)
    assert found.recalled == 1 + held
    assert found.missed.tolist() == ([] if held else [0])
    assert found.min_margin == min(margin, 9.0)
    margin_alone = margins(torch.tensor([row]).double(), torch.tensor([answer]))
    assert float(margin_alone) == margin or margin_alone.isnan()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_neighbouring_numbers_are_told_apart(dtype):
    """The smallest difference a dtype has is a margin, not a tie."""
    tiny = torch.finfo(dtype).smallest_normal
    logits = torch.tensor([[tiny * (1 + torch.finfo(dtype).eps), tiny]], dtype=torch.float64).to(dtype)
    assert logits[0, 0] > logits[0, 1]
    assert margins(logits, torch.tensor([0])) > 0
    assert margins(logits, torch.tensor([1])) < 0


@given(facts=st.integers(1, 60), vocab=st.integers(8, 12), seed=st.integers(0, 2**31), coarse=st.booleans())
def test_recall_counts_what_a_loop_counts(facts, vocab, seed, coarse):
    task = lookup(facts, vocab, seed)
    logits = np.random.default_rng(seed).normal(size=(facts, vocab))
    logits = np.round(logits) if coarse else logits
    found = recall(telling(task.contexts, logits), task)
    missed, smallest = [], INF
    for row, answer in enumerate(task.answers):
        lead = logits[row, answer] - max(value for token, value in enumerate(logits[row]) if token != answer)
        smallest = min(smallest, lead)
        if not lead > 0:
            missed.append(row)
    assert found.missed.tolist() == missed
    assert found.recalled == facts - len(missed)
    assert found.min_margin == smallest
    assert found.summary()["recall"] == found.recall == found.recalled / facts


def test_one_choice_is_always_recalled():
    task = AssociationTask(np.array([[0, 0]]), np.array([0]), Vocabulary.numbered(1))
    found = recall(telling(task.contexts, np.zeros((1, 1))), task)
    assert (found.recalled, found.min_margin, found.bits) == (1, INF, 0.0)


@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
def test_chunks_do_not_matter(rows, monkeypatch):
    task = lookup(500, 30)
    model = random_model(AttentionOnly(vocab=30, context=2, dim=6, head_dim=4, heads=9), 0, "float64")
    whole = recall(model, task)
    monkeypatch.setattr(matching, "rows_at_once", lambda model: rows)
    chunked = recall(model, task)
    assert chunked.missed.tolist() == whole.missed.tolist()
    assert chunked.min_margin == pytest.approx(whole.min_margin, rel=1e-10)


def test_contradictions_lower_the_ceiling_and_count_once_in_bits():
    contexts = np.array([[0, 0], [0, 0], [0, 0], [1, 0]])
    task = AssociationTask(contexts, np.array([1, 1, 0, 0]), Vocabulary.numbered(2))
    model = telling(contexts[[0, 3]], np.array([[0.0, 1.0], [1.0, 0.0]]))
    found = recall(model, task)
    assert (found.recalled, found.ceiling, found.complete) == (3, 0.75, True)
    assert found.bits == pytest.approx(task.entropy_bits) == pytest.approx(2.0)
    wrong = recall(telling(contexts[[0, 3]], np.array([[0.0, 1.0], [0.0, 1.0]])), task)
    assert wrong.bits == 0.0


def test_a_distribution_is_asked_for_its_likeliest_tokens():
    rows = np.array([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])
    contexts = np.array([[0, 0], [0, 1]])
    found = recall(
        telling(contexts, np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])), DistributionTask.from_dense(contexts, rows)
    )
    assert (found.recalled, found.missed.tolist(), found.ceiling, found.bits) == (1, [1], 1.0, None)


def test_labels_of_vectors():
    generator = np.random.default_rng(0)
    spec = QueryAttention(context=3, dim=4, head_dim=2, heads=2, outputs=5)
    model = random_model(spec, 0, "float64")
    contexts, queries = generator.uniform(size=(20, 3, 4)), generator.uniform(size=(20, 4))
    labels = model.logits((contexts, queries)).argmax(1).numpy()
    assert recall(model, VectorTask(contexts, queries, labels)).recalled == 20
    assert recall(model, VectorTask(contexts, queries, (labels + 1) % 5)).recalled == 0


def test_tasks_that_do_not_fit_are_refused():
    task = lookup(5, 4)
    vectors = VectorTask(np.ones((2, 3, 4)), np.ones((2, 4)), np.array([0, 6]))
    attention = random_model(AttentionOnly(vocab=5, context=2, dim=3, head_dim=2, heads=1))
    reader = random_model(QueryAttention(context=3, dim=4, head_dim=2, heads=2, outputs=5))
    longer = random_model(AttentionOnly(vocab=4, context=3, dim=3, head_dim=2, heads=1))
    for model, given_task, word in (
        (attention, task, "no vocabulary"),
        (longer, task, "contexts of 3 tokens"),
        (reader, task, "reads vectors"),
        (attention, vectors, "reads tokens"),
        (reader, vectors, "5 outputs but the task has 7"),
        (reader, VectorTask(np.ones((2, 2, 4)), np.ones((2, 4)), np.array([0, 1])), "context is 3"),
        (reader, VectorTask(np.ones((2, 3, 4)), np.ones((2, 4)), targets=np.ones((2, 5))), "labels"),
    ):
        with pytest.raises(InputError, match=word):
            recall(model, given_task)


def test_facts_are_found_in_the_model_s_own_vocabulary():
    task = lookup(9, 3)
    model = telling(task.contexts, np.eye(3)[task.answers])
    names = Vocabulary(["a", "b", "c"])
    named = AssociationTask(task.contexts, task.answers, names)
    turned = named.in_vocabulary(Vocabulary(["c", "x", "a", "b"]))
    assert recall(type(model)(model.spec, model.weights, names), turned).recalled == 9
