"""Training of query attention: what is measured is what the saved model does, and a seed decides everything."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from rote.errors import InputError
from rote.measure.measures import error
from rote.measure.recall import recall
from rote.models.query_attention import QueryAttention
from rote.tasks import VectorTask
from rote.tasks.generators import random_vectors
from rote.training.query_attention.protocol import protocol_for, vector_protocol
from rote.training.query_attention.train import initial_vector_weights, train_vectors


def labelled(examples=40, shared=True, seed=0):
    return random_vectors(examples, 8, 16, shared=shared, classes=10, distribution="uniform", seed=seed)


def model(outputs=10, heads=4):
    return QueryAttention.experiment(8, outputs, heads=heads, head_dim=8, dim=16)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "fresh"])
def test_labels_are_learned_and_training_stops_when_all_are_right(shared):
    task = labelled(shared=shared)
    trained = train_vectors(task, model(), 0)
    assert trained.accuracy == 1 == recall(trained.model, task).recall
    assert trained.steps < trained.protocol.steps
    assert trained.model.dtype == torch.float32


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "fresh"])
def test_projection_fits_a_target_and_writes_it_into_the_released_parameters(shared):
    task = random_vectors(150, 8, 16, shared=shared, targets=1, distribution="uniform")
    spec = model(outputs=1)
    assert task.facts > spec.heads * (spec.context - 1) + 1  # more than fixed attention in one context could fit
    trained = train_vectors(task, spec, 0)
    assert trained.protocol.method == "projection"
    assert set(trained.model.weights) == set(spec.shapes())
    assert trained.mean_square == error(trained.model, task).mean_square
    assert trained.mean_square < 1e-3 < task.targets.var()


def test_several_targets_are_learned_by_descent():
    task = random_vectors(20, 8, 16, shared=True, targets=2, distribution="uniform")
    trained = train_vectors(task, model(outputs=2), 0, steps=300)
    assert trained.protocol.method == "descent"
    assert trained.mean_square < 0.5 * task.targets.var()


def test_a_seed_gives_the_same_model_on_any_number_of_workers():
    task = labelled(80)

    def run(seed):
        return train_vectors(task, model(), seed, steps=60)

    alone = [run(seed) for seed in (0, 1)]
    with ThreadPoolExecutor(2) as pool:
        beside = list(pool.map(run, (0, 1)))
    for one, other in zip(alone, beside, strict=True):
        assert all(torch.equal(one.model.weights[name], other.model.weights[name]) for name in one.model.weights)
    assert not torch.equal(alone[0].model.weights["query"], alone[1].model.weights["query"])


def test_training_leaves_the_number_of_threads_as_it_was():
    before = torch.get_num_threads()
    train_vectors(labelled(), model(), 0, steps=2)
    assert torch.get_num_threads() == before


def test_the_paper_protocol_is_the_released_schedule():
    short, long = (protocol_for("paper", examples, None) for examples in (550, 90_000))
    assert (short.steps, long.steps) == (50_000, 500 * 90_000 // 256)
    assert (short.optimizer, short.peak, short.batch, short.warmup, short.check) == ("adam", 1e-3, 256, 0.05, 500)
    assert not short.standardise
    assert short.stop


def test_the_paper_protocol_learns_too():
    trained = train_vectors(labelled(24), model(), 0, "paper", steps=1000, check=100)
    assert trained.accuracy > 0.5


def test_initial_weights_have_the_released_spread():
    spec = QueryAttention.experiment(32, 100, heads=20)
    weights = initial_vector_weights(spec, 0)
    assert {name: tuple(part.shape) for name, part in weights.items()} == spec.shapes()
    assert sum(part.numel() for part in weights.values()) == 177_060
    assert weights["query"].abs().max() == pytest.approx((6 / 128) ** 0.5, rel=1e-3)
    assert weights["embed"].abs().max() == pytest.approx(1 / 8, rel=1e-2)


def test_a_loss_that_is_no_number_ends_the_run_and_is_not_an_accuracy():
    task = labelled()
    broken = VectorTask(task.contexts, 1e300 * task.queries, labels=task.labels)  # beyond float32
    trained = train_vectors(broken, model(), 0, standardise=False)
    assert trained.diverged_at == 0
    assert trained.accuracy is None


def test_what_cannot_be_trained_is_refused_with_a_reason():
    task = labelled()
    with pytest.raises(InputError, match=r"context 9 but the task's is 8.*outputs 3"):
        train_vectors(task, QueryAttention.experiment(9, 3, heads=2, head_dim=8, dim=16))
    with pytest.raises(InputError, match="value_dim"):
        train_vectors(task, QueryAttention(context=8, dim=16, head_dim=8, heads=2, value_dim=2, outputs=10))
    with pytest.raises(InputError, match="one real target"):
        train_vectors(task, model(), method="projection")
    with pytest.raises(InputError, match="not one of paper"):
        vector_protocol("slow", task)
    with pytest.raises(InputError, match="steps"):
        vector_protocol("fast", task, steps=0)
