"""The one-layer pass from token tables against the plain one, and sizes published for known models."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rote.models import AttentionOnly, MlpTransformer, QueryAttention
from rote.models.forward import attention_only, leading_run
from rote.testing.random_models import random_model


@given(
    vocab=st.integers(1, 12),
    context=st.integers(2, 5),
    heads=st.sampled_from([1, 5, 40]),
    rows=st.integers(1, 300),
    skew=st.sampled_from([0.0, 3.0]),
    shared=st.booleans(),
    positions=st.sampled_from(["stream", "attention"]),
    seed=st.integers(0, 2**31),
)
def test_token_tables_change_nothing(vocab, context, heads, rows, skew, shared, positions, seed):
    variant = "shared" if shared else "per-head"
    spec = AttentionOnly(
        vocab=vocab, context=context, dim=5, head_dim=3, heads=heads, variant=variant, positions=positions,
        scale_scores=True,
    )  # fmt: skip
    model = random_model(spec, seed, "float64")
    generator = np.random.default_rng(seed)
    # Skewed tokens make groups so uneven that they are cut into several blocks.
    shares = np.arange(1, vocab + 1) ** -skew
    contexts = torch.from_numpy(generator.choice(vocab, size=(rows, context), p=shares / shares.sum()))
    tabled = attention_only._one_layer_from_tables(spec, model.weights, contexts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention_only, "table_pays", lambda contexts, run=0: False)
        plain = attention_only.residual(spec, model.weights, contexts)
    torch.testing.assert_close(tabled, plain, atol=1e-12, rtol=1e-12)


@given(
    longest=st.integers(2, 24),
    rows=st.integers(1, 120),
    dense=st.booleans(),
    shared=st.booleans(),
    positions=st.sampled_from(["stream", "attention"]),
    seed=st.integers(0, 2**31),
)
def test_padded_contexts_are_run_as_if_each_position_were_looked_at(longest, rows, dense, shared, positions, seed):
    variant = "shared" if shared else "per-head"
    spec = AttentionOnly(vocab=5, context=longest, dim=5, head_dim=3, heads=20, variant=variant, positions=positions)
    model = random_model(spec, seed, "float64")
    generator = np.random.default_rng(seed)
    contexts = torch.from_numpy(generator.integers(0, 5, (rows, longest)))
    for row, left in enumerate(generator.integers(1, longest + 1, rows)):
        contexts[row, : longest - left] = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention_only, "table_pays", lambda contexts, run=0: dense)
        found = attention_only.residual(spec, model.weights, contexts)
        patch.setattr(attention_only, "table_pays", lambda contexts, run=0: False)
        plain = torch.cat([attention_only.residual(spec, model.weights, row[None]) for row in contexts])
    torch.testing.assert_close(found, plain, atol=1e-12, rtol=1e-12)


@given(runs=st.lists(st.integers(0, 29), min_size=1), positions=st.just(30))
def test_parts_hold_every_row_once_and_share_their_run(runs, positions):
    runs = torch.tensor(runs)
    parts = leading_run.split_by_run(runs, positions)
    assert torch.cat([rows for rows, _ in parts]).sort().values.tolist() == list(range(len(runs)))
    for rows, shared in parts:
        assert shared <= int(runs[rows].min())
        assert shared >= leading_run.SHORTEST or shared == 0


@given(
    numbers=st.lists(st.integers(0, 9), min_size=1, max_size=200),
    heavy=st.integers(0, 200),
    seed=st.integers(0, 2**31),
)
def test_groups_multiply_every_row_by_its_own_matrix(numbers, heavy, seed):
    rows = torch.tensor(numbers + [3] * heavy)
    groups = attention_only.RowGroups.of(rows)
    assert len(groups.rows) <= 2 * len(rows) + len(groups.distinct)
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(rows), 2, 3, generator=generator, dtype=torch.float64)
    table = torch.randn(len(groups.distinct), 3, 4, generator=generator, dtype=torch.float64)
    found = groups.multiply(groups.lay_out(x), table)
    for row, number in enumerate(rows.tolist()):
        matrix = table[groups.distinct.tolist().index(number)]
        torch.testing.assert_close(found[row], x[row] @ matrix)


def test_tables_are_used_only_where_they_save_work():
    everything = torch.cartesian_prod(torch.arange(10), torch.arange(10))
    assert attention_only.table_pays(everything)
    assert not attention_only.table_pays(everything[:5])
    assert not attention_only.table_pays(torch.arange(40).view(20, 2))


def test_gradients_flow_through_both_passes():
    spec = AttentionOnly(vocab=6, context=2, dim=4, head_dim=2, heads=3)
    model = random_model(spec, 0, "float64")
    contexts = torch.cartesian_prod(torch.arange(6), torch.arange(6))
    gradients = []
    for rows in (contexts, contexts[:1]):
        weights = {name: tensor.clone().requires_grad_() for name, tensor in model.weights.items()}
        attention_only.logits(spec, weights, rows).square().sum().backward()
        gradients.append({name: tensor.grad for name, tensor in weights.items()})
        assert all(gradient is not None and bool(gradient.any()) for gradient in gradients[-1].values())
    apart = {name: torch.zeros_like(tensor) for name, tensor in model.weights.items()}
    for row in range(len(contexts)):
        weights = {name: tensor.clone().requires_grad_() for name, tensor in model.weights.items()}
        attention_only.logits(spec, weights, contexts[row : row + 1]).square().sum().backward()
        for name, tensor in weights.items():
            apart[name] += tensor.grad
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, apart[name])


def test_earlier_positions_never_see_later_ones():
    """Two layers read the first position's stream; it must not depend on the last token."""
    spec = AttentionOnly(vocab=5, context=3, dim=4, head_dim=4, heads=2)
    model = random_model(spec, 0, "float64")
    part = attention_only.layer_heads(model.weights, 0)
    contexts = torch.tensor([[0, 1, 2], [0, 1, 4]])
    x = model.weights["tokens"][contexts] + model.weights["positions"]
    found = attention_only.heads_output(part, x, last_only=False)
    torch.testing.assert_close(found[0, :2], found[1, :2])
    assert not torch.allclose(found[0, 2], found[1, 2])


