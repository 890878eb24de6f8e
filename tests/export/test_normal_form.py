"""Every attention Transformer has a normal form, and spreading its heads over layers changes nothing."""

from __future__ import annotations

import pytest
import torch
from exported_models import known_by_definition

from rote.errors import InputError
from rote.export.common.normal_form import normal_form, spread
from rote.models import AttentionOnly, LinearMemory, MlpTransformer

SPECS = [
    AttentionOnly(vocab=5, context=2, dim=4, head_dim=3, heads=3),
    AttentionOnly(vocab=7, context=3, dim=5, head_dim=5, heads=2, scale_scores=True, layers=2),
    AttentionOnly(vocab=6, context=3, dim=4, head_dim=2, heads=5, layers=3, positions="every-layer"),
    AttentionOnly(vocab=6, context=3, dim=4, head_dim=2, heads=5, layers=3, positions="attention"),
    AttentionOnly(vocab=5, context=2, dim=4, head_dim=3, heads=3, positions="attention"),
    AttentionOnly(vocab=6, context=3, dim=5, head_dim=3, heads=4, variant="shared", layers=2, query_key_rank=2),
    AttentionOnly(vocab=6, context=3, dim=5, head_dim=3, heads=4, variant="shared", layers=2, positions="attention"),
    AttentionOnly(vocab=6, context=2, dim=3, head_dim=5, heads=2, wide_heads=True, variant="shared"),
    MlpTransformer(vocab=8, context=2, dim=6, head_dim=2, heads=3, width=4, activation="relu"),
    MlpTransformer(vocab=5, context=2, dim=4, head_dim=4, width=0),
    MlpTransformer(vocab=5, context=3, dim=4, head_dim=2, heads=4, width=5, layers=2, positions="every-layer"),
    MlpTransformer(vocab=5, context=3, dim=4, head_dim=2, heads=4, width=5, layers=2, positions="attention"),
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_function_is_the_same(spec):
    model, task = known_by_definition(spec, dtype="float64")
    contexts = torch.from_numpy(task.contexts).long()
    form = normal_form(model)
    for per_layer in range(1, spec.heads + 1):
        arranged = spread(form, per_layer)
        assert arranged.heads == per_layer
        torch.testing.assert_close(arranged.run(contexts).logits, model.logits(contexts), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_largest_square_is_that_of_every_position(spec, monkeypatch):
    model, task = known_by_definition(spec, dtype="float64")
    contexts = torch.from_numpy(task.contexts).long()
    form = normal_form(model)
    for arranged in (form, spread(form, 1)):
        expected = arranged.run(contexts).largest_square
        assert arranged.largest_square(contexts) == pytest.approx(expected, rel=1e-12)
        monkeypatch.setattr("rote.export.common.normal_form.WIDE_RUNS", 0)
        assert arranged.largest_square(contexts) == pytest.approx(expected, rel=1e-4)
        monkeypatch.undo()


def test_attention_adds_up_to_one_and_looks_back_alone():
    model, task = known_by_definition(SPECS[1], dtype="float64")
    run = normal_form(model).run(torch.from_numpy(task.contexts).long())
    for pattern in run.patterns:
        torch.testing.assert_close(pattern.sum(-1), torch.ones_like(pattern[..., 0]))
        assert not pattern.triu(1).any()


def test_what_is_no_transformer_has_none():
    with pytest.raises(InputError, match="no Transformer"):
        normal_form(known_by_definition(LinearMemory(vocab=5, context=2, inputs=15, dim=6))[0])
