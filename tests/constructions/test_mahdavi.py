"""Mahdavi et al. 2024, Theorem 1: both routes store what they promise, and nothing is guaranteed beyond the rank."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.constructions.build import build
from rote.constructions.common.solvers.least_norm import factor
from rote.constructions.mahdavi2024.attention import measure_assumptions, reach
from rote.constructions.mahdavi2024.routes import random_route
from rote.errors import CheckFailed, InputError
from rote.measure.certificate import weights_fingerprint
from rote.tasks import VectorTask

METHOD = "mahdavi2024.theorem1"


def examples(count, context, dim, shared, seed=0, classes=None, outputs=1):
    draw = np.random.default_rng(seed)
    contexts = draw.normal(size=(1 if shared else count, context, dim))
    queries = draw.normal(size=(count, dim))
    if classes:
        return VectorTask(contexts, queries, labels=draw.integers(0, classes, count))
    return VectorTask(contexts, queries, targets=draw.normal(size=(count, outputs)))


@pytest.mark.parametrize("route", ["random", "proof"])
def test_shared_context_stores_621_and_refuses_622(route):
    task = examples(621, 32, 64, shared=True)
    certificate = build(task, METHOD, heads=20, dtype="float64", route=route).certificate
    assert certificate.complete
    assert certificate.largest_error < 1e-6
    assert certificate.guaranteed == 621
    assert certificate.measured["rank"] == certificate.measured["rank_at_most"] == 621
    assert certificate.measured["assumptions_hold"]
    with pytest.raises(InputError, match=r"622 examples.*20 x 31 \+ 1 = 621"):
        build(examples(622, 32, 64, shared=True), METHOD, heads=20, route=route)


def shared_features(count, heads, head_dim, score_std):
    """Outputs of random heads, written out, on a shared context of 32 tokens in 64 dimensions."""
    task = examples(count, 32, 64, shared=True)
    contexts, queries = torch.from_numpy(task.contexts), torch.from_numpy(task.queries)
    query, key = random_route(contexts, queries, heads, head_dim, score_std, torch.Generator().manual_seed(0))
    asked = torch.einsum("td,hkd->thk", queries, query)
    attention = torch.softmax(torch.einsum("thk,hkd,nd->thn", asked, key, contexts[0]), -1)
    return factor((attention @ contexts[0]).flatten(1))


def test_shared_context_has_rank_621_however_many_examples():
    assert shared_features(700, 20, 32, 3.0).rank == 621
    assert reach(examples(700, 32, 64, shared=True).contexts).rank(20) == 621


def test_moderate_scores_are_better_conditioned_than_small_ones():
    small, moderate = (shared_features(621, 20, 32, std).condition for std in (0.1, 3.0))
    assert moderate < 1e5 < 1e6 < small


@pytest.mark.parametrize("head_dim", [2, 8])
def test_rank_is_that_of_the_context_even_for_narrow_heads(head_dim):
    assert shared_features(640, 20, head_dim, 3.0).rank == 621


@pytest.mark.parametrize("route", ["random", "proof"])
def test_labels_are_stored_in_float32(route):
    built = build(examples(621, 32, 64, shared=True, classes=100), METHOD, heads=20, route=route)
    assert built.certificate.complete
    assert built.certificate.min_margin > 0.1
    assert built.model.dtype == torch.float32


def test_fresh_contexts_reach_heads_times_dim():
    certificate = build(examples(128, 8, 16, shared=False), METHOD, heads=8, dtype="float64").certificate
    assert certificate.measured["rank"] == 8 * 16 > certificate.guaranteed == 8 * 7 + 1
    assert certificate.largest_error < 1e-6
    with pytest.raises(InputError, match=r"129 examples.*8 x 16 = 128"):
        build(examples(129, 8, 16, shared=False), METHOD, heads=8)


def test_proof_route_meets_targets_in_float32():
    certificate = build(examples(57, 8, 16, shared=False), METHOD, heads=8, route="proof").certificate
    assert certificate.facts == certificate.guaranteed == 57
    assert certificate.largest_error < 1e-6
    assert certificate.dtype == "float32"


def test_a_target_that_float32_cannot_meet_is_an_error_and_not_a_miss():
    with pytest.raises(CheckFailed, match="float64"):
        build(examples(621, 32, 64, shared=True), METHOD, heads=20, route="random")


@settings(max_examples=25)
@given(
    count=st.integers(1, 30),
    context=st.integers(2, 5),
    dim=st.integers(6, 9),
    shared=st.booleans(),
    route=st.sampled_from(["random", "proof"]),
    classes=st.sampled_from([None, 1, 2, 3, 20]),
    outputs=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_small_task_is_stored_with_the_heads_it_asks_for(
    count, context, dim, shared, route, classes, outputs, seed
):
    task = examples(count, context, dim, shared, seed, classes, outputs)
    built = build(task, METHOD, route=route, dtype="float64", seed=seed)
    assert built.certificate.complete
    assert built.model.parameters == built.model.spec.parameters()
    assert built.certificate.measured["rank"] == count


def test_head_dim_below_context_still_stores_what_is_promised():
    task = examples(25, 8, 16, shared=True)
    certificate = build(task, METHOD, heads=8, head_dim=4, route="proof", dtype="float64").certificate
    assert certificate.guaranteed == certificate.facts == 8 * 3 + 1


def test_more_outputs_than_dimensions_pass_when_their_rank_fits():
    draw = np.random.default_rng(0)
    targets = draw.normal(size=(20, 3)) @ draw.normal(size=(3, 30))
    task = VectorTask(draw.normal(size=(20, 4, 8)), draw.normal(size=(20, 8)), targets=targets)
    built = build(task, METHOD, dtype="float64")
    assert built.certificate.largest_error < 1e-6
    assert built.model.spec.value_dim == 3
    full = VectorTask(task.contexts, task.queries, targets=draw.normal(size=(20, 30)))
    with pytest.raises(InputError, match="rank 20 do not fit through dim 8"):
        build(full, METHOD, dtype="float64")


def test_same_seed_same_weights():
    task = examples(20, 4, 8, shared=True, classes=5)
    once, again, other = (build(task, METHOD, route="proof", seed=seed) for seed in (1, 1, 2))
    assert weights_fingerprint(once.model.weights) == weights_fingerprint(again.model.weights)
    assert weights_fingerprint(once.model.weights) != weights_fingerprint(other.model.weights)


def test_what_cannot_be_is_refused():
    task = examples(10, 4, 8, shared=True)
    with pytest.raises(InputError, match="8 dimensions"):
        build(task, METHOD, dim=9)
    with pytest.raises(InputError, match="one token per context"):
        build(examples(10, 1, 8, shared=False), METHOD)
    twice = VectorTask(task.contexts, task.queries[[0, 1, 0]], labels=np.array([0, 1, 1]))
    with pytest.raises(InputError, match="examples 0 and 2 have the same context and query"):
        build(twice, METHOD)
    with pytest.raises(InputError, match="`value_dim=1` tells two classes"):
        build(examples(10, 4, 8, shared=True, classes=9, seed=1), METHOD, value_dim=1)
    dependent = VectorTask(task.contexts, np.repeat(task.queries[:2], 5, 0) * np.arange(1, 11)[:, None],
                           labels=np.arange(10) % 2)  # fmt: skip
    with pytest.raises(InputError, match="assumptions"):
        build(dependent, METHOD, route="proof")


def test_equal_examples_with_equal_outputs_are_solved_once():
    task = examples(10, 4, 8, shared=True, classes=3)
    doubled = VectorTask(task.contexts, np.repeat(task.queries, 2, 0), labels=np.repeat(task.labels, 2))
    certificate = build(doubled, METHOD).certificate
    assert certificate.complete
    assert certificate.measured["examples"] == 10


def test_assumptions_are_measured():
    draw = np.random.default_rng(0)
    contexts, queries = draw.normal(size=(3, 4, 8)), draw.normal(size=(3, 8))
    assert measure_assumptions(contexts, queries, draw).hold
    contexts[1, 3] = contexts[1, 2]
    flawed = measure_assumptions(contexts, queries, draw)
    assert (flawed.context_rank, flawed.hold) == (3, False)
    queries[2] = queries[0] + queries[1]
    assert measure_assumptions(contexts[:1], queries, draw).queries_smallest < 1e-10
