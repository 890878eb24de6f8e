"""Models on grids: built, written as packed integers, read back, and what is not as rote writes it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import rote
from rote.errors import InputError
from rote.models.grid import packed_length

FACTS = "random:vocab=20,context=2,facts=60,seed=1"


@pytest.fixture(scope="module")
def built() -> Any:
    return rote.build(FACTS, dtype="int4")


@pytest.mark.parametrize("dtype", ["int8", "int6", "int4", "levels12", "int3", "ternary"])
def test_every_fact_is_recalled_from_the_packed_file(dtype: Any, tmp_path: Path) -> None:
    built = rote.build(FACTS, dtype=dtype)
    assert built.certificate.recalled == 60
    assert built.certificate.dtype == dtype
    path = built.save(tmp_path / "model")
    folder = rote.load(path)
    assert folder.model.precision is not None
    assert folder.model.precision.name == dtype
    for name, tensor in built.model.weights.items():
        assert (folder.model.weights[name] == tensor).all()
    assert rote.recall(folder.model, FACTS).recalled == 60
    assert rote.verify(path, FACTS).holds
    header = 8 + int.from_bytes((path / "model.safetensors").read_bytes()[:8], "little")
    assert (path / "model.safetensors").stat().st_size - header == folder.model.bytes == built.model.bytes


def test_the_same_seed_gives_the_same_bytes(built: Any, tmp_path: Path) -> None:
    again = rote.build(FACTS, dtype="int4")
    first, second = built.save(tmp_path / "a"), again.save(tmp_path / "b")
    assert (first / "model.safetensors").read_bytes() == (second / "model.safetensors").read_bytes()


def test_bits_are_counted_with_scales(built: Any) -> None:
    shapes = built.model.spec.shapes()
    scales = sum(grid.scales.size for grid in built.model.precision.grids.values())
    grids = built.model.precision.grids
    codes = sum(packed_length(int(np.prod(shape)), grids[name].levels) for name, shape in shapes.items())
    assert built.model.bytes == codes + 2 * scales
    assert built.summary()["bits_per_weight_bit"] == pytest.approx(built.certificate.bits / (8 * built.model.bytes))


def _changed(path: Path, change: Any) -> None:
    file = path / "model.safetensors"
    tensors = dict(safetensors.numpy.load(file.read_bytes()))
    change(tensors)
    file.write_bytes(safetensors.numpy.save(tensors))


def _without(tensors: dict[str, np.ndarray]) -> None:
    del tensors["tokens.codes"]


def _shorter(tensors: dict[str, np.ndarray]) -> None:
    tensors["tokens.codes"] = tensors["tokens.codes"][:-1].copy()


def _beyond(tensors: dict[str, np.ndarray]) -> None:
    tensors["tokens.codes"] = np.full_like(tensors["tokens.codes"], 255)


def _infinite(tensors: dict[str, np.ndarray]) -> None:
    tensors["tokens.scales"] = np.full((1, 1), np.inf, np.float16)


def _misshapen(tensors: dict[str, np.ndarray]) -> None:
    tensors["tokens.scales"] = np.ones((3,), np.float16)


def _more(tensors: dict[str, np.ndarray]) -> None:
    tensors["strange"] = np.ones((3,), np.float16)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without, "'tokens.codes' must be"),
        (_shorter, "'tokens.codes' must be"),
        (_beyond, "beyond the last level"),
        (_infinite, "scales of a grid are finite"),
        (_misshapen, "'tokens.scales' must be float16"),
        (_more, "'strange' does not belong here"),
    ],
)
def test_damaged_files_are_refused(built: Any, tmp_path: Path, change: Any, message: str) -> None:
    path = built.save(tmp_path / "model")
    _changed(path, change)
    with pytest.raises(InputError, match=message):
        rote.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config: config["levels"].pop("tokens"), "levels are given for"),
        (lambda config: config["levels"].update(tokens=1), "has 1 levels"),
        (lambda config: config["levels"].update(tokens=10**9), "levels"),
        (lambda config: config.update(dtype="float32"), "is no grid"),
        (lambda config: config["spec"].update(heads=2**30), "is the file whole"),
        (lambda config: config.pop("levels"), "levels are given for 0"),
    ],
)
def test_strange_configurations_are_refused(built: Any, tmp_path: Path, change: Any, message: str) -> None:
    path = built.save(tmp_path / "model")
    config = json.loads((path / "config.json").read_text())
    change(config)
    (path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=message):
        rote.load(path)


def test_what_cannot_be_on_a_grid_is_refused(built: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not build on a grid; dana2025\.theorem1 does"):
        rote.build(FACTS, "rote.readout", dtype="int8")
    with pytest.raises(InputError, match="is chosen among float dtypes"):
        rote.build(FACTS, dtype="int8", smallest=True)
    with pytest.raises(InputError, match="one feature per fact"):
        rote.build(FACTS, "dana2025.theorem1", dtype="int8", heads=2)
    path = built.save(tmp_path / "model")
    with pytest.raises(InputError, match="is on a grid"):
        rote.edit(path, [("forget", rote.facts(FACTS)[5].key)], FACTS)