def test_published_parameter_counts():
    # Dana et al. 2025: d(S + 2N + 4kH); the first line is their N=50, d=k=10, H=20.
    assert AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20).parameters() == 9020
    # Remark 2: d(S + 2N + 2(k + 1)H).
    assert AttentionOnly(vocab=50, context=2, dim=10, head_dim=10, heads=20, query_key_rank=1).parameters() == 5420
    # Experiment 5: d(S + 2N + 4kH) + 2dw + w.
    assert MlpTransformer(vocab=70, context=2, dim=7, head_dim=7, width=28).parameters() == 7 * 170 + 2 * 7 * 28 + 28
    # Mahdavi et al. 2024, H = 20: classification over 100 classes, and regression.
    assert QueryAttention.experiment(context=32, outputs=100).parameters() == 177_060
    assert QueryAttention.experiment(context=32, outputs=1).parameters() == 170_625


def test_both_variants_are_one_when_head_dim_is_dim():
    sizes = {"vocab": 6, "context": 2, "dim": 4, "head_dim": 4, "heads": 3}
    own, shared = AttentionOnly(**sizes), AttentionOnly(**sizes, variant="shared")
    assert own.shapes() == shared.shapes()
    contexts = np.array([[0, 1], [5, 5], [2, 0]])
    assert torch.equal(random_model(own).logits(contexts), random_model(shared).logits(contexts))


def test_a_shared_context_is_embedded_once_and_gives_the_same():
    spec = QueryAttention.experiment(context=4, outputs=3, heads=2, head_dim=5, dim=6)
    model = random_model(spec, 0, "float64")
    generator = np.random.default_rng(0)
    context, queries = generator.uniform(size=(1, 4, 6)), generator.uniform(size=(9, 6))
    shared = np.broadcast_to(context, (9, 4, 6))
    torch.testing.assert_close(model.logits((shared, queries)), model.logits((shared.copy(), queries)))


@pytest.mark.parametrize("gated", [20, 15, 11, 5])
def test_heads_that_attend_to_the_last_position_alone_are_looked_up(gated, monkeypatch):
    spec = AttentionOnly(vocab=4, context=7, dim=6, head_dim=3, heads=20)
    model = random_model(spec, 5, "float64")
    weights = {name: tensor.clone() for name, tensor in model.weights.items()}
    weights["tokens"][:, -1] = 0
    weights["positions"][:, -1] = torch.eye(7, dtype=torch.float64)[-1]
    # A gate that is open for token 0: for the others the last position leads by far.
    weights["tokens"][:, 0] = torch.tensor([0.0, 1, 1, 1])
    weights["positions"][:, 0] = 0
    weights["layers.0.query"][:gated, 0] = torch.tensor([500.0, 0, 0, 0, 0, 0])
    weights["layers.0.key"][:gated, 0] = torch.tensor([0.0, 0, 0, 0, 0, 1])
    contexts = torch.from_numpy(np.random.default_rng(0).integers(0, 4, (200, 7)))
    seen = []
    asked = attention_only.saturated_heads
    monkeypatch.setattr(attention_only, "saturated_heads", lambda *given: seen.append(asked(*given)) or seen[-1])
    tabled = attention_only._one_layer_from_tables(spec, weights, contexts)
    assert (len(seen) > 1) == (gated > 13)  # more than half: divided by last tokens
    plain = attention_only._layer_by_layer(spec, weights, contexts, None)
    torch.testing.assert_close(tabled, plain, atol=1e-12, rtol=1e-12)
    assert seen[0].sum(1).tolist() == [0, gated, gated, gated]
