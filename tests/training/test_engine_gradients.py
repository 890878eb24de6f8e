"""Both engines against float64 autograd of the models' own forward pass."""

from functools import cache

import numpy as np
import pytest
import torch
from lookups import lookup, noisy

from rote.models.attention_only import AttentionOnly
from rote.models.forward import forward
from rote.models.mlp_transformer import MlpTransformer
from rote.training import native_engine
from rote.training.initial import initial_weights, unflattened
from rote.training.problem import TrainingProblem
from rote.training.torch_objective import TorchObjective

ATTENTION = [
    {"vocab": 50, "context": 2, "dim": 10, "head_dim": 10, "heads": 21, "scale_scores": True},
    {"vocab": 7, "context": 2, "dim": 4, "head_dim": 3, "heads": 3},
    {"vocab": 9, "context": 2, "dim": 5, "head_dim": 2, "heads": 11, "variant": "shared", "scale_scores": True},
    {"vocab": 8, "context": 2, "dim": 3, "head_dim": 2, "heads": 1, "query_key_rank": 1},
    {"vocab": 2, "context": 2, "dim": 1, "head_dim": 1, "heads": 1},
    {"vocab": 16, "context": 2, "dim": 8, "head_dim": 8, "heads": 8},
    {"vocab": 15, "context": 2, "dim": 17, "head_dim": 6, "heads": 17},
    {"vocab": 14, "context": 2, "dim": 3, "head_dim": 5, "heads": 2, "wide_heads": True},
    {"vocab": 33, "context": 2, "dim": 6, "head_dim": 4, "heads": 5, "query_key_rank": 2},
    {"vocab": 5, "context": 3, "dim": 4, "head_dim": 3, "heads": 3},
    {"vocab": 4, "context": 4, "dim": 5, "head_dim": 3, "heads": 9, "variant": "shared"},
    {"vocab": 2, "context": 7, "dim": 6, "head_dim": 2, "heads": 18, "scale_scores": True},
    {"vocab": 19, "context": 2, "dim": 6, "head_dim": 6, "heads": 5, "positions": "attention"},
    {"vocab": 5, "context": 3, "dim": 4, "head_dim": 3, "heads": 3, "positions": "attention", "scale_scores": True},
    {"vocab": 9, "context": 2, "dim": 5, "head_dim": 2, "heads": 3, "variant": "shared", "positions": "attention"},
]
MLP = [
    {"vocab": 9, "context": 2, "dim": 4, "head_dim": 3, "heads": 2, "width": 9},
    {"vocab": 13, "context": 2, "dim": 6, "head_dim": 6, "heads": 1, "width": 40, "scale_scores": True},
    {"vocab": 5, "context": 3, "dim": 4, "head_dim": 3, "heads": 2, "width": 13, "activation": "relu"},
    {"vocab": 5, "context": 2, "dim": 4, "head_dim": 3, "heads": 2, "width": 0},
    {"vocab": 9, "context": 2, "dim": 4, "head_dim": 3, "heads": 2, "width": 9, "positions": "attention"},
]
ONE_LAYER = [AttentionOnly(**sizes) for sizes in ATTENTION] + [MlpTransformer(**sizes) for sizes in MLP]
DEEP = [
    AttentionOnly(vocab=5, context=3, dim=4, head_dim=3, heads=3, layers=3, positions="every-layer"),
    AttentionOnly(vocab=5, context=3, dim=4, head_dim=3, heads=3, layers=2, variant="shared", scale_scores=True),
    AttentionOnly(vocab=12, context=2, dim=9, head_dim=9, heads=5, layers=3),
    AttentionOnly(vocab=21, context=2, dim=7, head_dim=4, heads=3, layers=3, variant="shared", scale_scores=True),
    AttentionOnly(vocab=9, context=2, dim=3, head_dim=2, heads=4, layers=2, query_key_rank=1, positions="every-layer"),
    AttentionOnly(vocab=2, context=2, dim=1, head_dim=1, heads=1, layers=2),
    MlpTransformer(vocab=6, context=2, dim=4, head_dim=3, heads=2, width=9, layers=2),
    MlpTransformer(vocab=17, context=2, dim=5, head_dim=5, heads=1, width=21, layers=3, positions="every-layer"),
    MlpTransformer(vocab=8, context=2, dim=5, head_dim=5, heads=1, width=0, layers=3, positions="every-layer"),
    MlpTransformer(vocab=5, context=3, dim=8, head_dim=3, heads=2, width=17, layers=3, positions="every-layer"),
    AttentionOnly(vocab=12, context=2, dim=9, head_dim=9, heads=5, layers=3, positions="attention", scale_scores=True),
    AttentionOnly(vocab=5, context=3, dim=4, head_dim=3, heads=3, layers=3, positions="attention"),
    AttentionOnly(vocab=21, context=2, dim=7, head_dim=4, heads=3, layers=3, variant="shared", positions="attention"),
    AttentionOnly(vocab=5, context=3, dim=6, head_dim=3, heads=2, layers=2, variant="shared", positions="attention"),
    MlpTransformer(vocab=17, context=2, dim=5, head_dim=5, heads=1, width=21, layers=3, positions="attention"),
    MlpTransformer(vocab=5, context=3, dim=8, head_dim=3, heads=2, width=17, layers=3, positions="attention"),
]
WIDTHS = native_engine.lanes()
needs_native = pytest.mark.skipif(not WIDTHS, reason="the native engine is not built here")


