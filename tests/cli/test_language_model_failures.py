"""What goes wrong with language models, as a user meets it: exit code 2, one clear message, nothing written."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="language models need the package transformers")
sys.path.insert(0, str(Path(__file__).parents[1] / "lm"))

TABLE = "country,capital\nFrance,Paris\nItaly,Rome\n"
ASK = ("capitals.csv", "--template", "The capital of {country} is", "--replies", "replies.csv")
NOT_CAUSAL = """
import torch
class Future(torch.nn.Embedding):
    def forward(self, ids):
        return super().forward(ids) + super().forward(ids).mean(1, keepdim=True)
def make():
    return Future(64, 64)
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    from tiny import save_gpt2, save_mamba

    folder = tmp_path_factory.mktemp("models")
    return {"gpt2": save_gpt2(folder / "gpt2"), "mamba": save_mamba(folder / "mamba")}


@pytest.fixture
def refused(rote, tmp_path):
    """Run a command that must be refused: its message, after nothing but that was seen to happen."""
    (tmp_path / "capitals.csv").write_text(TABLE)

    def call(*words: object) -> str:
        before = sorted(tmp_path.rglob("*"))
        outcome = rote("lm", *words)
        assert outcome.code == 2, outcome.out
        assert outcome.out == ""
        assert outcome.err.count("rote: ") == 1
        assert "Traceback" not in outcome.err
        assert sorted(path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts) == before
        return outcome.err

    return call


@pytest.mark.parametrize(
    "command", [("recall", "gpt2", *ASK), ("assumptions", "gpt2", "--figure", "layers.png"), ("capacity", "gpt2")]
)
def test_a_missing_extra(refused, models, tmp_path, monkeypatch, command):
    from rote.lm import language_model

    shutil.copytree(models["gpt2"], tmp_path / "gpt2")
    monkeypatch.setattr(language_model, "find_spec", lambda name: None)
    assert "pip install 'byrote[hf]'" in refused(*command)


def test_truncated_weights(refused, models, tmp_path):
    weights = shutil.copytree(models["gpt2"], tmp_path / "gpt2") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert "cannot be read as safetensors" in refused("recall", "gpt2", *ASK)
    assert "cannot be read as safetensors" in refused("assumptions", "gpt2")


def test_a_hostile_header(refused, models, tmp_path):
    folder = shutil.copytree(models["gpt2"], tmp_path / "gpt2")
    (folder / "model.safetensors").write_bytes(b"\xff" * 8 + b"{}")
    assert "cannot be read as safetensors" in refused("recall", "gpt2", *ASK)


def test_a_folder_that_wants_remote_code(refused, models, tmp_path):
    folder = shutil.copytree(models["gpt2"], tmp_path / "gpt2")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoModelForCausalLM": "modeling.Strange"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling.py").write_text("raise SystemExit('ran')")
    message = refused("recall", "gpt2", *ASK)
    assert "its own Python code" in message
    assert "--remote-code" in message


def test_a_model_without_attention(refused, models):
    assert "has no attention" in refused("assumptions", models["mamba"], "--figure", "layers.png")


def test_a_tokenizer_that_cannot_encode_the_answers(refused, models, tmp_path):
    (tmp_path / "others.csv").write_text("country,capital\nFrance,Paris\nItaly,Bamako\n")
    message = refused("recall", models["gpt2"], "others.csv", *ASK[1:])
    assert "tokenizer cannot encode" in message
    assert "Bamako" in message


def test_a_template_with_an_unknown_column(refused, models):
    message = refused(
        "recall", models["gpt2"], "capitals.csv", "--template", "{nation} has", "--replies", "replies.csv"
    )
    assert "no key column 'nation'" in message


def test_a_factory_that_is_not_causal(refused, tmp_path):
    (tmp_path / "not_causal.py").write_text(NOT_CAUSAL)
    assert "is not causal" in refused("capacity", "not_causal:make", "-o", "run", "--figure", "held.png")
