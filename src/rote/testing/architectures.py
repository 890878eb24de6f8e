"""What every architecture must satisfy: its forward pass, its parameter count and what it rejects.

A case gives small specifications of several shapes, inputs for them, a naive evaluator (plain loops in float64, written
from the definition and sharing no code with the forward pass), and combinations that must be rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from rote.errors import InputError
from rote.folders import read_folder, write_folder
from rote.models import spec_from_config
from rote.models.model import Model, dtype_named
from rote.models.spec import Spec, size_of
from rote.tasks.origin import Origin
from rote.testing.random_models import random_model

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class ArchitectureCase:
    """One architecture in the suite."""

    specs: list[Spec]
    naive: Callable[[Any, Arrays, Any], np.ndarray]
    """Specification, float64 weights and one input to a vector of logits."""
    rejected: list[tuple[dict[str, Any], str]]
    """Changes to the first specification that must be rejected, and a word of the message."""
    inputs: Callable[[Any, Model, int, np.random.Generator], Any] = field(default=lambda *given: token_inputs(*given))
    models: Callable[[Any, int], Model] = field(default=lambda spec, seed: lively_model(spec, seed))
    """A model in float64 whose every tensor matters."""
    without_effect: Callable[[Any], set[str]] = field(default=lambda spec: set())
    """Tensors that no output depends on, of a specification so small that they have nothing to do."""
    dtypes: tuple[str, ...] = ("float64", "float32", "bfloat16", "float16")


class ArchitectureSuite:
    """Tests of architectures: subclass it and give `cases`."""

    cases: ClassVar[Mapping[str, ArchitectureCase]] = {}
    """Any names, each with specifications of one architecture."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test per specification (and dtype), or per combination that must be rejected."""
        asked = set(metafunc.fixturenames)
        if "change" in asked:
            rows = [
                pytest.param(case, change, word, id=f"{name}-{word.replace(' ', '-')}")
                for name, case in self.cases.items()
                for change, word in case.rejected
            ]
            metafunc.parametrize(("case", "change", "word"), rows)
        elif "dtype" in asked:
            rows = [
                pytest.param(case, spec, dtype, id=f"{name}-{number}-{dtype}")
                for name, case in self.cases.items()
                for number, spec in enumerate(case.specs)
                for dtype in case.dtypes
            ]
            metafunc.parametrize(("case", "spec", "dtype"), rows)
        elif "case" in asked:
            rows = [
                pytest.param(case, spec, id=f"{name}-{number}")
                for name, case in self.cases.items()
                for number, spec in enumerate(case.specs)
            ]
            metafunc.parametrize(("case", "spec"), rows)

    def test_parameter_formula_equals_the_tensors(self, case: ArchitectureCase, spec: Spec) -> None:
        assert spec.parameters() == size_of(spec.shapes()) == case.models(spec, 0).parameters

    def test_specification_survives_its_config(self, case: ArchitectureCase, spec: Spec) -> None:
        assert spec_from_config(spec.to_config(), "config") == spec

    def test_forward_pass_equals_the_naive_evaluator(self, case: ArchitectureCase, spec: Spec) -> None:
        model = case.models(spec, 1)
        for count in (3, 40):
            inputs = case.inputs(spec, model, count, np.random.default_rng(count))
            outputs = model.logits(inputs)
            weights = {name: tensor.numpy() for name, tensor in model.weights.items()}
            expected = np.stack([case.naive(spec, weights, _row(inputs, row)) for row in range(count)])
            allowed = tolerance(spec, outputs, float(np.finfo(np.float64).eps))
            np.testing.assert_allclose(outputs.numpy(), expected, atol=allowed, rtol=0)

    def test_batched_equals_one_by_one(self, case: ArchitectureCase, spec: Spec) -> None:
        model = case.models(spec, 2)
        inputs = case.inputs(spec, model, 60, np.random.default_rng(2))
        together = model.logits(inputs)
        apart = torch.cat([model.logits(_one(inputs, row)) for row in range(60)])
        allowed = tolerance(spec, together, torch.finfo(torch.float64).eps)
        torch.testing.assert_close(together, apart, atol=allowed, rtol=0)
        torch.testing.assert_close(together, torch.cat(list(model.logits_in_parts(inputs))), atol=allowed, rtol=0)

    def test_lower_precision_is_kept_and_close(self, case: ArchitectureCase, spec: Spec, dtype: str) -> None:
        model = case.models(spec, 3)
        inputs = case.inputs(spec, model, 50, np.random.default_rng(3))
        lower = model.to(dtype_named(dtype))
        outputs = lower.logits(inputs)
        assert outputs.dtype == dtype_named(dtype)
        # Against the same rounded weights in float64, so that only the arithmetic differs.
        exact = lower.to(torch.float64).logits(inputs)
        allowed = tolerance(spec, exact, torch.finfo(dtype_named(dtype)).eps)
        torch.testing.assert_close(outputs.double(), exact, atol=allowed, rtol=0)

    def test_permuting_heads_changes_nothing(self, case: ArchitectureCase, spec: Spec) -> None:
        axes, heads = spec.head_axes(), getattr(spec, "heads", 0)
        assert bool(axes) == hasattr(spec, "heads")
        model = case.models(spec, 4)
        inputs = case.inputs(spec, model, 30, np.random.default_rng(4))
        order = torch.randperm(heads, generator=torch.Generator().manual_seed(5))
        permuted = {
            name: tensor.index_select(axes[name], order) if name in axes else tensor
            for name, tensor in model.weights.items()
        }
        outputs = model.logits(inputs)
        allowed = tolerance(spec, outputs, torch.finfo(torch.float64).eps)
        torch.testing.assert_close(Model(spec, permuted).logits(inputs), outputs, atol=allowed, rtol=0)

    def test_saved_and_loaded_gives_identical_outputs(
        self, case: ArchitectureCase, spec: Spec, dtype: str, tmp_path: Path
    ) -> None:
        model = case.models(spec, 6).to(dtype_named(dtype))
        inputs = case.inputs(spec, model, 20, np.random.default_rng(6))
        write_folder(tmp_path / "model", model, Origin(), {}, None)
        loaded = read_folder(tmp_path / "model").model
        assert loaded.spec == spec
        assert torch.equal(loaded.logits(inputs), model.logits(inputs))

    def test_every_tensor_matters(self, case: ArchitectureCase, spec: Spec) -> None:
        """A tensor that never reaches the output would be counted as parameters for nothing."""
        model = case.models(spec, 7)
        inputs = case.inputs(spec, model, 30, np.random.default_rng(7))
        before = model.logits(inputs)
        for name, tensor in model.weights.items():
            if tensor.is_floating_point() and tensor.numel():
                noise = torch.randn(tensor.shape, generator=torch.Generator().manual_seed(8), dtype=torch.float64)
                moved = Model(spec, {**model.weights, name: tensor + noise}).logits(inputs)
                assert torch.equal(moved, before) == (name in case.without_effect(spec)), name

    def test_no_inputs_give_no_outputs(self, case: ArchitectureCase, spec: Spec) -> None:
        model = case.models(spec, 9)
        inputs = case.inputs(spec, model, 0, np.random.default_rng(9))
        assert model.logits(inputs).shape[0] == 0

    def test_streaming_budget_grows_with_inputs(self, case: ArchitectureCase, spec: Spec) -> None:
        held = [spec.floats_held(count) for count in (1, 10, 1000, 100_000)]
        assert held == sorted(held)
        assert held[0] >= max(spec.vocab or 1, spec.context)

    def test_nonsense_is_rejected(self, case: ArchitectureCase, change: dict[str, Any], word: str) -> None:
        first = case.specs[0]
        with pytest.raises(InputError, match=word) as caught:
            type(first)(**{**first.model_dump(), **change})
        assert str(caught.value).startswith(first.architecture)

    def test_inputs_that_do_not_fit_are_rejected(self, case: ArchitectureCase, spec: Spec) -> None:
        model = case.models(spec, 10)
        inputs = case.inputs(spec, model, 4, np.random.default_rng(10))
        if spec.reads == "vectors":
            contexts, queries = inputs
            for wrong in ((contexts[:, :, :-1], queries), (contexts[:2], queries), (contexts, queries[:, :-1])):
                with pytest.raises(InputError, match="expected contexts of shape"):
                    model.logits(wrong)
            with pytest.raises(InputError, match="pair"):
                model.logits(queries)
            return
        with pytest.raises(InputError, match="shape"):
            model.logits(np.concatenate([inputs, inputs], 1))
        for place in (-1, spec.vocab):
            wrong = inputs.copy()
            wrong[2, 0] = place
            with pytest.raises(InputError, match="ids must lie in"):
                model.logits(wrong)
        with pytest.raises(InputError, match="token ids"):
            model.logits(inputs.astype(np.float64))

    def test_tensors_that_do_not_fit_are_rejected(self, case: ArchitectureCase, spec: Spec) -> None:
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


