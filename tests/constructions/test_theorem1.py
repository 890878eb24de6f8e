"""Theorem 1 without slack: the saved model holds every fact, and says how it came about."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rote
from rote.tasks import PAD, AssociationTask, Vocabulary
from rote.theory.dana2025 import guaranteed


def lookup(vocab: int, context: int, facts: int, seed: int, answers: int | None = None) -> AssociationTask:
    """A random table of distinct contexts; with `answers`, their answers are tokens of their own."""
    rng = np.random.default_rng(seed)
    numbers = rng.choice(vocab**context, facts, replace=False)
    contexts = np.stack([numbers // vocab**place % vocab for place in range(context)], 1)
    if answers is None:
        return AssociationTask(contexts, rng.integers(0, vocab, facts), Vocabulary.numbered(vocab))
    return AssociationTask(contexts, vocab + rng.integers(0, answers, facts), Vocabulary.numbered(vocab + answers))


def words(count: int, seed: int, alone: str = "argnsde") -> AssociationTask:
    """Spelled keys of up to ten letters, padded on the left, many of them alike at the end; `alone` are keys too."""
    rng = np.random.default_rng(seed)
    spelled = set(alone)
    while len(spelled) < count:
        stem = "".join(rng.choice(list("aeioubcdlmnrst"), rng.integers(1, 7)))
        spelled.add(stem + str(rng.choice(["a", "er", "ing", "tion", "ess"])))
    length = max(map(len, spelled))
    facts = [((PAD,) * (length - len(word)) + tuple(word), f"answer {rng.integers(40)}") for word in sorted(spelled)]
    return AssociationTask.from_facts(facts)


@pytest.mark.parametrize("seed", range(4))
def test_zero_slack_in_float32(seed):
    built = rote.build(lookup(50, 2, 210, seed), dim=10, head_dim=10, seed=seed)
    assert guaranteed(built.model.spec) == built.certificate.recalled == 210
    assert built.certificate.dtype == "float32"
    assert built.certificate.min_margin > 0
    conditions = built.certificate.measured
    assert conditions["method"] == "dense"
    assert 1 < conditions["condition"] < 1e7
    assert conditions["residual"] < 1e-5
    assert {"redraws", "skip_condition", "refinement_passes"} <= conditions.keys()


@pytest.mark.parametrize("solve", ["dense", "arrowhead"])
@pytest.mark.parametrize(
    ("vocab", "context", "dim", "head_dim", "facts"),
    [(100, 2, 16, 8, 2000), (300, 3, 20, 20, 1500), (26, 4, 20, 10, 1500)],
)
def test_either_solve_holds_exactly_as_many_facts_as_promised(solve, vocab, context, dim, head_dim, facts):
    heads = (facts - dim) // head_dim
    facts = dim + heads * head_dim
    built = rote.build(lookup(vocab, context, facts, 1), dim=dim, head_dim=head_dim, heads=heads, solve=solve)
    assert built.certificate.recalled == guaranteed(built.model.spec) == facts
    assert built.certificate.measured["method"] == solve


def test_many_facts_are_solved_by_blocks():
    built = rote.build(lookup(120, 2, 10_016, 3), dim=32, head_dim=16)
    assert built.certificate.recalled == 10_016
    conditions = built.certificate.measured
    assert conditions["method"] == "arrowhead"
    assert conditions["border"] < 10_016 / 4


@pytest.mark.parametrize("solve", ["dense", "arrowhead"])
def test_spelled_and_padded_keys(solve):
    task = words(1200, 0)
    assert rote.build(task, solve=solve, dim=20, head_dim=8).certificate.recalled == 1200


@pytest.mark.parametrize(("count", "solve", "dim"), [(300, "dense", 8), (1200, "arrowhead", 20)])
def test_more_keys_of_one_letter_than_dimensions(count, solve, dim):
    """Nothing but padding comes before them: the skip connection alone can tell only `dim` of them apart."""
    task = words(count, 0, alone="abcdefghijklmnopqrstuvwxyz")
    assert rote.build(task, solve=solve, dim=dim, head_dim=8).certificate.recalled == count


@pytest.mark.parametrize(
    ("task", "sizes"),
    [
        (lookup(5, 2, 25, 0), {}),
        (lookup(5, 2, 1, 0), {}),
        (lookup(4, 4, 78, 2, 17), {"dim": 4}),
        (lookup(30, 2, 900, 0, answers=1), {}),
        (lookup(30, 2, 600, 0, answers=7), {"dim": 24}),
        (lookup(8, 4, 500, 0, answers=40), {"dim": 24}),
        (lookup(30, 2, 500, 0), {"rank_one": True}),
        (lookup(30, 2, 500, 0), {"dtype": "float64"}),
    ],
    ids=["pairs", "one", "tiny dim", "one answer", "few answers", "few last", "rank one", "float64"],
)  # fmt: skip
def test_every_fact_is_stored(task, sizes):
    certificate = rote.build(task, **sizes).certificate
    assert certificate.recalled == task.facts


@pytest.mark.parametrize("heads", [24, 26, 40, 200])
def test_spare_heads_do_no_harm(heads):
    task = lookup(30, 2, 500, 0)
    built = rote.build(task, dim=20, head_dim=20, heads=heads)
    assert built.model.spec.heads == heads
    assert built.certificate.recalled == 500


def test_remark_2_saves_parameters():
    task = lookup(30, 2, 300, 0)
    full = rote.build(task, dim=20, head_dim=20).model
    thin = rote.build(task, dim=20, head_dim=20, rank_one=True).model
    heads = full.spec.heads
    assert thin.spec.heads == heads
    assert full.parameters - thin.parameters == 2 * 20 * 19 * heads


def test_contradictory_keys_keep_their_commonest_answer():
    contexts = np.array([[0, 1], [0, 1], [0, 1], [1, 0], [1, 2], [2, 2]])
    task = AssociationTask(contexts, np.array([2, 0, 2, 1, 1, 0]), Vocabulary.numbered(3))
    certificate = rote.build(task).certificate
    assert (certificate.recalled, certificate.recallable, certificate.facts) == (5, 5, 6)


def test_same_seed_same_weights():
    task = lookup(40, 2, 300, 0)
    one, two, other = (rote.build(task, seed=seed).model.weights for seed in (5, 5, 6))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["unembed"], other["unembed"])


def test_what_cannot_be_met_names_the_condition_number():
    with pytest.raises(rote.CheckFailed, match=r"after 2 samples.*condition number \d.*Try"):
        rote.build(lookup(50, 2, 800, 0), score_std=1e-4, redraws=1)


def test_half_precision_is_tried_and_judged_by_recall():
    with pytest.raises(rote.CheckFailed, match="bfloat16"):
        rote.build(lookup(50, 2, 800, 0), dtype="bfloat16", redraws=0, growths=0)


@pytest.mark.parametrize(
    ("task", "options", "reason"),
    [
        (lookup(30, 2, 20, 0), {"dim": 1}, "one of two answers"),
        (lookup(30, 2, 500, 0), {"heads": 5, "dim": 20}, "cannot hold 500 facts"),
        (lookup(30, 2, 500, 0), {"solve": "arrowhead", "rank_one": True}, "rank two"),
        (lookup(30, 2, 500, 0), {"solve": "arrowhead", "dim": 6}, "need dim"),
        (lookup(30, 2, 500, 0), {"solve": "sparse"}, "solve"),
        (lookup(30, 2, 500, 0), {"score_std": -1}, "score_std"),
    ],
)
def test_refusals_name_the_reason(task, options, reason):
    with pytest.raises(rote.InputError, match=reason):
        rote.build(task, **options)


@pytest.mark.parametrize("seed", range(3))
def test_corollary_1_two_dimensions(seed):
    task = lookup(60, 2, 200, seed)
    built = rote.build(task, "dana2025.corollary1", seed=seed)
    assert built.model.spec.dim == 2
    assert built.certificate.recalled == 200
    # 2(S + 2N + 4(T - 2)) parameters.
    assert built.model.parameters == 2 * (2 + 2 * 60 + 4 * 198)


def test_corollary_1_is_about_two_dimensions():
    with pytest.raises(rote.InputError, match="Corollary 1 is about dim 2"):
        rote.build(lookup(30, 2, 50, 0), "dana2025.corollary1", dim=3)
