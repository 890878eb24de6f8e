"""Where positions enter: in the stream, in every layer's, or beside it where attention reads them."""

import math

import pytest
import torch

from rote.models import AttentionOnly, MlpTransformer
from rote.models.forward.decomposition import decomposed
from rote.testing.random_models import random_model

SIZES = {"vocab": 7, "context": 3, "dim": 6, "heads": 4, "scale_scores": True, "positions": "attention"}
SPECS = {
    "one layer": AttentionOnly(**SIZES, head_dim=6),
    "three layers": AttentionOnly(**SIZES, head_dim=6, layers=3),
    "three layers, narrow heads": AttentionOnly(**SIZES, head_dim=2, layers=3),
    "one layer, shared compression": AttentionOnly(**SIZES, head_dim=2, variant="shared"),
    "three layers, shared compression": AttentionOnly(**SIZES, head_dim=2, layers=3, variant="shared"),
    "one layer, MLP": MlpTransformer(**SIZES, head_dim=6, width=5),
    "three layers, MLP": MlpTransformer(**SIZES, head_dim=6, width=5, layers=3),
}


def attention(model, layer, read):
    """Causal multi-head attention of one layer, a head at a time."""
    query, key, value, output = (
        model.weights[f"layers.{layer}.{name}"] for name in ("query", "key", "value", "output")
    )
    later = torch.ones(read.shape[1], read.shape[1], dtype=torch.bool).triu(1)
    total = torch.zeros_like(read)
    for head in range(model.spec.heads):
        scores = (read @ query[head].T) @ (read @ key[head].T).transpose(1, 2) / math.sqrt(model.spec.head_dim)
        total = total + scores.masked_fill(later, -math.inf).softmax(-1) @ read @ value[head].T @ output[head].T
    return total


def written_out(model, contexts):
    """X <- X + attention(X + P), layer by layer, with one P; behind a compression C and a decompression D,
    X <- X + D attention(C X + P). An MLP reads X, where no position ever entered."""
    weights, spec = model.weights, model.spec
    P, X = weights["positions"], weights["tokens"][contexts]
    for layer in range(spec.layers):
        if getattr(spec, "compressed", False):
            C, D = weights["compress"], weights["decompress"]
            X = X + attention(model, layer, X @ C.T + P) @ D.T
        else:
            X = X + attention(model, layer, X + P)
        if isinstance(spec, MlpTransformer):
            before = X @ weights[f"layers.{layer}.mlp_in"].T + weights[f"layers.{layer}.mlp_bias"]
            X = X + torch.nn.functional.gelu(before) @ weights[f"layers.{layer}.mlp_out"].T
    return X[:, -1] @ weights["unembed"].T


@pytest.mark.parametrize("name", SPECS)
def test_attention_reads_positions_that_the_stream_never_carries(name):
    model = random_model(SPECS[name], 1, "float64")
    contexts = torch.cartesian_prod(*[torch.arange(7)] * 3)
    expected = written_out(model, contexts)
    torch.testing.assert_close(model.logits(contexts), expected, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(model.to_torch()(contexts), expected, atol=1e-12, rtol=1e-12)
    # Few contexts of one first token, which are run from tables of what they share, and one alone.
    torch.testing.assert_close(model.logits(contexts[:5]), expected[:5], atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(model.logits(contexts[5:6]), expected[5:6], atol=1e-12, rtol=1e-12)
    parts = decomposed(model.spec, model.weights, contexts)
    torch.testing.assert_close(parts.skip, model.weights["tokens"][contexts[:, -1]])
    torch.testing.assert_close(parts.stream() @ model.weights["unembed"].T, expected, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("layers", [1, 3])
def test_where_positions_enter_matters(layers):
    """From the same tensors other logits, though one layer that adds its positions in every layer adds them once."""
    contexts = torch.cartesian_prod(*[torch.arange(7)] * 3)
    logits = {}
    for positions in ("stream", "every-layer", "attention"):
        spec = AttentionOnly(**SIZES | {"positions": positions}, head_dim=6, layers=layers)
        model = random_model(spec, 1, "float64")
        shared = random_model(SPECS["one layer" if layers == 1 else "three layers"], 1, "float64").weights
        logits[positions] = type(model)(spec, {**model.weights, **shared}).logits(contexts)
    assert not torch.allclose(logits["attention"], logits["stream"])
    assert not torch.allclose(logits["attention"], logits["every-layer"])
    assert torch.equal(logits["stream"], logits["every-layer"]) == (layers == 1)


@pytest.mark.parametrize(
    ("positions", "variant", "tables"),
    [
        ("stream", "per-head", {"positions": (3, 6)}),
        ("every-layer", "per-head", {"positions": (3, 6), "layers.1.positions": (3, 6)}),
        ("attention", "per-head", {"positions": (3, 6)}),
        ("stream", "shared", {"layers.0.positions": (3, 2), "layers.1.positions": (3, 2)}),
        ("attention", "shared", {"positions": (3, 2)}),
    ],
)
def test_tables_of_positions(positions, variant, tables):
    spec = AttentionOnly(**SIZES | {"positions": positions}, head_dim=2, layers=2, variant=variant)
    assert {name: shape for name, shape in spec.shapes().items() if "positions" in name} == tables


def test_the_depth_experiments_count_one_table():
    """Figure 8, d = k = 10, H = 21, three layers: d(S + 2N) + 3 * 4 d^2 H."""
    spec = AttentionOnly(vocab=70, context=2, dim=10, head_dim=10, heads=21, layers=3, positions="attention")
    assert spec.parameters() == 10 * (2 + 2 * 70) + 3 * 4 * 100 * 21
