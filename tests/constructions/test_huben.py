"""Huben and Morris 2023: attention heads that are MLP neurons, compared with the MLP on every input."""

import itertools

import numpy as np
import pytest
import torch
from huben_simulation import RELU_DEFECT, SimulatedMlp, attention_from_mlp
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.constructions.build import build
from rote.errors import InputError
from rote.measure.certificate import weights_fingerprint
from rote.models.attention_only import AttentionOnly
from rote.models.forward.attention_only import heads_output, residual
from rote.tasks import AssociationTask, Vocabulary


def random_mlp(width, inputs, activation, dtype, seed=0):
    draw = torch.Generator().manual_seed(seed)
    shapes = ((width, inputs), (width,), (inputs, width))
    inner, bias, outer = (torch.randn(shape, generator=draw, dtype=torch.float64).to(dtype) for shape in shapes)
    return SimulatedMlp(inner, bias, outer, activation)


def points(batch, context, inputs, dtype, seed=1):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(batch, context, inputs, generator=draw, dtype=torch.float64).to(dtype)


def largest_difference(mlp, x):
    made = attention_from_mlp(mlp, x.shape[1], float(x.norm(dim=2).max()))
    attended = made.outputs(heads_output(made.heads, made.stream(x), last_only=False))
    assert attended.dtype == x.dtype
    return float((attended - mlp(x)).abs().max() / mlp(x).abs().max()), made


@pytest.mark.parametrize(("dtype", "most"), [(torch.float64, 1e-13), (torch.float32, 2e-6)])
def test_silu_is_exact_at_every_position(dtype, most):
    off, made = largest_difference(random_mlp(40, 7, "silu", dtype), points(500, 5, 7, dtype))
    assert off < most
    assert made.defect == 0
    heads, head_dim, dim = made.heads["query"].shape
    assert (heads, head_dim, dim) == (40, 5 + 1, 7 + 5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_relu_is_within_its_defect(dtype):
    mlp, x = random_mlp(40, 7, "relu", dtype), points(500, 5, 7, dtype)
    off, made = largest_difference(mlp, x)
    assert 0 < made.defect < 0.05
    assert off * float(mlp(x).abs().max()) < made.defect


def test_relu_defect_is_the_largest_difference():
    a = torch.linspace(-20, 20, 400_001, dtype=torch.float64)
    differences = (torch.nn.functional.silu(a) - a.relu()).abs()
    assert float(differences.max()) == pytest.approx(RELU_DEFECT, rel=1e-8)


@settings(max_examples=20)
@given(
    width=st.integers(1, 9),
    inputs=st.integers(1, 5),
    context=st.integers(1, 6),
    scale=st.sampled_from([1e-3, 1.0, 100.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_silu_mlp_becomes_attention(width, inputs, context, scale, seed):
    x = scale * points(20, context, inputs, torch.float64, seed)
    assert largest_difference(random_mlp(width, inputs, "silu", torch.float64, seed), x)[0] < 1e-11


def test_the_mask_holds_where_other_positions_shout():
    """A neuron that is off at its own position must not see one that is far on next door."""
    mlp = SimulatedMlp(*(torch.ones(shape, dtype=torch.float64) for shape in ((1, 1), (1,), (1, 1))))
    x = torch.tensor([[[-50.0], [50.0], [-1.0]]], dtype=torch.float64)
    assert largest_difference(mlp, x)[0] < 1e-15


def facts(count, vocab, context, seed=0):
    draw = np.random.default_rng(seed)
    keys = draw.choice(vocab**context, count, replace=False)
    contexts = np.stack([keys // vocab**place % vocab for place in range(context)], 1)
    return AssociationTask(contexts, draw.integers(0, vocab, count), Vocabulary.numbered(vocab))


def original_logits(model, contexts):
    """The MLP memory that was turned into attention: one attention layer, then SiLU neurons on the last position."""
    weights = model.weights
    layer = AttentionOnly(**{**model.spec.model_dump(), "layers": 1})
    stream = residual(layer, weights, contexts)
    neurons = torch.nn.functional.silu(stream @ weights["layers.1.value"][:, 0].T)
    return (stream + neurons @ weights["layers.1.output"][:, :, 0]) @ weights["unembed"].T


@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-10), ("float32", 2e-3)])
@pytest.mark.parametrize(("count", "vocab", "context"), [(60, 12, 2), (60, 6, 4)])
def test_memory_equals_its_mlp_on_every_context_there_is(count, vocab, context, dtype, most):
    model = build(facts(count, vocab, context), "huben2023", dtype=dtype).model
    everything = torch.tensor(list(itertools.product(range(vocab), repeat=context)))
    attended, original = model.logits(everything), original_logits(model, everything)
    assert float((attended - original).abs().max()) < most * float(original.abs().max())


@pytest.mark.parametrize(("count", "vocab", "context"), [(200, 50, 2), (300, 26, 4)])
def test_memory_stores_a_fact_per_head_in_float32(count, vocab, context):
    built = build(facts(count, vocab, context), "huben2023")
    assert built.certificate.complete
    assert built.certificate.guaranteed == built.model.spec.heads == count
    assert (built.model.spec.layers, built.model.spec.head_dim) == (2, 1)
    assert built.model.dtype == torch.float32


def test_same_seed_same_weights():
    once, again, other = (build(facts(30, 10, 2), "huben2023", seed=seed).model.weights for seed in (1, 1, 2))
    assert weights_fingerprint(once) == weights_fingerprint(again)
    assert weights_fingerprint(once) != weights_fingerprint(other)


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="10 facts need 10"):
        build(facts(10, 8, 2), "huben2023", heads=9)
    with pytest.raises(InputError, match="3 problems"):
        build(facts(10, 8, 2), "huben2023", heads=9, dim=5, head_dim=2)
    eye = torch.eye(3)
    with pytest.raises(InputError, match="gelu"):
        SimulatedMlp(eye, torch.zeros(3), eye, "gelu")
    with pytest.raises(InputError, match="do not belong to one hidden layer"):
        SimulatedMlp(torch.zeros(4, 3), torch.zeros(4), torch.zeros(4, 3))
    made = attention_from_mlp(SimulatedMlp(eye, torch.zeros(3), eye), 2, 1.0)
    with pytest.raises(InputError, match="made for 2 positions of 3 numbers"):
        made.stream(torch.zeros(1, 4, 3))
