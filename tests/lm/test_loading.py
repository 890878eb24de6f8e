"""Loading language models, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
from copy import deepcopy
from importlib import import_module

import pytest
import torch

from rote.errors import InputError
from rote.lm import language_model
from rote.lm.loading import load_language_model as load


@pytest.fixture
def folder(gpt2, tmp_path):
    return shutil.copytree(gpt2, tmp_path / "copy")


def test_a_folder_is_a_causal_language_model_whose_parameters_are_counted_once(gpt2):
    model = load(gpt2)
    assert model.kind == "causal"
    counted = model.parameters
    vocab, dim = model.module.config.vocab_size, 16
    assert counted.embeddings == (vocab + 32) * dim
    block = 4 * dim + (3 * dim * dim + 3 * dim) + (dim * dim + dim) + (4 * dim * dim + 4 * dim) + (4 * dim * dim + dim)
    assert counted.rest == block + 2 * dim


def test_half_precision_is_loaded_as_asked(gpt2):
    assert load(gpt2, dtype="bfloat16").dtype_name == "bfloat16"


def test_an_encoder_is_one_and_predicts_nothing(bert):
    model = load(bert)
    assert model.kind == "encoder"
    with pytest.raises(InputError, match="BertModel is an encoder"):
        model.need_causal("recall")


def test_truncated_weights_are_named(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"model\.safetensors cannot be read as safetensors"):
        load(folder)


def test_a_hostile_header_is_refused(folder):
    (folder / "model.safetensors").write_bytes(b"\xff" * 8 + b"{}")
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        load(folder)


def test_a_pickle_is_never_read(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin, a pickle"):
        load(folder)


def test_tensors_that_are_missing_are_not_drawn_at_random(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["transformer.ln_f.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lack transformer\.ln_f\.weight"):
        load(folder)


def test_a_folder_that_wants_to_run_code_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoModelForCausalLM": "modeling.Strange"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling.py").write_text("raise SystemExit('ran')")
    with pytest.raises(InputError, match="its own Python code"):
        load(folder)


def test_reading_a_gguf_file_draws_no_bar_of_its_own(capsys):
    pytest.importorskip("gguf", reason="GGUF files need the package gguf")
    language_model.need_gguf("here")
    reader = import_module("transformers.modeling_gguf_pytorch_utils")
    assert list(reader.tqdm(range(3), desc="Converting")) == [0, 1, 2]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"GG", "is not a GGUF file"), (b"GGUF\x03\x00\x00\x00" + b"\xff" * 16, "its header names")],
)
def test_a_broken_gguf_file_is_named(tmp_path, content, message):
    pytest.importorskip("gguf", reason="GGUF files need the package gguf")
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load(path)


def test_a_name_that_the_cache_does_not_know_is_refused_offline():
    with pytest.raises(InputError, match="allow the network with `download`"):
        load("nobody/no-such-model")


def test_an_unknown_device_is_refused(gpt2):
    with pytest.raises(InputError, match="cpu always can"):
        load(gpt2, device="quantum")


def test_a_missing_extra_is_a_hint(monkeypatch, gpt2):
    monkeypatch.setattr(language_model, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'byrote\[hf\]'"):
        load(gpt2)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", '{"model_type": "gpt2", "n_layer": "--json"}', "its configuration cannot be read"),
        ("config.json", '{"model_type": "gpt2", "architectures": [3]}', "its configuration cannot be read"),
        ("config.json", '{"a":' * 100_000, "nested too deeply"),
        ("tokenizer.json", '{"version": "9.0", "model": []}', "its tokenizer cannot be read"),
        ("tokenizer.json", None, "tokenizer.json is no plain file"),
    ],
)
def test_a_damaged_file_is_one_message(folder, file, content, message):
    (folder / file).unlink()
    if content is None:
        os.mkfifo(folder / file)
    else:
        (folder / file).write_text(content)
    with pytest.raises(InputError, match=message):
        load(folder)


def test_a_deep_copy_runs_its_own_weights(gpt2):
    module = load(gpt2).module
    copied, ids = deepcopy(module), torch.tensor([[3, 4]])
    with torch.no_grad():
        next(copied.parameters()).zero_()
        assert not torch.equal(copied(ids).logits, module(ids).logits)
