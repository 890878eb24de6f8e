"""rote as a library: what is accepted as facts, what is refused, and what objects show of themselves."""

from __future__ import annotations

import copy
import inspect
import subprocess
import sys
from typing import get_type_hints

import numpy as np
import polars
import pytest
import torch

import rote
from rote.arguments import fits
from rote.errors import InputError
from rote.types import LanguageModel

SOURCE = "random:vocab=6,context=2,facts=9,seed=1"
CAPITALS = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
SPEC = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
FUNCTIONS = [name for name in rote.__all__ if inspect.isfunction(getattr(rote, name))]
WRONG = {"None": None, "a number": 3, "an object": object(), "an empty list": [], "bytes": b"x", "a function": len}


@pytest.fixture(scope="module")
def built():
    return rote.build(SOURCE)


@pytest.fixture(scope="module")
def folder(built, tmp_path_factory):
    return built.save(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(scope="module")
def right(built, folder):
    """Arguments of the right types for each public function."""
    model = built.model
    asked = LanguageModel("a model", torch.nn.Linear(1, 1), None, "causal")
    none = np.zeros((0, 1, 2))
    found = rote.Attribution("a model", 1, (), none, none[:, 0, 0], none[:, 0, 0], None, none, {"mean": none})
    return {
        "abstention": {"model": model, "task": SOURCE},
        "attribution": {"model": asked, "task": CAPITALS},
        "diff": {"one": folder, "other": folder},
        "edit": {"model": folder, "changes": {("1", "2"): "3"}},
        "graft": {"model": folder, "task": CAPITALS, "output": folder / "graft"},
        "edit_graft": {"path": folder, "task": CAPITALS, "output": folder / "edited"},
        "graft_adapter": {"model": folder, "task": CAPITALS, "output": folder / "adapter"},
        "graft_gguf": {"path": folder, "source": folder, "output": folder / "graft.gguf"},
        "graft_hook": {"task": CAPITALS, "output": folder / "hook"},
        "load_hook": {"path": folder, "tokenizer": None},
        "lm_plan": {"model": asked, "facts": CAPITALS},
        "locate": {"model": asked, "task": CAPITALS, "found": found},
        "ungraft": {"path": folder, "output": folder / "ungraft"},
        "verify_graft": {"path": folder, "task": CAPITALS},
        "bounds": {"spec": SPEC},
        "build": {"task": SOURCE},
        "capacity": {"spec": SPEC, "methods": ["rote.readout"]},
        "densest_shape": {"parameters": 300},
        "divergence": {"model": model, "task": SOURCE},
        "export_model": {"model": built, "to": "torch", "output": folder / "export"},
        "export_task": {"facts": SOURCE, "output": folder / "task"},
        "facts": {"source": SOURCE},
        "suite": {"task": SOURCE, "output": folder / "suite"},
        "twins": {"task": SOURCE, "output": folder / "twins"},
        "figure": {"result": rote.sweep({"vocab": 6, "dim": 4, "heads": "1:2"}, seeds=1, steps=5)},
        "from_torch": {"source": folder},
        "inspect": {"model": model, "fact": rote.facts(SOURCE)[0]},
        "fit_run": {"run": folder},
        "load": {"path": folder},
        "load_language_model": {"model": folder},
        "lm_capacity": {"model": "gpt2", "steps": 8},
        "methods": {},
        "paper": {"id": "dana2025"},
        "plan": {"task": SOURCE},
        "lm_assumptions": {"model": model},
        "recall": {"model": model, "task": SOURCE},
        "reproduce": {"name": "dana2025.fig1a"},
        "doctor": {},
        "softmax_code": {"model": model, "task": SOURCE},
        "sweep": {"grid": {"vocab": 6, "dim": 4, "heads": 1}},
        "train": {"task": SOURCE, "spec": SPEC, "steps": 5},
        "train_best": {"task": SOURCE, "spec": SPEC, "steps": 5},
        "verify": {"folder": folder, "task": SOURCE},
        "write_folder": {
            "path": folder / "again", "model": model, "origin": rote.facts(SOURCE).origin, "provenance": {},
            "certificate": None,
        },
    }  # fmt: skip


def cases():
    for name in FUNCTIONS:
        function = inspect.unwrap(getattr(rote, name))
        if inspect.isgeneratorfunction(function):  # a context manager checks when it is entered: tests/test_trackers.py
            continue
        hints = get_type_hints(function)
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                continue
            facts = parameter.name in ("task", "source")
            for what, value in WRONG.items():
                # An empty list is of the right type for facts, and still none.
                absent = value is None and parameter.default is None
                if not absent and (facts or not fits(value, hints[parameter.name])):
                    yield pytest.param(name, parameter.name, value, id=f"{name}({parameter.name}={what})")


@pytest.mark.parametrize(("name", "parameter", "value"), list(cases()))
def test_an_argument_of_the_wrong_type_is_one_clear_message(name, parameter, value, right):
    with pytest.raises(InputError) as refused:
        getattr(rote, name)(**{**right[name], parameter: value})
    message = str(refused.value)
    assert type(value).__name__ in message or "there are none" in message
    assert len(message) < 600


def test_all_wrong_arguments_are_named_at_once():
    with pytest.raises(InputError, match="2 problems") as refused:
        rote.recall(None, SOURCE, progress="loud")
    assert "`model=None`: must be" in str(refused.value)
    assert "`progress`: must be Progress, found 'loud'" in str(refused.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda wrong: rote.AttentionOnly(vocab=wrong, context=2, dim=4, head_dim=4, heads=2),
        lambda wrong: rote.Grid(vocab=wrong, dim=4, heads=2),
        rote.AssociationTask.from_facts,
        rote.DistributionTask.from_weighted_facts,
    ],
    ids=["specification", "grid", "associations", "distributions"],
)
@pytest.mark.parametrize("wrong", [None, object(), [], "x", [None]], ids=["None", "object", "[]", "x", "[None]"])
def test_what_is_made_of_the_wrong_type_is_refused(make, wrong):
    with pytest.raises(InputError):
        make(wrong)


