"""Integers in checkpoints and in ONNX: the runtime answers as the model on its grid does."""

from pathlib import Path
from typing import Any

import pytest

import rote
from rote.errors import InputError
from rote.export.common.integers import integer_weights
from rote.export.verify import verify_export

FACTS = "random:vocab=20,context=2,facts=60,seed=1"


@pytest.fixture(scope="module")
def built() -> Any:
    return rote.build(FACTS, method="dana2025.theorem1", dtype="int4")


def test_integers_times_scales_are_the_weights(built: Any) -> None:
    for name, (codes, scales) in integer_weights(built.model).items():
        assert (codes * scales == built.model.weights[name].numpy()).all()


def test_transformers_loads_integers(built: Any, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    import safetensors.torch
    import torch

    exported = rote.export_model(built, "llama", tmp_path / "out", FACTS, format="int8")
    assert (exported.certificate.recalled, exported.certificate.dtype) == (60, "int8")
    tensors = safetensors.torch.load_file(tmp_path / "out" / "model.safetensors")
    assert sum(tensor.dtype == torch.int8 for tensor in tensors.values()) == 5


@pytest.mark.parametrize("name", ["int8", "int4"])
def test_onnxruntime_reads_integers(built: Any, tmp_path: Path, name: str) -> None:
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    exported = rote.export_model(built, "onnx", tmp_path / "out", FACTS, format=name)
    assert (exported.certificate.recalled, exported.certificate.dtype) == (60, name)
    assert exported.certificate.parameters == built.certificate.parameters
    checked = verify_export(tmp_path / "out", rote.facts(FACTS))
    assert all(check.holds for check in checked.checks)


def test_what_integers_cannot_hold_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    plain = rote.build(FACTS, method="dana2025.theorem1")
    with pytest.raises(InputError, match="dtype=int8"):
        rote.export_model(plain, "onnx", tmp_path / "out", FACTS, format="int8")
    wide = rote.build(FACTS, method="dana2025.theorem1", dtype="int8")
    with pytest.raises(InputError, match="format=int8"):
        rote.export_model(wide, "onnx", tmp_path / "out", FACTS, format="int4")
    assert not (tmp_path / "out").exists()
