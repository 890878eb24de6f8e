"""Sets of components whose ablation loses a fact, on models whose truth is known by construction."""

from __future__ import annotations

import pytest

import rote
from rote.errors import InputError

KEYS = {("capital", name): f"city {place % 5}" for place, name in enumerate("abcdefghijkl")}
TEMPLATE = ["{key 1} {key 2}"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """An attention-only model by Theorem 1, exported as a stock Llama: its MLPs are zero."""
    facts = {**KEYS, **{("river", name): f"river {place}" for place, name in enumerate("abcd")}}
    made = rote.build(facts, "dana2025.theorem1")
    folder = rote.export_model(made, "llama", tmp_path_factory.mktemp("exports") / "llama", facts=facts).path
    return facts, made.model, rote.load_language_model(folder)


@pytest.fixture(scope="module")
def found(built):
    facts, _, model = built
    return rote.attribution(model, facts, TEMPLATE, effects=("zero", "mean"), known=True)


@pytest.fixture(scope="module")
def located(built, found):
    facts, _, model = built
    return rote.locate(model, facts, found, TEMPLATE)


def test_an_attention_only_model_needs_heads_and_no_mlp(built, located):
    heads, mlps = located.shares
    assert heads.facts == len(built[0]) == 16
    assert heads.lost >= 8
    assert (mlps.lost, mlps.direct) == (0, pytest.approx(0, abs=1e-6))
    assert all(part.head is not None for one in located.sets for part in one.components)


def test_zero_ablation_of_the_export_is_that_of_the_model(built, found):
    """The exported model's heads lie in several layers; each is one of the built model's, whose margins are known."""
    _, model, _ = built
    fact = found.facts[0]
    whole = rote.inspect(model, fact.key)
    seen = found.effects["zero"][0][:, :-1].ravel() * whole.margin / fact.margin
    for head in range(model.spec.heads):
        left = rote.inspect(model, fact.key, off=[(0, head)]).margin
        assert abs(seen - left).min() < 0.01 * max(1, abs(left))


def test_a_set_loses_its_fact_and_controls_are_counted(located):
    sets = [one for one in located.sets if one.components]
    assert sets
    assert all(0 <= one.others_lost <= one.others_asked for one in sets)
    assert {len(pair) for pair in located.overlap()} == {2}
    document = located.summary()
    assert document["with_a_set"] == len(sets)
    assert document["sets"][0]["components"]


def test_same_seed_same_sets(built, found, located):
    facts, _, model = built
    assert rote.locate(model, facts, found, TEMPLATE, batch=5).sets == located.sets


def test_mean_ablation_is_needed(built):
    facts, _, model = built
    without = rote.attribution(model, facts, TEMPLATE, effects=("zero",), relation=None)
    with pytest.raises(InputError, match="without mean-ablation"):
        rote.locate(model, facts, without, TEMPLATE)