def lively_model(spec: Spec, seed: int) -> Model:
    """A random model whose biases are not zero, so that forgetting one shows."""
    model = random_model(spec, seed, "float64")
    generator = torch.Generator().manual_seed(seed + 1)
    for tensor in model.weights.values():
        if tensor.is_floating_point() and not bool(tensor.any()):
            tensor.copy_(torch.randn(tensor.shape, generator=generator, dtype=torch.float64))
    return model


def token_inputs(spec: Any, model: Model, count: int, generator: np.random.Generator) -> np.ndarray:
    """Random contexts of tokens."""
    return generator.integers(spec.vocab, size=(count, spec.context))


def key_inputs(spec: Any, model: Model, count: int, generator: np.random.Generator) -> np.ndarray:
    """Only keys that the model knows, in any order, some of them twice."""
    keys = model.weights["keys"].numpy()
    return keys[generator.integers(len(keys), size=count)]


def vector_inputs(spec: Any, model: Model, count: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random contexts of vectors, each with a query."""
    return generator.uniform(size=(count, spec.context, spec.dim)), generator.uniform(size=(count, spec.dim))


def tolerance(spec: Spec, exact: Tensor, epsilon: float) -> float:
    """Rounding allowed in a result computed with unit roundoff `epsilon`.

    Every sum here has at most `longest` terms and a few sums follow one another; sqrt(longest) is how independent
    roundings add up, and 16 leaves room for the softmax, which multiplies a score's error by the score's size.
    """
    longest = max(max(shape) for shape in spec.shapes().values() if shape)
    return 16 * epsilon * float(np.sqrt(longest)) * max(1.0, float(exact.abs().max()))


def _one(inputs: Any, row: int) -> Any:
    return tuple(part[row : row + 1] for part in inputs) if isinstance(inputs, tuple) else inputs[row : row + 1]


def _row(inputs: Any, row: int) -> Any:
    return tuple(part[row] for part in inputs) if isinstance(inputs, tuple) else inputs[row]
