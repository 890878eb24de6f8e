"""Attention that is kept between edits: the same logits bit for bit, and none where the attention is another."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rote.models import AttentionOnly
from rote.models.attended_model import AttendedModel
from rote.models.forward import attention_only
from rote.models.forward.kept_attention import MOST_ROWS, KeptAttention
from rote.models.model import Model
from rote.testing.random_models import random_model


def drawn(vocab, context, heads, rows, seed, dtype, apart=0, sharp=1.0):
    spec = AttentionOnly(vocab=vocab, context=context, dim=6, head_dim=3, heads=heads, heads_apart=apart)
    model = random_model(spec, seed, dtype)
    weights = dict(model.weights)
    weights["layers.0.query"] = weights["layers.0.query"] * sharp
    contexts = torch.from_numpy(np.random.default_rng(seed).integers(0, vocab, (rows, context)))
    return Model(spec, weights), contexts


def other_output(model, seed):
    """The model with another W_O."""
    old = model.weights["layers.0.output"]
    drawn = torch.randn(old.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return replace(model, weights={**model.weights, "layers.0.output": drawn.to(old.dtype)})


@given(
    vocab=st.integers(2, 30),
    context=st.sampled_from([2, 3, 5, 9]),
    heads=st.sampled_from([1, 5, 40]),
    rows=st.integers(2, 200),
    apart=st.integers(0, 1),
    padded=st.booleans(),
    sharp=st.sampled_from([1.0, 1e4]),
    dtype=st.sampled_from(["float32", "float64", "bfloat16"]),
    seed=st.integers(0, 2**31),
)
def test_kept_attention_gives_the_streams_of_the_forward_pass_bit_for_bit(
    vocab, context, heads, rows, apart, padded, sharp, dtype, seed
):
    model, contexts = drawn(vocab, context, heads, rows, seed, dtype, min(apart, heads - 1), sharp)
    if padded:
        contexts[:, : context - 2] = 0
        contexts[: rows // 2, :1] = 1
    kept = KeptAttention(model.spec, model.weights, contexts)
    for each in (model, other_output(model, seed), model):
        assert torch.equal(kept.stream(each.weights), attention_only.stream(model.spec, each.weights, contexts))


@pytest.mark.parametrize("context", [2, 7])
def test_streams_of_some_facts_in_float64(context):
    model, contexts = drawn(40, context, 9, MOST_ROWS + 300, 1, "float32")
    kept = KeptAttention(model.spec, model.weights, contexts)
    generator = np.random.default_rng(0)
    for count in (5, 700, 700, 3, MOST_ROWS + 1, 40):
        rows = torch.from_numpy(np.sort(generator.choice(len(contexts), count, replace=False)))
        model = other_output(model, count)
        exact = model.to("float64")
        wanted = attention_only.stream(exact.spec, exact.weights, contexts)[rows]
        torch.testing.assert_close(kept.exact_stream(model.weights, rows), wanted, rtol=1e-12, atol=1e-12)


def test_a_model_uses_attention_that_is_its_own_alone():
    model, contexts = drawn(20, 2, 9, 100, 1, "float32")
    kept = KeptAttention(model.spec, model.weights, contexts)
    edited = other_output(model, 2)
    attended = AttendedModel.of(edited, kept)
    assert attended.attention is kept
    for ids in (contexts, contexts.flip(0), contexts[:7]):
        assert torch.equal(torch.cat(list(attended.logits_in_parts(ids))), torch.cat(list(edited.logits_in_parts(ids))))
    another = replace(model, weights={**model.weights, "layers.0.key": model.weights["layers.0.key"] * 2})
    assert AttendedModel.of(another, kept).attention is None
    assert attended.to("float64").attention is None


def test_attention_that_takes_much_memory_is_not_kept(monkeypatch):
    model, contexts = drawn(20, 2, 9, 100, 1, "float32")
    assert KeptAttention.pays(model.spec, contexts)
    monkeypatch.setattr("rote.models.forward.kept_attention.MOST_FLOATS", 1000)
    assert not KeptAttention.pays(model.spec, contexts)
    assert not KeptAttention.pays(model.spec.model_copy(update={"layers": 2}), contexts[:2])
