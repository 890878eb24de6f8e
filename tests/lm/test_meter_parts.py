"""Parts of the meter: strings, subjects, causality, training."""

from __future__ import annotations

import json
import math

import pytest
import torch

from rote.errors import InputError
from rote.lm.capacity.point import after_rounding, in_blocks, measure_point
from rote.lm.capacity.strings import StringShape, random_strings
from rote.lm.capacity.subjects import LmSizes, MeterSubject, check_causal, subject
from rote.lm.capacity.training import ModuleMuon
from rote.lm.language_model import count_parameters

SMALL = StringShape(vocab=8, key=2, counted=3)


def test_every_string_has_its_own_key():
    strings = random_strings(SMALL, 64, seed=3)
    assert len({tuple(row[:2].tolist()) for row in strings}) == 64
    assert torch.equal(strings, random_strings(SMALL, 64, seed=3))
    with pytest.raises(InputError, match="make only 64"):
        SMALL.strings_of(65 * SMALL.bits)


@pytest.mark.parametrize("name", ["gpt2", "llama", "mamba"])
def test_a_named_architecture_is_causal_and_ties_its_embeddings(name):
    made = subject(name, LmSizes(dim=8, layers=1, heads=2), SMALL)
    check_causal(made, SMALL)
    untied = subject(name, LmSizes(dim=8, layers=1, heads=2, tied=False), SMALL)
    assert count_parameters(untied.make()).total - count_parameters(made.make()).total == 8 * 8


def test_a_small_model_holds_what_it_is_offered_and_nothing_of_fresh_strings():
    made = subject("llama", LmSizes(dim=8, layers=1, heads=2), SMALL)
    point = measure_point(made, SMALL, strings=10, steps=150, rate=0.1, seed=0)
    assert 0.9 * 90 < point.held <= point.offered == 90
    assert point.fresh_is_nothing


