"""Exports that somebody else made: none of their code runs when they are verified, and none is called verified."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from exported_models import need

import rote
from hostile.canary import arm, disarm, plant_bytecode, plant_source
from hostile.strangers import FACTS, StrangersExports, restate
from hostile.watch import watched
from rote.cli import main
from rote.errors import RoteError
from rote.export import export_model, verify_export
from rote.export.clean_copy import TAKEN
from rote.files import held

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    root = tmp_path_factory.mktemp("exported")
    task = rote.facts(FACTS)
    built = rote.build(task)

    def copied(target: str, folder: Path) -> Path:
        if not (root / target).exists():
            export_model(built, target, root / target, task)
        shutil.copytree(root / target, folder)
        return folder

    return copied


def bytecode(checked: bool) -> Callable[[Path, Path], None]:
    def harm(folder: Path, elsewhere: Path) -> None:
        for source in [*folder.glob("*.py"), *folder.glob("model/*.py")]:
            plant_bytecode(source, checked)

    return harm


def auto_map(name: str, where: str) -> Callable[[Path, Path], None]:
    def harm(folder: Path, elsewhere: Path) -> None:
        if where == "linked":
            (folder / "linked").symlink_to(elsewhere)
        for path in [*folder.glob(name), *folder.glob(f"model/{name}")]:
            content = json.loads(path.read_text())
            code = {"absolute": str(elsewhere), "relative": os.path.relpath(elsewhere, path.parent), "linked": "linked"}
            names = ("AutoConfig", "AutoModelForCausalLM", "AutoTokenizer")
            content["auto_map"] = dict.fromkeys(names, f"{code[where]}--evil.Evil")
            path.write_text(json.dumps(content))

    return harm


CASES = {
    **{
        f"bytecode, {how}, {target}": (target, bytecode(how == "by its time"))
        for target in ("transformerlens", "lm-eval", "huggingface")
        for how in ("by its time", "unchecked")
    },
    **{
        f"auto_map {where} in {name}, {target}": (target, auto_map(name, where))
        for target in ("huggingface", "lm-eval", "llama")
        for name in ("config.json", "tokenizer_config.json")
        for where in ("absolute", "relative", "linked")
    },
}


@pytest.mark.parametrize("name", CASES)
def test_code_of_a_stranger_never_runs(name, exported, tmp_path):
    target, harm = CASES[name]
    need(target)
    folder = exported(target, tmp_path / "there")
    plant_source(tmp_path / "elsewhere" / "evil.py")
    harm(folder, tmp_path / "elsewhere")
    restate(folder)
    arm(tmp_path)
    try:
        holds = verify_export(folder, rote.facts(FACTS)).holds
    except RoteError:
        holds = False
    assert disarm() == []
    assert not holds


def test_the_wire_is_tripped_by_code_that_runs(tmp_path, monkeypatch):
    plant_source(tmp_path / "evil.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    arm(tmp_path)
    import evil  # noqa: F401  # pyright: ignore[reportMissingImports]

    assert "the wire" in disarm()


@pytest.mark.parametrize(
    "lies",
    [
        {"min_margin": 1e8, "largest_margin_change": 1e9},
        {"largest_margin_change": 0.5},
        {"recalled": 8},
        {"gain": 2.0},
        {"conditions": [{"name": "nothing can go wrong", "value": 0, "below": 1}]},
    ],
)
def test_a_certificate_of_an_export_that_lies_is_caught(lies, exported, tmp_path):
    folder = exported("torch", tmp_path / "there")
    path = folder / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **lies}))
    verdict = verify_export(folder, rote.facts(FACTS))
    assert not verdict.holds
    assert {"torch"} == {check.name for check in verdict.claimed}


def test_a_model_behind_a_link_is_not_read(exported, tmp_path):
    folder = exported("torch", tmp_path / "there")
    (folder / "source").rename(tmp_path / "secret")
    (folder / "source").symlink_to(tmp_path / "secret")
    with pytest.raises(RoteError, match="is a link"):
        verify_export(folder, rote.facts(FACTS))


def test_weights_that_were_changed_are_measured_as_they_are(exported, tmp_path):
    """What is verified are the folder's own tensors, not those that rote writes for its source."""
    import safetensors.torch

    folder = exported("torch", tmp_path / "there")
    weights = safetensors.torch.load_file(folder / "state_dict.safetensors")
    weights["unembed"] = -weights["unembed"]
    safetensors.torch.save_file(weights, folder / "state_dict.safetensors")
    restate(folder)
    verdict = verify_export(folder, rote.facts(FACTS))
    assert {"recalled", "min_margin"} <= {check.name for check in verdict.checks if not check.holds}


def test_generated_exports_of_strangers(tmp_path):
    need("llama")
    need("huggingface")
    surface = StrangersExports(tmp_path / "store", ("torch", "llama", "huggingface"))
    verdicts = [watched(surface, number, tmp_path / "scratch") for number in range(16)]
    assert [(verdict.case, *verdict.flaws) for verdict in verdicts if verdict.flaws] == []


@pytest.mark.parametrize(
    "harm",
    [
        lambda model: model.functions.append(_identity(model.graph.node[0])),
        lambda model: setattr(model.graph.output[0], "name", model.graph.node[0].output[0]),
        lambda model: model.graph.initializer.append(model.graph.initializer[0]),
        lambda model: setattr(model.opset_import[0], "version", 1),
    ],
    ids=["a function in the place of an operator", "another output", "an initializer twice", "other operators"],
)
def test_a_graph_that_computes_something_else_is_not_taken(harm, exported, tmp_path):
    need("onnx")
    import onnx

    folder = exported("onnx", tmp_path / "there")
    own = Path(shutil.copy(folder / "model.onnx", tmp_path / "own.onnx"))
    with held(folder) as theirs:
        TAKEN[".onnx"](theirs, "model.onnx", own)
        model = onnx.load(folder / "model.onnx")
        harm(model)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        with pytest.raises(RoteError, match="tensors are not those"):
            TAKEN[".onnx"](theirs, "model.onnx", own)


def _identity(node):
    """A function of the file's own under the name of one of ONNX's operators."""
    from onnx import helper

    body = [helper.make_node("Identity", ["x"], ["y"])]
    return helper.make_function(node.domain, node.op_type, ["x"], ["y"], body, [helper.make_opsetid("", 20)])


def test_what_is_found_of_an_export_is_json(exported, tmp_path, capsys):
    folder = exported("torch", tmp_path / "there")
    assert main(["verify", str(folder), FACTS, "--json"]) == 0
    assert {check["name"] for check in json.loads(capsys.readouterr().out)["checks"]} >= {"export.json", "recalled"}
