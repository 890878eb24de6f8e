"""One question is answered without torch, as torch answers it."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from rote.constructions.build import build
from rote.folders import read_folder, write_folder
from rote.folders.quick import read_quick
from rote.models.attention_only import AttentionOnly
from rote.models.few_questions import few_logits
from rote.models.model import Model
from rote.tasks import Origin
from rote.tasks.facts import facts

SHAPES = [
    {},
    {"layers": 3},
    {"layers": 2, "positions": "every-layer", "scale_scores": True},
    {"layers": 2, "positions": "attention"},
    {"variant": "shared", "dim": 8, "head_dim": 3},
    {"variant": "shared", "dim": 8, "head_dim": 3, "layers": 2, "positions": "attention"},
    {"query_key_rank": 1},
    {"heads": 0},
]


@pytest.mark.parametrize("given", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numpy_computes_what_torch_does(given, dtype):
    spec = AttentionOnly(**{"vocab": 9, "context": 4, "dim": 6, "head_dim": 3, "heads": 5, **given})
    torch.manual_seed(0)
    weights = {name: torch.randn(shape, dtype=dtype) for name, shape in spec.shapes().items()}
    contexts = np.random.default_rng(0).integers(9, size=(20, 4))
    expected = Model(spec, weights).logits(contexts).numpy()
    found = few_logits(spec, {name: tensor.numpy() for name, tensor in weights.items()}, contexts)
    assert found.dtype == expected.dtype
    tolerance = 1e-4 if dtype == torch.float32 else 1e-12
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize(
    ("source", "method"),
    [
        ("countries", "rote.selector"),
        ("countries:facts=300,seed=1", "dana2025.theorem1"),
        ("countries:facts=300,seed=1", "rote.memory_layer"),
        ("random:vocab=40,context=3,facts=9000,seed=1", "rote.memory_layer"),
    ],
)
def test_every_fact_is_answered_alike(source, method, tmp_path):
    task = facts(source)
    path = build(task, method).save(tmp_path / "model")
    quick = read_quick(path)
    whole = read_folder(path).model
    assert quick is not None
    assert (quick.logits(task.contexts).argmax(1) == task.answers).all()
    assert np.allclose(quick.logits(task.contexts), whole.logits(task.contexts).numpy(), rtol=1e-3, atol=1e-3)
    assert quick.reader.columns == whole.reader.columns


def test_what_needs_torch_is_left_to_it(tmp_path):
    built = build("random:vocab=6,context=2,facts=9,seed=1", "dana2025.theorem1")
    half = write_folder(tmp_path / "half", built.model.to("bfloat16"), Origin(), {}, None)
    relu = build("random:vocab=6,context=2,facts=9,seed=1", "kajitsuka2025.theorem4_1").save(tmp_path / "relu")
    assert read_quick(half) is None
    assert read_quick(relu) is None


def test_numbers_and_dates_are_asked_as_the_table_holds_them():
    from datetime import date

    model = build({(2024, "2024-05-01"): "holiday", (2025, "2024-05-02"): "work"}).model
    assert model.ask(2024, date(2024, 5, 1)).answer == "holiday"
    assert [answer.answer for answer in model.ask_all([(np.int64(2025), "2024-05-02")])] == ["work"]


def test_sentences_are_read_as_words():
    questions = {f"What is the main river of country {number}?": f"river {number % 7}" for number in range(40)}
    task = facts(questions)
    assert (task.origin.reading.keys, task.context) == ("spaces", 8)
    assert build(task).model.ask("What is the main river of country 3?").answer == "river 3"


def test_a_cold_question_imports_no_torch(tmp_path):
    path = build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).save(tmp_path / "model")
    code = (
        "import sys; from rote.cli import main; code = main(sys.argv[1:]);"
        "sys.exit(code or 10 * bool({'torch', 'scipy', 'polars'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, "ask", str(path), "capital", "Japan", "--json"]
    answered = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(answered.stdout)["answer"] == "Tokyo"