class Future(torch.nn.Module):
    """Sees the next token: its logits depend on the mean over all positions."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(8, 8)

    def forward(self, ids):
        known = self.table(ids)
        return known + known.mean(1, keepdim=True)


def test_a_module_that_sees_later_tokens_is_refused():
    with pytest.raises(InputError, match="is not causal"):
        check_causal(MeterSubject("future", Future, {}), SMALL)


def test_a_module_of_another_form_is_refused():
    with pytest.raises(InputError, match=r"shape \(2, 4, 5\), expected \(2, 4, 8\)"):
        check_causal(MeterSubject("five", lambda: torch.nn.Embedding(8, 5), {}), SMALL)
    with pytest.raises(InputError, match="fails on token ids"):
        check_causal(MeterSubject("linear", lambda: torch.nn.Linear(3, 3), {}), SMALL)
    with pytest.raises(InputError, match="made int"):
        check_causal(MeterSubject("seven", lambda: 7, {}), SMALL)


def test_a_factory_is_imported_by_name(tmp_path, monkeypatch):
    (tmp_path / "my_models.py").write_text("import torch\ndef make():\n    return torch.nn.Embedding(8, 8)\n")
    monkeypatch.chdir(tmp_path)
    check_causal(subject("my_models:make", LmSizes(), SMALL), SMALL)
    with pytest.raises(InputError, match="cannot be imported"):
        subject("my_models:nothing", LmSizes(), SMALL)
    with pytest.raises(InputError, match="cannot be measured"):
        subject("my_models", LmSizes(), SMALL)


def test_configuration_files_of_both_kinds_are_subjects(tmp_path):
    facts = StringShape(vocab=8, key=2, counted=1)
    path = tmp_path / "spec.json"
    content = {"architecture": "attention-only", "vocab": 8, "context": 2, "dim": 4, "head_dim": 2, "heads": 3}
    path.write_text(json.dumps(content))
    made = subject(str(path), LmSizes(), facts)
    check_causal(made, facts)
    point = measure_point(made, facts, strings=12, steps=400, rate=0.1, seed=0)
    assert point.held == pytest.approx(12 * math.log2(8), rel=0.05)
    with pytest.raises(InputError, match="protocol=facts"):
        subject(str(path), LmSizes(), SMALL)
    other = tmp_path / "config.json"
    other.write_text(json.dumps({"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 8}))
    check_causal(subject(str(other), LmSizes(), SMALL), SMALL)
    other.write_text(json.dumps({"model_type": "nobody-knows"}))
    with pytest.raises(InputError, match="knows no model of type"):
        subject(str(other), LmSizes(), SMALL)


@pytest.mark.parametrize(
    ("name", "sizes", "parameters"),
    [
        ("plain", LmSizes(dim=8, mlp=2), 8 * 8 + 5 * 8 + 4 * 64 + 2 * 16 * 8 + 3 * 8),
        ("plain", LmSizes(dim=8, mlp=2, norm="none", tied=False), 2 * 8 * 8 + 5 * 8 + 4 * 64 + 2 * 16 * 8),
        ("attention-only", LmSizes(dim=8, heads=3, head_dim=5, layers=2), 8 * 8 + 5 * 8 + 2 * 4 * 8 * 15 + 3 * 8),
        ("mlp-only", LmSizes(dim=8, mlp=3), 8 * 8 + 5 * 8 + 2 * 24 * 8 + 2 * 8),
    ],
)
def test_parts_of_a_plain_transformer_are_left_out_and_it_still_memorizes(name, sizes, parameters):
    made = subject(name, sizes, SMALL)
    check_causal(made, SMALL)
    assert count_parameters(made.make()).total == parameters
    point = measure_point(made, SMALL, strings=6, steps=200, rate=0.1, seed=0)
    assert point.held > 0.8 * point.offered
    assert point.fresh_is_nothing


def test_sizes_that_an_architecture_cannot_have_are_all_named():
    with pytest.raises(InputError, match=r"(?s)`dim`.*`layers`.*`heads`"):
        subject("gpt2", LmSizes(dim=0, layers=0, heads=0), SMALL)
    with pytest.raises(InputError, match=r"(?s)`head_dim`.*`norm`"):
        subject("gpt2", LmSizes(head_dim=3, norm="rms"), SMALL)
    with pytest.raises(InputError, match="5 is odd"):
        subject("llama", LmSizes(dim=10, heads=2), SMALL)
    with pytest.raises(InputError, match="attention-only has no MLP"):
        subject("plain", LmSizes(mlp=0), SMALL)


def test_rounding_leaves_the_module_as_it_was_and_coarser_is_no_better():
    torch.manual_seed(0)
    module = torch.nn.Linear(64, 64)
    before = module.weight.clone()
    error = after_rounding(module, lambda: float((module.weight - before).abs().max()))
    assert torch.equal(module.weight, before)
    assert 0 < error["float16"] < error["bfloat16"] < error["Q5_0"] < error["Q4_0"]
    assert error["Q8_0"] <= float(before.detach().abs().max()) / 127 / 2 * 1.2


@pytest.mark.parametrize(("bits", "name"), [(8, "Q8_0"), (5, "Q5_0"), (4, "Q4_0")])
def test_blocks_are_those_of_gguf(bits, name):
    gguf = pytest.importorskip("gguf")
    rows = torch.randn(5, 64, generator=torch.Generator().manual_seed(1))
    kind = gguf.GGMLQuantizationType[name]
    theirs = gguf.quants.dequantize(gguf.quants.quantize(rows.numpy(), kind), kind)
    assert (in_blocks(rows, bits) - torch.from_numpy(theirs)).abs().max() < 1e-6
    assert torch.equal(in_blocks(torch.zeros(3, 7), bits), torch.zeros(3, 7))


def test_matrices_of_one_shape_are_made_orthogonal_together_as_alone():
    torch.manual_seed(0)
    shapes = [(4, 4), (4, 4), (6, 4), (4, 6), (2, 4, 4)]
    together = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    alone = [torch.nn.Parameter(matrix.detach().clone()) for matrix in together]
    for matrix, other in zip(together, alone, strict=True):
        matrix.grad = torch.randn(matrix.shape)
        other.grad = matrix.grad.clone()
    ModuleMuon(together).step(0.1)
    for other in alone:
        ModuleMuon([other]).step(0.1)
    for matrix, other in zip(together, alone, strict=True):
        assert torch.allclose(matrix, other, atol=1e-5)