@pytest.mark.parametrize("wrong", [None, 3, [], "x", object()], ids=["None", "3", "[]", "x", "object"])
def test_a_model_refuses_what_it_cannot_read(built, wrong):
    with pytest.raises(InputError):
        built.model.logits(wrong)
    with pytest.raises(InputError):
        built.model.to(wrong)


def test_facts_are_accepted_in_every_form(tmp_path):
    frame = polars.DataFrame({"relation": ["capital"] * 2, "country": ["France", "Japan"], "city": ["Paris", "Tokyo"]})
    frame.write_csv(tmp_path / "capitals.csv")
    task = rote.facts(CAPITALS)
    model = rote.build(task).model
    forms = [task, CAPITALS, list(CAPITALS.items()), frame, tmp_path / "capitals.csv", str(tmp_path / "capitals.csv")]
    assert [rote.recall(model, form).recalled for form in forms] == [2] * len(forms)
    assert len(rote.plan(frame)) == len(rote.plan(task)) > 5


def test_source_names_are_accepted_everywhere(built, folder):
    spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    assert rote.verify(folder, SOURCE).holds
    assert rote.recall(built.model, SOURCE).complete
    assert rote.softmax_code(built.model, SOURCE).bits > 0
    assert len(rote.train(SOURCE, spec, seeds=2, steps=5)) == 2
    assert rote.capacity(spec, methods=["rote.readout"], task=SOURCE).rows[0].recalled == 9


def test_associations_have_no_divergence(built):
    with pytest.raises(InputError, match="holds associations; divergence is from distributions"):
        rote.divergence(built.model, SOURCE)


def test_a_saved_model_is_the_one_that_was_built(built, folder):
    read = rote.load(folder)
    assert read.certificate == built.certificate
    assert read.origin == built.origin == rote.facts(SOURCE).origin
    assert all(torch.equal(tensor, built.model.weights[name]) for name, tensor in read.model.weights.items())
    with pytest.raises(InputError, match="exists"):
        built.save(folder)
    assert built.save(folder, overwrite=True) == folder


MLP = rote.MlpTransformer(vocab=6, context=3, dim=4, head_dim=2, heads=3, width=5, layers=2)
DEEP = rote.AttentionOnly(vocab=6, context=3, dim=4, head_dim=2, heads=3, layers=2, variant="shared")


def drawn(spec):
    generator = torch.Generator().manual_seed(0)
    return rote.Model(spec, {name: torch.randn(shape, generator=generator) for name, shape in spec.shapes().items()})


@pytest.mark.parametrize("spec", [SPEC, MLP, DEEP], ids=["attention", "mlp", "shared"])
def test_a_module_computes_what_its_model_computes(spec):
    model = drawn(spec)
    module = model.to_torch()
    contexts = torch.randint(0, 6, (20, spec.context), generator=torch.Generator().manual_seed(1))
    logits = module(contexts)
    assert torch.allclose(logits, model.logits(contexts), rtol=1e-4, atol=1e-4)
    assert {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()} == spec.shapes()
    logits.logsumexp(1).sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    twin = copy.deepcopy(module)
    with torch.no_grad():
        twin.get_parameter("unembed").zero_()
    assert not torch.equal(twin(contexts), logits)
    twin.load_state_dict(module.state_dict())
    assert torch.equal(twin(contexts), logits)
    assert sum(parameter.numel() for parameter in module.parameters()) == model.parameters


