"""Probes: vectors whose geometry is known, a tiny encoder and a tiny causal model."""

from __future__ import annotations

import math

import pytest
import torch

from rote.errors import InputError
from rote.lm.assumptions import lm_assumptions
from rote.lm.geometry import full_rank_contexts, independent_share, look_up, rank, separation
from rote.lm.loading import load_language_model as load

TEXT = "The capital of France is Paris and Rome is the capital of Italy what country is this dark red key " * 60


def test_independent_subsets_tell_the_kruskal_rank():
    torch.manual_seed(0)
    generic = torch.randn(20, 6)
    assert rank(generic) == 6
    share = independent_share(generic, 6, 30, seed=0)
    assert share is not None
    assert share.all
    assert share.interval.low > 0.8
    flat = generic.clone()
    flat[:, 3:] = 0
    assert rank(flat) == 3
    three, four = independent_share(flat, 3, 30, seed=0), independent_share(flat, 4, 30, seed=0)
    assert three is not None
    assert three.all
    assert four is not None
    assert four.having == 0
    assert independent_share(generic, 7, 30, seed=0) is None


def test_contexts_that_repeat_a_token_are_not_of_full_rank():
    torch.manual_seed(0)
    contexts = torch.randn(3, 4, 6)
    contexts[1, 2] = contexts[1, 0]
    full, conditions = full_rank_contexts(contexts)
    assert full == 2
    assert conditions[1] > 1e5 > conditions[0]


def test_separation_is_the_largest_norm_and_the_smallest_distance_of_different_vectors():
    found = separation(torch.tensor([[3.0, 4.0], [3.0, 4.0], [0.0, 0.0], [0.0, 1.0]]))
    assert (found.radius, found.distance) == (5.0, 1.0)
    assert math.isnan(separation(torch.ones(3, 2)).distance)


def test_a_look_up_table_has_no_entropy_and_a_uniform_one_all():
    sure = look_up(torch.tensor([[60.0, 0.0, 0.0, 0.0]]), dim=4)
    assert sure.entropy_bits == pytest.approx(0, abs=1e-6)
    assert sure.expectation == pytest.approx(0, abs=1e-6)
    level = look_up(torch.zeros(1, 4), dim=4)
    assert level.entropy_bits == pytest.approx(2)
    assert level.expectation == pytest.approx(0, abs=1e-6)
    assert level.bound is None
    assert look_up(torch.zeros(1, 4), dim=1000).bound is not None


def test_a_causal_model_is_probed_at_its_last_token(gpt2):
    result = lm_assumptions(load(gpt2, attentions=True), TEXT, number=20, tokens=6, subsets=10)
    assert (result.query, len(result.layers)) == ("last", 2)
    assert result.look_up is not None
    assert result.layers[0].saturated is None
    assert 0 <= (result.layers[1].saturated or 0) <= 1
    assert result.layers[1].queries_independent is not None
    assert result.layers[1].contexts_full.samples == 20
    document = result.summary()
    assert document["layers"][1]["holds"].keys() == {
        "mahdavi2024.theorem1", "kajitsuka2025.theorem4_1", "madden2025.lower",
    }  # fmt: skip


def test_every_first_token_is_the_same_before_the_first_block(bert):
    text = " ".join(f"The {word}" for word in TEXT.split())
    result = lm_assumptions(load(bert, attentions=True), text, number=20, tokens=6, subsets=10)
    assert result.query == "first"
    assert result.look_up is None
    assert result.layers[0].query_rank == 1
    assert result.layers[1].query_rank > 1
    assert not result.layers[0].holds(6, 16)["madden2025.lower"]


def test_a_model_without_attention_is_refused(mamba):
    with pytest.raises(InputError, match="has no attention"):
        lm_assumptions(load(mamba, attentions=True), TEXT, number=4, tokens=6)


def test_too_short_a_text_is_named(gpt2):
    with pytest.raises(InputError, match="give a longer text"):
        lm_assumptions(load(gpt2, attentions=True), "The capital", number=4, tokens=6)
    with pytest.raises(InputError, match="`tokens`: 1 is too few"):
        lm_assumptions(load(gpt2, attentions=True), TEXT, tokens=1)


def test_the_assumptions_inside_a_real_encoder(tmp_path):
    from real_model import MOLECULES, albert_folder, save_albert

    source = albert_folder()
    if source is None:
        pytest.skip("the package rxnmapper is not installed (pip install --no-deps rxnmapper==0.4.3)")
    generator = torch.Generator().manual_seed(0)
    order = torch.randint(len(MOLECULES), (400,), generator=generator).tolist()
    text = ".".join(MOLECULES[place] for place in order)
    model = load(save_albert(source, tmp_path / "albert"), attentions=True)
    result = lm_assumptions(model, text, number=40, tokens=12, subsets=20)
    assert (result.dim, len(result.layers)) == (256, 13)
    before, after = result.layers[0], result.layers[1]
    assert before.query_rank == 1
    assert not before.holds(12, 256)["mahdavi2024.theorem1"]
    assert after.query_rank > 12
    assert before.queries_independent is not None
    assert before.queries_independent.having == 0
    assert after.queries_independent is not None
    assert after.queries_independent.having > 5
    assert before.general_position is None
    assert before.tokens.distance > 0
