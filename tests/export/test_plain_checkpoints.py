"""Plain checkpoints run in a process that knows nothing of rote, offline, from text to text."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from exported_models import need

from rote.export import export_model

pytestmark = pytest.mark.filterwarnings("ignore")

ASK = """
import json, sys
sys.modules["rote"] = None
import torch
torch.set_num_threads(1)
from transformers import AutoModelForCausalLM, AutoTokenizer
folders, texts = json.load(sys.stdin)
answers = {}
for folder in folders:
    remote = folder.endswith("huggingface")
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=remote)
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=remote)
    written = []
    for text in texts:
        rows = model.generate(**tokenizer(text, return_tensors="pt"))
        written.append(tokenizer.decode(rows[0, -1:]))
    answers[folder] = [type(model).__name__, written]
print(json.dumps(answers))
"""
NAMES = {
    "llama": {"MistralForCausalLM", "LlamaForCausalLM"},
    "gpt2": {"GPT2LMHeadModel"},
    "huggingface": {"RoteForCausalLM"},
}


def test_text_in_text_out_without_rote(letters, tmp_path):
    """All in one process, which has to load the library first."""
    for target in NAMES:
        need(target)
        export_model(letters.built, target, tmp_path / target, letters.task)
    rows = range(0, letters.task.facts, 5)
    folders = [str(tmp_path / target) for target in NAMES]
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps([folders, ["".join(letters.task[row].key) for row in rows]]),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout.splitlines()[-1])
    for folder, names in zip(folders, NAMES.values(), strict=True):
        name, written = answers[folder]
        assert name in names
        assert written == [letters.task[row].answer for row in rows]


def test_settings_stand_under_the_names_of_old_and_new_releases(words, tmp_path):
    need("llama")
    export_model(words.built, "llama", tmp_path / "plain", words.task)
    config = json.loads((tmp_path / "plain" / "config.json").read_text())
    assert config["rope_parameters"]["rope_type"] == config["rope_scaling"]["type"] == "linear"
    assert config["rope_parameters"]["factor"] == config["rope_scaling"]["factor"]
    assert config["dtype"] == config["torch_dtype"]
    named = json.loads((tmp_path / "plain" / "tokenizer_config.json").read_text())
    assert named["tokenizer_class"] == "PreTrainedTokenizerFast"


def test_the_smaller_of_the_two_classes_is_written(words, tmp_path):
    from rote.export.common.normal_form import normal_form
    from rote.export.targets.llama import LlamaShape, smallest

    form = normal_form(words.built.model)
    kind, arranged = smallest(form, 200)
    written = LlamaShape.of(arranged, kind).parameters(len(arranged.layers), 200)
    assert written <= LlamaShape.of(form, "mistral").parameters(1, 200)
    assert written <= LlamaShape.of(form, "llama").parameters(1, 200)
