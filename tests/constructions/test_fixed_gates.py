"""`rote.fixed_gates`: gates stay as they were drawn, and the rule for its sizes."""

from __future__ import annotations

import pytest
import torch

import rote
from rote.constructions.construction import Request
from rote.constructions.rote.fixed_gates.fixed_gates import FixedGatesOptions, spec_of
from rote.constructions.rote.fixed_gates.gates import Gates
from rote.errors import CheckFailed

FACTS = "random:vocab=14,context=3,facts=150,seed=2"


def request(facts, **sizes):
    task = rote.facts(facts)
    assert isinstance(task, rote.AssociationTask)
    return Request(task, FixedGatesOptions(), **sizes)


def test_all_pairs_of_fifty_tokens_are_planned_below_9000_parameters():
    spec = spec_of(request("random:vocab=50,context=2,facts=2500,seed=1"))
    assert (spec.dim, spec.head_dim, spec.query_key_rank) == (16, 4, 1)
    assert 8600 < spec.parameters() < 9000


def test_queries_keys_and_gate_dimensions_are_those_that_were_drawn():
    built = rote.build(FACTS, "rote.fixed_gates", dim=8, heads=14, seed=5)
    spec, weights = built.model.spec, built.model.weights
    drawn = Gates.draw(spec, 4, 30.0, torch.float32, torch.Generator().manual_seed(5))
    assert built.certificate.complete
    assert built.certificate.measured["draws"] == 1
    for name in ("layers.0.query", "layers.0.key"):
        assert torch.equal(weights[name], drawn.weights[name].float())
        assert not weights[name][:, :, 4:].any()
    for name in ("tokens", "positions"):
        assert torch.equal(weights[name][:, :4], drawn.weights[name][:, :4].float())
        assert not torch.equal(weights[name][:, 4:], drawn.weights[name][:, 4:].float())


def test_patterns_are_nearly_zero_or_one():
    asked = request(FACTS, heads=40)
    task, spec = asked.task, spec_of(asked)
    gates = Gates.draw(spec, 4, 30.0, torch.float32, torch.Generator().manual_seed(1))
    model = gates.model(gates.weights, torch.float64, task.vocabulary)
    seen = model.to_torch().patterns(torch.from_numpy(task.contexts).long())[0][:, :, -1]
    assert seen.detach().amax(2).mean() > 0.7


def test_more_facts_than_parameters_can_hold_are_said_to_be_missed():
    with pytest.raises(CheckFailed, match=r"of 150 facts are recalled .* more `heads`"):
        rote.build(FACTS, "rote.fixed_gates", dim=5, head_dim=1, heads=2, draws=1, steps=300)
