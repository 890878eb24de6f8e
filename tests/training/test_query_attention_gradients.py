"""The folded engine against the plain forward pass, differentiated by autograd in float64."""

import numpy as np
import pytest
import torch

from rote.models.forward import forward
from rote.models.query_attention import QueryAttention
from rote.tasks.generators import random_vectors
from rote.training.query_attention.descent import FoldedObjective
from rote.training.query_attention.examples import outputs
from rote.training.query_attention.fold import fold
from rote.training.query_attention.problem import Coordinates, VectorProblem
from rote.training.query_attention.train import (
    AttendedExamples,
    initial_vector_weights,
    products_of_columns,
    solved_readout,
)

TRAINED = ("query", "key", "embed", "embed_bias")
RIDGE = 1e-13
ANSWERS = ({"classes": 7}, {"targets": 1}, {"targets": 2})


def released(heads=3, outputs=7):
    return QueryAttention.experiment(5, outputs, heads=heads, head_dim=4, dim=8)


def bare(heads=3, outputs=7):
    return QueryAttention(context=5, dim=8, head_dim=4, heads=heads, outputs=outputs)


def leaves(spec, seed=0):
    return {name: part.double().requires_grad_() for name, part in initial_vector_weights(spec, seed).items()}


def sharp_attention(spec):
    """What projection trains, with attention far from uniform: its readout is then well determined."""
    weights = {name: part.detach() for name, part in leaves(spec).items() if name in TRAINED}
    return weights | {"query": 6 * weights["query"]}


def plain_loss(spec, weights, task):
    contexts, queries = (torch.tensor(part) for part in task.inputs(slice(None)))
    given = forward(spec, weights, (contexts, queries))
    if task.labels is not None:
        return torch.nn.functional.cross_entropy(given, torch.from_numpy(task.labels).long())
    return (given - torch.from_numpy(task.targets)).square().sum(1).mean()


@pytest.mark.parametrize("answers", ANSWERS, ids=str)
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "fresh"])
@pytest.mark.parametrize("model", [released, bare])
def test_gradients_through_the_fold_are_those_of_the_plain_model(model, shared, answers):
    spec = model(outputs=answers.get("classes") or answers["targets"])
    task = random_vectors(41, 5, 8, shared=shared, seed=3, distribution="uniform", **answers)
    weights = leaves(spec)
    score = FoldedObjective(spec, VectorProblem.of(task, Coordinates(), torch.float64)).gradient(weights)
    folded = {name: part.grad.clone() for name, part in weights.items()}
    for part in weights.values():
        part.grad = None
    loss = plain_loss(spec, weights, task)
    loss.backward()
    assert abs(score.mean_loss - float(loss.detach())) < 1e-13
    for name, part in weights.items():
        assert (folded[name] - part.grad).abs().max() < 1e-13 * max(1, float(part.grad.abs().max())), name


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "fresh"])
def test_a_minibatch_counts_only_its_rows(shared):
    spec = released()
    task = random_vectors(30, 5, 8, shared=shared, seed=1, classes=7)
    rows = np.array([3, 17, 4])
    weights = leaves(spec)
    objective = FoldedObjective(spec, VectorProblem.of(task, Coordinates(), torch.float64))
    part = objective.gradient(weights, torch.from_numpy(rows))
    assert part.examples == 3
    assert abs(part.mean_loss - float(plain_loss(spec, weights, task.take(rows)).detach())) < 1e-13


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "fresh"])
def test_gradients_are_the_same_where_attention_weights_are_known(shared):
    spec = released(outputs=1)
    task = random_vectors(41, 5, 8, shared=shared, seed=3, targets=1)
    objective = FoldedObjective(spec, VectorProblem.of(task, Coordinates(), torch.float64))
    weights, attended = leaves(spec), AttendedExamples(objective)
    loss = objective.gradient(weights).mean_loss
    plain = {name: part.grad.clone() for name, part in weights.items()}
    attended.read({name: part.detach() for name, part in weights.items()})
    assert abs(objective.gradient(weights, shares=attended.shares).mean_loss - loss) < 1e-14
    assert all((plain[name] - part.grad).abs().max() < 1e-14 for name, part in weights.items())


@pytest.mark.parametrize("columns", [1, 159, 160, 161, 400])
def test_products_of_columns_are_those_of_the_whole_matrix(columns):
    matrix = torch.randn(30, columns, dtype=torch.float64, generator=torch.Generator().manual_seed(columns))
    assert (products_of_columns(matrix) - matrix.T @ matrix).abs().max() < 1e-12


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "fresh"])
def test_a_batch_of_one_example_is_not_taken_for_a_shared_context(shared):
    spec = released()
    task = random_vectors(6, 5, 8, shared=shared, seed=1, classes=7)
    weights = leaves(spec)
    objective = FoldedObjective(spec, VectorProblem.of(task, Coordinates(), torch.float64))
    part = objective.gradient(weights, torch.tensor([4]))
    assert abs(part.mean_loss - float(plain_loss(spec, weights, task.take(np.array([4]))).detach())) < 1e-13


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "fresh"])
def test_standard_coordinates_change_nothing_but_the_coordinates(shared):
    spec = released()
    task = random_vectors(30, 5, 8, shared=shared, seed=1, classes=7, distribution="uniform")
    weights = {name: part.detach() for name, part in leaves(spec).items()}
    coordinates = Coordinates.of(task, spec)
    inside = coordinates.inside(weights)
    raw, moved = (VectorProblem.of(task, where, torch.float64) for where in (Coordinates(), coordinates))
    assert abs(float(moved.queries[:, :-1].mean())) < 1e-12
    as_raw = outputs(fold(spec, weights, raw.contexts), raw)
    as_moved = outputs(fold(spec, inside, moved.contexts), moved)
    assert (as_raw - as_moved).abs().max() < 1e-12
    back = coordinates.outside(inside)
    assert all((back[name] - weights[name]).abs().max() < 1e-12 for name in weights)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "fresh"])
def test_the_gradient_at_the_solved_readout_is_that_of_the_best_error(shared):
    """The envelope theorem, against differences of the solved problem itself."""
    spec = released(outputs=1)
    task = random_vectors(60, 5, 8, shared=shared, seed=2, targets=1)
    objective = FoldedObjective(spec, VectorProblem.of(task, Coordinates(), torch.float64))
    start = sharp_attention(spec)

    def best(attention):
        return objective.score(
            attention | solved_readout(objective, attention, RIDGE, AttendedExamples(objective))
        ).mean_loss

    whole = {name: part.clone().requires_grad_() for name, part in start.items()}
    objective.gradient(whole | solved_readout(objective, start, RIDGE, AttendedExamples(objective)))
    for name in ("query", "key", "embed"):
        direction = torch.randn(start[name].shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        step = 1e-5
        ahead, behind = (start | {name: start[name] + sign * step * direction} for sign in (1, -1))
        slope = (best(ahead) - best(behind)) / (2 * step)
        assert float((whole[name].grad * direction).sum()) == pytest.approx(slope, rel=1e-4), name


def test_the_solved_readout_is_exact_in_the_released_parameters():
    spec = released(outputs=1, heads=2)
    task = random_vectors(5, 5, 8, shared=True, seed=4, targets=1)  # fewer than the H(n - 1) + 1 = 9 that always fit
    objective = FoldedObjective(spec, VectorProblem.of(task, Coordinates(), torch.float64))
    attention = sharp_attention(spec)
    solved = solved_readout(objective, attention, RIDGE, AttendedExamples(objective))
    assert float(plain_loss(spec, attention | solved, task)) < 1e-8
