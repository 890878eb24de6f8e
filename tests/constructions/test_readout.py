"""More facts than the features' rank, by a fitted readout; all recalled by the float32 model that is saved."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.constructions.build import build
from rote.constructions.common.random_attention.codes import answer_code
from rote.constructions.common.whitening import whiten
from rote.constructions.rote.attempt import margin_and_noise
from rote.constructions.rote.fit import _Objective, fit_readout, hopeless
from rote.constructions.rote.options import SAFETY
from rote.errors import CheckFailed, InputError
from rote.folders.folder import read_folder, write_folder
from rote.measure.recall import recall
from rote.tasks import AssociationTask, Vocabulary
from rote.tasks.generators import random_associations
from rote.theory.dana2025 import guaranteed
from rote.theory.rote_readout import estimate, readout_spec
from rote.theory.sizes import theorem1_spec


def random_features(facts, count, seed=0):
    return torch.randn(facts, count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_stores_800_facts_where_theorem_1_promises_210(seed, tmp_path):
    task = random_associations(50, 2, 800, seed=seed)
    built = build(task, "rote.readout", dim=10, head_dim=10, heads=20, seed=seed)
    assert built.certificate.guaranteed >= 800 > guaranteed(built.model.spec) == 210
    folder = read_folder(write_folder(tmp_path / "model", built.model, task.origin, {}, built.certificate))
    assert folder.model.dtype == torch.float32
    assert recall(folder.model, task).recalled == 800
    margin, noise = margin_and_noise(folder.model, task)
    assert margin > SAFETY * noise > 0


def test_stores_2700_facts_where_theorem_1_promises_420():
    task = random_associations(100, 2, 2700, seed=3)
    built = build(task, "rote.readout", dim=20, head_dim=20, heads=20, seed=3)
    assert guaranteed(built.model.spec) == 420
    assert built.certificate.recalled == 2700


def test_same_seed_same_weights():
    task = random_associations(20, 2, 120)
    once, again = (build(task, "rote.readout", dim=6, heads=6, seed=5) for _ in range(2))
    assert once.certificate.weights_fingerprint == again.certificate.weights_fingerprint


def test_too_many_facts_say_how_many_were_stored_and_what_was_to_be_expected():
    task = random_associations(30, 2, 800)
    with pytest.raises(CheckFailed, match=r"\d+ of 800 facts are recalled.*estimate .* is \d+ facts"):
        build(task, "rote.readout", dim=6, head_dim=6, heads=5, steps=100)


def test_heads_are_chosen_and_grow_when_too_few():
    task = random_associations(40, 2, 900)
    spec = readout_spec(task.shape)
    assert spec.heads < theorem1_spec(task.shape).heads / 2
    assert estimate(task.shape, spec) >= 900
    assert build(task, "rote.readout").certificate.recalled == 900
    # Without enough steps the first size fails; more heads make it easier.
    grown = build(task, "rote.readout", dim=10, steps=30, growths=12)
    assert grown.certificate.measured["growths"] > 0
    assert grown.model.spec.heads > readout_spec(task.shape, dim=10).heads


@given(
    seed=st.integers(0, 1000),
    vocab=st.integers(3, 12),
    answers=st.integers(1, 5),
    dim=st.integers(2, 8),
    context=st.integers(2, 3),
)
@settings(max_examples=12)
def test_every_table_within_the_features_rank_is_stored(seed, vocab, answers, dim, context):
    task = random_associations(vocab, context, min(60, vocab**context), answers=min(answers, vocab), seed=seed)
    built = build(task, "rote.readout", dim=dim, seed=seed)
    assert built.certificate.complete


def test_tokens_that_are_no_answer_never_win():
    task = random_associations(40, 2, 140, answers=3)
    built = build(task, "rote.readout", dim=8, heads=8)
    assert built.certificate.recalled == 140
    logits = built.model.logits(task.contexts)
    assert int(logits.argmax(1).max()) < 3


def test_few_last_tokens_and_contradictions():
    contexts = np.array([[first, last] for first in range(20) for last in (0, 1)])
    answers = np.random.default_rng(0).integers(0, 20, 40)
    twice = AssociationTask(
        np.concatenate([contexts, contexts[:1]]),
        np.append(answers, (answers[0] + 1) % 20),
        Vocabulary.numbered(20),
    )
    built = build(twice, "rote.readout", dim=8)
    assert built.certificate.recallable == 40
    assert built.certificate.recalled == 40


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_other_dtypes(dtype):
    task = random_associations(20, 2, 60)
    assert build(task, "rote.readout", dim=16, heads=8, dtype=dtype).certificate.complete


def test_one_dimension_holds_two_answers_and_no_more():
    task = random_associations(12, 2, 20, answers=2)
    assert build(task, "rote.readout", dim=1).certificate.complete
    with pytest.raises(InputError, match="dim"):
        build(random_associations(12, 2, 20, answers=3), "rote.readout", dim=1)


@pytest.mark.parametrize(("facts", "count"), [(30, 8), (8, 30), (12, 12)])
def test_whitening(facts, count):
    features = random_features(facts, count)
    features[:, 0] *= 100
    white = whiten(features)
    assert white.rank == min(facts, count)
    assert torch.allclose(features @ white.back, white.columns, atol=1e-8)
    gram = white.columns.T @ white.columns / facts
    assert torch.allclose(gram, torch.eye(white.rank, dtype=torch.float64), atol=1e-8)


def test_dependent_features_are_left_out():
    features = random_features(40, 10)
    assert whiten(torch.cat([features, features @ random_features(10, 5, 1)], 1)).rank == 10


def test_the_gradient_is_that_of_cross_entropy():
    white = whiten(random_features(20, 6))
    answers = torch.randint(5, (20,), generator=torch.Generator().manual_seed(1))
    objective = _Objective(white, answers, (5, 3), lambda output, unembed: False, None)
    objective.use(torch.float64)
    point = random_features(1, 6 * 3 + 5 * 3, 2)[0]
    leaf = point.clone().requires_grad_()
    B, U = leaf[:18].view(6, 3), leaf[18:].view(5, 3)
    loss = torch.nn.functional.cross_entropy(white.columns @ B @ U.T, answers)
    loss.backward()
    value, gradient = objective(point.numpy())
    assert value == pytest.approx(float(loss.detach()))
    assert torch.allclose(torch.from_numpy(gradient), leaf.grad, atol=1e-12)


def test_the_fit_goes_on_until_it_is_accepted():
    features = random_features(60, 20)
    answers = torch.randint(6, (60,), generator=torch.Generator().manual_seed(1))
    code = answer_code(6, 4, torch.Generator().manual_seed(2))
    seen = []

    def accept(output, unembed):
        logits = features @ output @ unembed.T
        own = logits.gather(1, answers[:, None]).squeeze(1)
        seen.append(float((own - logits.scatter(1, answers[:, None], -1e9).max(1).values).min()))
        return seen[-1] > 2

    fit = fit_readout(whiten(features), answers, code, accept)
    assert fit.accepted
    assert fit.missed == 0
    assert seen[0] < 2 < seen[-1]


def test_when_a_fit_is_given_up():
    assert not hopeless([101, 40], 29, patience=5)
    # Standing still for longer than the patience, missed or merely not accepted.
    assert not hopeless([101, 7, 7, 7, 7, 7, 7], 20, patience=5)
    assert hopeless([101, 7, 7, 7, 7, 7, 7, 7], 20, patience=5)
    assert hopeless([101, 0, 0, 0], 20, patience=1)
    # Falling, but by two a round with five rounds to go; or fast enough.
    assert hopeless([901, 300, 208, 206, 204, 202], 5, patience=1)
    assert not hopeless([901, 300, 90, 60, 30, 10], 5, patience=1)
