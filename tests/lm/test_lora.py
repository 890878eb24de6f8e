"""Adapters on a frozen module: what is trained, counted and held."""

from __future__ import annotations

import pytest
import torch

from rote.cli import main
from rote.errors import InputError
from rote.lm.capacity import lora as lora_module
from rote.lm.capacity.lora import Lora, adapted_subject, lora_parameters
from rote.lm.capacity.point import measure_point, trained_parameters
from rote.lm.capacity.strings import StringShape
from rote.lm.capacity.subjects import LmSizes, logits_of, subject
from rote.lm.lora import adapt, matrices_of

SHAPE = StringShape(8, 2, 4)
SIZES = LmSizes(dim=8)


@pytest.fixture(autouse=True)
def short_base(monkeypatch):
    monkeypatch.setattr(lora_module, "BASE_STEPS", 40)
    lora_module._trained.cache_clear()


@pytest.mark.parametrize("model", ["gpt2", "llama", "plain"])
def test_adapters_alone_are_trained_and_begin_with_no_effect(model):
    torch.manual_seed(0)
    module = subject(model, SIZES, SHAPE).make()
    ids = torch.randint(8, (3, 5))
    before = logits_of(module, ids)
    shapes = matrices_of(module, "all")
    adapters = adapt(module, 2)
    assert torch.equal(logits_of(module, ids), before)
    assert trained_parameters(module).total == sum(2 * sum(shape) for shape in shapes.values())
    assert lora_parameters(model, SIZES, SHAPE, Lora(2)) == sum(2 * (sum(shape) - 2) for shape in shapes.values())
    name, adapter = next(iter(adapters.items()))
    torch.nn.init.normal_(adapter.lora_B)
    states = torch.randn(4, shapes[name][0])
    assert torch.allclose(
        adapter(states) - adapter.base(states), states @ (adapter.lora_B @ adapter.lora_A).T, atol=1e-5
    )


def test_adapters_may_be_kept_in_a_wider_dtype_than_the_frozen_matrices():
    torch.manual_seed(0)
    module = subject("llama", SIZES, SHAPE).make().to(torch.bfloat16)
    ids = torch.randint(8, (3, 5))
    before = logits_of(module, ids)
    adapters = adapt(module, 2, dtype=torch.float32)
    assert {part.lora_A.dtype for part in adapters.values()} == {torch.float32}
    assert torch.equal(logits_of(module, ids), before)
    adapter = next(iter(adapters.values()))
    torch.nn.init.ones_(adapter.lora_B)
    logits_of(module, ids).float().sum().backward()
    assert adapter.lora_B.grad is not None
    assert adapter.lora_B.grad.dtype == torch.float32
    states = torch.randn(4, adapter.lora_A.shape[1], dtype=torch.bfloat16)
    low = states @ adapter.lora_A.bfloat16().T
    assert torch.equal(adapter(states), adapter.base(states) + low @ adapter.lora_B.bfloat16().T)


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("base", ["trained", "random"])
def test_a_point_trains_the_adapters_and_leaves_the_base(rank, base):
    made = adapted_subject("llama", SIZES, SHAPE, Lora(rank, "all", base))
    torch.manual_seed(3)
    fresh = {name: tensor for name, tensor in made.make().state_dict().items() if "lora" not in name}
    point = measure_point(made, SHAPE, strings=4, steps=150, rate=0.1, seed=3)
    assert point.parameters == trained_parameters(made.make()).total
    assert point.held > 0.3 * point.offered
    torch.manual_seed(3)
    again = made.make().state_dict()
    assert all(torch.equal(tensor, again[name]) for name, tensor in fresh.items())


def test_the_command_reports_bits_per_lora_parameter(tmp_path, capsys):
    asked = ["--dim", "8", "--vocab", "8", "--load", "0.5", "--steps", "16", "--seeds", "1", "--rate", "0.1"]
    assert main(["lm", "capacity", "gpt2", *asked, "--lora", "2", "--workers", "1", "-o", str(tmp_path / "run")]) == 0
    assert "per number that matters" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lora", "message"),
    [
        (Lora(0), "0 is no rank"),
        (Lora(9), "rank 9 exceeds that of every matrix of gpt2, 8"),
    ],
)
def test_a_rank_that_cannot_be_is_rejected(lora, message):
    with pytest.raises(InputError, match=message):
        adapted_subject("gpt2", SIZES, SHAPE, lora)


def test_modules_that_a_model_lacks_are_named():
    with pytest.raises(InputError, match="has no matrices named as 'mlp' ones are"):
        adapted_subject("attention-only", SIZES, SHAPE, Lora(1, "mlp"))