def reference(spec, problem, flat, weights, focus):
    """Loss, share of right predictions, gradient and objective by `rote.models.forward` in float64; and the logits."""
    tensors = {name: part.double().requires_grad_() for name, part in unflattened(spec, flat).items()}
    logits = forward(spec, tensors, torch.from_numpy(problem.contexts).long())
    targets = torch.zeros(len(problem), problem.vocab, dtype=torch.float64)
    entries = torch.from_numpy(problem.rows), torch.from_numpy(problem.tokens).long()
    targets[entries] = torch.from_numpy(problem.probabilities).double()
    costs = -(targets * logits.log_softmax(1)).sum(1)
    loss = (torch.from_numpy(weights) * costs).sum()
    objective = loss if focus == 0 else (torch.from_numpy(weights) * (1 - (-focus * costs).exp())).sum() / focus
    gradients = torch.autograd.grad(objective, list(tensors.values()))
    right = float(weights @ (logits.argmax(1).numpy() == problem.answers))
    gradient = torch.cat([part.flatten() for part in gradients]).numpy()
    return (float(loss.detach()), right, gradient, float(objective.detach())), logits.detach()


def case(spec, distribution):
    task = (noisy if distribution else lookup)(spec.vocab, spec.context)
    rng = np.random.default_rng(spec.parameters())
    # Larger than the initial weights, so that attention and the softmax are not in their linear range.
    return TrainingProblem.of(task), 1.5 * initial_weights(spec, 3), rng


def weights_of_rows(problem, rows):
    return np.bincount(rows, minlength=len(problem)) / len(rows)


def agree(found, model, spec, problem, flat, weights, focus, tolerance):
    (expected, _) = reference(spec, problem, flat, weights, focus)
    equal(found, model, expected, tolerance)


def equal(found, model, expected, tolerance):
    loss, right, gradient, objective = expected
    assert found.loss[model] == pytest.approx(loss, rel=tolerance)
    assert found.right[model] == pytest.approx(right, abs=1e-6)
    assert found.objective[model] == pytest.approx(objective, rel=tolerance)
    assert np.abs(found.gradient[model] - gradient).max() <= tolerance * np.abs(gradient).max()


@pytest.mark.parametrize("distribution", [False, True], ids=["associations", "distributions"])
@pytest.mark.parametrize("spec", ONE_LAYER + DEEP, ids=repr)
def test_stacked_engine(spec, distribution):
    problem, flat, rng = case(spec, distribution)
    weights = rng.dirichlet(np.ones(len(problem)), size=2)
    other = initial_weights(spec, 4)
    stack = np.stack([other, flat]).astype(np.float64)
    engine = TorchObjective(spec, problem, weights, dtype=torch.float64)
    for focus in (0.0, 0.7):
        agree(engine.gradient(stack, None, np.array([0.2, focus])), 1, spec, problem, flat, weights[1], focus, 1e-9)
    rows = rng.integers(len(problem), size=(2, 11))
    found = engine.gradient(stack, rows)
    for model, start in enumerate((other, flat)):
        agree(found, model, spec, problem, start, weights_of_rows(problem, rows[model]), 0.0, 1e-9)


@cache
def steps_with_references(spec, distribution):
    """A problem with steps on all of it and on batches, and what autograd says of each: computed once for all widths
    and layouts."""
    problem, flat, rng = case(spec, distribution)
    weights = rng.dirichlet(np.ones(len(problem)))
    batches = [rng.integers(len(problem), size=(1, batch)) for batch in (1, 21, 64)]
    whole = {focus: reference(spec, problem, flat, weights, focus) for focus in (0.0, 0.7)}
    # Focus 0 again: nothing may be left over from one step to the next.
    steps = [(None, np.array([focus]), whole[focus][0]) for focus in (0.0, 0.7, 0.0)]
    for rows in batches:
        expected, _ = reference(spec, problem, flat, weights_of_rows(problem, rows[0]), 0.0)
        steps.append((rows, None, expected))
    return problem, flat, weights, steps, whole[0.0][1]


@needs_native
@pytest.mark.parametrize("distribution", [False, True], ids=["associations", "distributions"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("spec", ONE_LAYER + DEEP, ids=repr)
def test_native_engine(spec, width, distribution):
    problem, flat, weights, steps, logits = steps_with_references(spec, distribution)
    tolerance = 5e-6 if spec.layers == 1 else 5e-5  # rounding grows from layer to layer
    best = logits.topk(2, 1).values
    clear = (best[:, 0] - best[:, 1] > 1e-4).numpy()
    for layout in ("grid", "list") if spec.context == 2 else ("list",):
        engine = native_engine.NativeObjective(spec, problem, weights, width, layout)
        for rows, focus, expected in steps:
            equal(engine.gradient(flat[None], rows, focus), 0, expected, tolerance)
        predicted = engine.predictions(flat[None])[0]
        assert np.array_equal(predicted[clear], logits.argmax(1).numpy()[clear])


@needs_native
def test_predictions_are_strict_and_finite():
    spec = AttentionOnly(vocab=6, context=2, dim=3, head_dim=2, heads=2)
    problem = TrainingProblem.of(lookup(6))
    tied = np.zeros((1, spec.parameters()), np.float32)
    broken = np.full((1, spec.parameters()), np.nan, np.float32)
    for engine in (
        native_engine.NativeObjective(spec, problem, problem.prior),
        TorchObjective(spec, problem, problem.prior),
    ):
        assert (engine.predictions(tied) == -1).all()
        assert (engine.predictions(broken) == -1).all()
        assert not np.isfinite(engine.gradient(broken).loss).any()
