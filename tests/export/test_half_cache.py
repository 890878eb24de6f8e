"""Caches of keys and values in float16: heads are brought into range, and every fact is asked through the cache."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from exported_models import known_by_definition, need

from rote.errors import InputError
from rote.export import export_model, verify_export
from rote.export.common.half_cache import LARGEST_HALF, half_conditions, within_half
from rote.export.common.normal_form import normal_form
from rote.models import AttentionOnly

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("layers", [1, 2])
def test_heads_out_of_range_are_brought_into_it_without_changing_a_bit(layers):
    spec = AttentionOnly(vocab=7, context=3, dim=5, head_dim=4, heads=3, layers=layers)
    model, task = known_by_definition(spec, dtype="float64")
    contexts, form = torch.from_numpy(task.contexts).long(), normal_form(model)
    wild = replace(
        form,
        layers=tuple(
            replace(
                layer,
                query=layer.query / 2**30,
                key=layer.key * 2**30,
                value=layer.value * 2**25,
                output=layer.output / 2**25,
            )
            for layer in form.layers
        ),
    )
    tame = within_half(wild, contexts)
    for layer, x in zip(tame.layers, tame.run(contexts).streams, strict=True):
        keys, values = (torch.einsum("hkd,bsd->bhsk", matrix, x) for matrix in (layer.key, layer.value))
        assert float(keys.abs().max()) < 2**10
        assert 0.5 < float(values.abs().max()) < 2
    assert torch.equal(tame.run(contexts).logits, wild.run(contexts).logits)
    assert all(condition.holds for condition in half_conditions(wild, contexts))


def test_a_cache_that_would_overflow_is_told():
    model, task = known_by_definition(AttentionOnly(vocab=7, context=3, dim=5, head_dim=4, heads=3))
    loud = replace(model, weights={name: tensor * 2.0**10 for name, tensor in model.weights.items()})
    (condition,) = half_conditions(normal_form(loud), torch.from_numpy(task.contexts).long())
    assert not condition.holds
    assert condition.value > condition.below == LARGEST_HALF


@pytest.mark.parametrize("target", ["gguf", "gpt2", "llama"])
def test_every_fact_is_recalled_through_a_cache_in_half_precision(target, letters, tmp_path):
    need(target)
    exact = export_model(letters.built, target, tmp_path / "single", letters.task).certificate
    stated = export_model(letters.built, target, tmp_path / "half", letters.task, cache="float16").certificate
    assert (exact.cache_dtype, stated.cache_dtype) == ("float32", "float16")
    assert stated.recalled == stated.generated == letters.task.facts
    assert stated.largest_margin_change > 10 * exact.largest_margin_change
    assert "largest number in the cache" in {condition.name for condition in stated.conditions}
    assert verify_export(tmp_path / "half", letters.task).holds


def test_targets_without_a_cache_and_other_dtypes_are_refused(words, tmp_path):
    with pytest.raises(InputError, match=r"`cache=float16`: torch keeps no keys and values.*gpt2, llama, gguf"):
        export_model(words.built, "torch", tmp_path / "there", words.task, cache="float16")
    with pytest.raises(InputError, match="`cache=int8`: is not one of float32, float16"):
        export_model(words.built, "llama", tmp_path / "there", words.task, cache="int8")
    assert not list(tmp_path.iterdir())