@pytest.mark.parametrize("spec", [SPEC, MLP, DEEP], ids=["attention", "mlp", "shared"])
def test_hooks_see_and_change_what_flows(spec):
    module = drawn(spec).to_torch()
    contexts = torch.randint(0, 6, (20, spec.context), generator=torch.Generator().manual_seed(1))
    plain = module(contexts)
    patterns = module.patterns(contexts)
    assert len(patterns) == spec.layers
    for layer, pattern in enumerate(patterns):
        asking = 1 if layer == spec.layers - 1 else spec.context
        assert pattern.shape == (20, spec.heads, asking, spec.context)
        assert torch.allclose(pattern.sum(-1), torch.ones(()))

    seen = []
    point = module.get_submodule("layers.0.attention")
    handle = point.register_forward_hook(lambda module, given, pattern: seen.append(pattern))
    assert torch.allclose(module(contexts), plain, rtol=1e-4, atol=1e-4)
    assert torch.equal(seen[0], patterns[0])
    handle.remove()
    handle = point.register_forward_hook(lambda module, given, pattern: torch.zeros_like(pattern))
    assert not torch.allclose(module(contexts), plain)
    handle.remove()
    assert torch.equal(module(contexts), plain)


def test_models_without_attention_have_no_patterns():
    model = rote.build({"a": "1", "b": "2"}, method="bietti2023", dim=16).model
    with pytest.raises(InputError, match="no residual stream"):
        model.to_torch().patterns(torch.zeros(1, model.spec.context, dtype=torch.long))


def test_objects_show_what_matters_and_little_of_it(built, folder):
    assert repr(built.model).count("\n") == 1
    assert "knows its keys" in repr(built.model)
    result = rote.sweep({"vocab": 6, "dim": 4, "heads": "1:2"}, seeds=1, steps=5)
    task = rote.facts(CAPITALS)
    shown = [
        built, built.model, built.certificate, rote.load(folder), rote.recall(built.model, SOURCE), task, result,
        rote.plan(SOURCE), rote.bounds(SPEC), rote.verify(folder, SOURCE), rote.train(SOURCE, SPEC, 1, steps=5),
        rote.capacity(SPEC, methods=["rote.readout"]),
    ]  # fmt: skip
    for thing in shown:
        html = thing._repr_html_()
        assert html.startswith("<table>")
        assert html.endswith("</table>")
        assert len(html) < 40_000
    for thing in shown[:5]:
        assert len(repr(thing)) < 2_500
    assert "capital France -&gt; Paris" in task._repr_html_()


def test_tables_are_frames_too():
    pytest.importorskip("pandas")
    bounds = rote.bounds(SPEC)
    assert bounds.frame().shape[0] == len(bounds) == len(bounds.to_pandas())
    assert repr(bounds).splitlines()[0].split()[:2] == ["section", "id"]
    assert rote.plan(SOURCE).frame()["id"].to_list() == [row.id for row in rote.plan(SOURCE)]


def test_python_and_the_command_line_have_the_same_defaults():
    from rote.cli.build import build as build_command
    from rote.cli.capacity import SearchOptions
    from rote.cli.capacity import capacity as capacity_command
    from rote.cli.plan import plan as plan_command
    from rote.cli.reproduce import reproduce as reproduce_command
    from rote.cli.sweep import sweep as sweep_command
    from rote.cli.train import train as train_command
    from rote.experiments.sweep import sweep as sweep_call

    pairs = [
        (build_command, rote.build), (capacity_command, rote.capacity), (SearchOptions, rote.densest_shape),
        (plan_command, rote.plan), (reproduce_command, rote.reproduce), (sweep_command, sweep_call),
        (train_command, rote.train_best),
    ]  # fmt: skip
    for command, call in pairs:
        typed, called = inspect.signature(command).parameters, inspect.signature(call).parameters
        for name in typed.keys() & called.keys():
            given, meant = typed[name].default, called[name].default
            if inspect.Parameter.empty not in (given, meant):
                assert (given or None) == (meant or None), f"{command.__name__}: {name}"


def test_importing_rote_loads_no_tensors():
    code = "import sys, rote; rote.bounds; rote.AttentionOnly; rote.InputError; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_numbers_out_of_arrays_are_numbers():
    assert fits(np.int64(3), int)
    assert fits(np.float32(3), float)
    assert not fits(True, int)
    assert fits(None, int | None)
    assert not fits("abc", list[int])
    assert not fits(["a"], list[int])
