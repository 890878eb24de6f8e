"""Every architecture against the conformance suite."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cases import CASES
from conformance import arrays, one, tolerance

from random_models import random_model
from rote.errors import InputError
from rote.folders import read_folder, write_folder
from rote.models import ARCHITECTURES, spec_from_config
from rote.models.forward.architecture import FORWARD
from rote.models.model import DTYPES, Model
from rote.models.spec import size_of
from rote.tasks.origin import Origin

EVERY = [
    pytest.param(case, spec, id=f"{name}-{number}")
    for name, case in CASES.items()
    for number, spec in enumerate(case.specs)
]
each = pytest.mark.parametrize(("case", "spec"), EVERY)


def test_every_architecture_is_in_the_suite():
    covered = {spec.architecture for case in CASES.values() for spec in case.specs}
    assert set(ARCHITECTURES) == set(FORWARD) == covered


@each
def test_parameter_formula_equals_the_tensors(case, spec):
    assert spec.parameters() == size_of(spec.shapes()) == case.models(spec, 0).parameters


@each
def test_specification_survives_its_config(case, spec):
    assert spec_from_config(spec.to_config(), "config") == spec


@each
def test_forward_pass_equals_the_naive_evaluator(case, spec):
    model = case.models(spec, 1)
    for count in (3, 40):
        inputs = case.inputs(spec, model, count, np.random.default_rng(count))
        outputs = model.logits(inputs)
        weights = arrays(model)
        expected = np.stack([case.naive(spec, weights, _row(inputs, row)) for row in range(count)])
        allowed = tolerance(spec, outputs, np.finfo(np.float64).eps)
        np.testing.assert_allclose(outputs.numpy(), expected, atol=allowed, rtol=0)


def _row(inputs, row):
    return tuple(part[row] for part in inputs) if isinstance(inputs, tuple) else inputs[row]


@each
def test_batched_equals_one_by_one(case, spec):
    model = case.models(spec, 2)
    inputs = case.inputs(spec, model, 60, np.random.default_rng(2))
    together = model.logits(inputs)
    apart = torch.cat([model.logits(one(inputs, row)) for row in range(60)])
    torch.testing.assert_close(together, apart, atol=tolerance(spec, together, torch.finfo(torch.float64).eps), rtol=0)


@each
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_lower_precision_is_kept_and_close(case, spec, dtype):
    if dtype not in case.dtypes:
        pytest.skip("refused by the specification")
    model = case.models(spec, 3)
    inputs = case.inputs(spec, model, 50, np.random.default_rng(3))
    lower = model.to(DTYPES[dtype])
    outputs = lower.logits(inputs)
    assert outputs.dtype == DTYPES[dtype]
    # Against the same rounded weights in float64, so that only the arithmetic differs.
    exact = lower.to(torch.float64).logits(inputs)
    allowed = tolerance(spec, exact, torch.finfo(DTYPES[dtype]).eps)
    torch.testing.assert_close(outputs.double(), exact, atol=allowed, rtol=0)


@each
def test_permuting_heads_changes_nothing(case, spec):
    axes = spec.head_axes()
    if not axes:
        assert not hasattr(spec, "heads")
        pytest.skip("no heads")
    model = case.models(spec, 4)
    inputs = case.inputs(spec, model, 30, np.random.default_rng(4))
    order = torch.randperm(spec.heads, generator=torch.Generator().manual_seed(5))
    permuted = {
        name: tensor.index_select(axes[name], order) if name in axes else tensor
        for name, tensor in model.weights.items()
    }
    outputs = model.logits(inputs)
    allowed = tolerance(spec, outputs, torch.finfo(torch.float64).eps)
    torch.testing.assert_close(Model(spec, permuted).logits(inputs), outputs, atol=allowed, rtol=0)


@each
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_saved_and_loaded_gives_identical_outputs(case, spec, dtype, tmp_path):
    if dtype not in case.dtypes:
        pytest.skip("refused by the specification")
    model = case.models(spec, 6).to(DTYPES[dtype])
    inputs = case.inputs(spec, model, 20, np.random.default_rng(6))
    write_folder(tmp_path / "model", model, Origin(), {}, None)
    loaded = read_folder(tmp_path / "model").model
    assert loaded.spec == spec
    assert torch.equal(loaded.logits(inputs), model.logits(inputs))


@each
def test_every_tensor_matters(case, spec):
    """A tensor that never reaches the output would be counted as parameters for nothing."""
    model = case.models(spec, 7)
    inputs = case.inputs(spec, model, 30, np.random.default_rng(7))
    before = model.logits(inputs)
    for name, tensor in model.weights.items():
        if tensor.is_floating_point() and tensor.numel():
            noise = torch.randn(tensor.shape, generator=torch.Generator().manual_seed(8), dtype=torch.float64)
            moved = Model(spec, {**model.weights, name: tensor + noise}).logits(inputs)
            unheard = name in _silent(spec)
            assert torch.equal(moved, before) == unheard, name


def _silent(spec) -> set[str]:
    """Attention to a single token has nothing to choose, whatever its queries and keys."""
    return {"query", "key"} if spec.architecture == "query-attention" and spec.context == 1 else set()


@each
def test_no_inputs_give_no_outputs(case, spec):
    model = case.models(spec, 9)
    inputs = case.inputs(spec, model, 0, np.random.default_rng(9))
    assert model.logits(inputs).shape[0] == 0


@each
def test_streaming_budget_grows_with_inputs(case, spec):
    held = [spec.floats_held(count) for count in (1, 10, 1000, 100_000)]
    assert held == sorted(held)
    assert held[0] >= max(spec.vocab or 1, spec.context)


REFUSED = [
    pytest.param(case, change, word, id=f"{name}-{word.replace(' ', '-')}")
    for name, case in CASES.items()
    for change, word in case.refused
]


@pytest.mark.parametrize(("case", "change", "word"), REFUSED)
def test_nonsense_is_refused(case, change, word):
    first = case.specs[0]
    with pytest.raises(InputError, match=word) as caught:
        type(first)(**{**first.model_dump(), **change})
    assert str(caught.value).startswith(first.architecture)


@each
def test_inputs_that_do_not_fit_are_refused(case, spec):
    model = case.models(spec, 10)
    if spec.reads == "vectors":
        contexts, queries = case.inputs(spec, model, 4, np.random.default_rng(10))
        for wrong in ((contexts[:, :, :-1], queries), (contexts[:2], queries), (contexts, queries[:, :-1])):
            with pytest.raises(InputError, match="expected contexts of shape"):
                model.logits(wrong)
        with pytest.raises(InputError, match="pair"):
            model.logits(queries)
        return
    inputs = case.inputs(spec, model, 4, np.random.default_rng(10))
    with pytest.raises(InputError, match="shape"):
        model.logits(np.concatenate([inputs, inputs], 1))
    for place in (-1, spec.vocab):
        wrong = inputs.copy()
        wrong[2, 0] = place
        with pytest.raises(InputError, match="ids must lie in"):
            model.logits(wrong)
    with pytest.raises(InputError, match="token ids"):
        model.logits(inputs.astype(np.float64))


@each
def test_tensors_that_do_not_fit_are_refused(case, spec):
    model = case.models(spec, 11)
    name = next(iter(spec.shapes()))
    without = {key: tensor for key, tensor in model.weights.items() if key != name}
    for weights, word in (
        (without, "missing"),
        ({**model.weights, name: model.weights[name][None]}, "expected"),
        ({**model.weights, name: model.weights[name].long()}, "dtype"),
        ({**model.weights, "extra": torch.zeros(1)}, "does not belong"),
        ({**model.weights, name: model.weights[name].float()}, "several dtypes"),
    ):
        with pytest.raises(InputError, match=word):
            Model(spec, weights)


@each
def test_random_model_is_the_same_for_a_seed_in_every_dtype(case, spec):
    first, again = random_model(spec, 12, "float64"), random_model(spec, 12, "float32")
    other = random_model(spec, 13, "float64")
    assert all(torch.equal(first.to(torch.float32).weights[name], again.weights[name]) for name in first.weights)
    assert any(not torch.equal(first.weights[name], other.weights[name]) for name in first.weights)
