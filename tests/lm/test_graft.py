"""Grafts into tiny models of stock classes: every fact right, nothing else changed, removed bit for bit."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny import save_bert, save_llama_like, save_mamba, save_wide_gpt2

import rote
from hostile.canary import arm, disarm, plant_source
from rote.cli import main
from rote.errors import InputError
from rote.lm.graft.host import host_of
from rote.lm.language_model import LanguageModel

TEMPLATES = ["The capital of {country} is", "{country} is called and key"]
ASK = """
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, *prompts = sys.argv[1:]
tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
for prompt in prompts:
    ids = tokenizer(prompt, return_tensors="pt").input_ids
    out = model.generate(ids, max_new_tokens=2, min_new_tokens=2, do_sample=False, pad_token_id=0)
    print(type(model).__name__, tokenizer.decode(out[0, ids.shape[1]:]))
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "control.txt"
    path.write_text(" ".join(["the red green blue dark light and what key of this"] * 150))
    return path


@pytest.fixture(scope="module")
def cities(tmp_path_factory):
    path = tmp_path_factory.mktemp("facts") / "capitals.csv"
    path.write_text("country,capital\nFrance,Paris\nItaly,Rome\nPeru,New Lima\nNorway,Oslo\nAmerica,New York\n")
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    made = {kind: save_llama_like(folder / kind, kind) for kind in ("llama", "mistral")}
    return made | {"gpt2": save_wide_gpt2(folder / "gpt2")}


@pytest.fixture(scope="module")
def grafted(models, cities, text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("grafts")
    return {
        kind: rote.graft(path, cities, TEMPLATES, output=folder / kind, control=text, end=" and")
        for kind, path in models.items()
    }


@pytest.mark.parametrize("kind", ["llama", "mistral", "gpt2"])
def test_every_fact_is_said_and_no_other_logit_changes(kind, models, grafted):
    seen = grafted[kind].certificate
    assert (seen.recalled, seen.facts, seen.sentences.seen) == (5, 5, 10)
    assert seen.before.seen < 10
    assert seen.control_changed.asked > 700
    assert seen.control_changed.seen == 0
    # Twelve tokens, eight neurons per layer.
    assert (grafted[kind].record.neurons, grafted[kind].record.added_layers) == (12, 2)
    source, other = rote.load_language_model(models[kind]), rote.load_language_model(grafted[kind].path)
    ids = torch.tensor(source.encode(["what key of this the red green blue dark light and what key of this"]))
    assert torch.equal(source.module(ids).logits, other.module(ids).logits)


def test_qwen2_is_written_as_a_llama_that_computes_the_same(tmp_path):
    from transformers import LlamaForCausalLM, Qwen2ForCausalLM

    module = Qwen2ForCausalLM.from_pretrained(save_llama_like(tmp_path / "qwen2", "qwen2")).eval()
    for name, weight in module.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(weight)
    host = host_of(LanguageModel("qwen2", module, None, "causal"))
    plain = LlamaForCausalLM(host.new_config(0)).eval()
    plain.load_state_dict(host.kept(), strict=False)
    plain.tie_weights()
    ids = torch.randint(2, 29, (4, 12))
    assert torch.equal(module(ids).logits, plain(ids).logits)


@pytest.mark.parametrize("kind", ["llama", "mistral", "gpt2"])
def test_removing_a_graft_gives_back_every_weight(kind, models, grafted, tmp_path):
    rote.ungraft(grafted[kind].path, tmp_path / "back")
    before = load_file(models[kind] / "model.safetensors")
    after = load_file(tmp_path / "back" / "model.safetensors")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert json.loads((models[kind] / "config.json").read_text())["model_type"] == kind
    assert rote.load_language_model(tmp_path / "back").module.config.model_type == kind


def test_stock_transformers_says_the_facts_in_a_fresh_process(grafted):
    words = [
        sys.executable,
        "-c",
        ASK,
        str(grafted["mistral"].path),
        "The capital of Peru is",
        "Italy is called and key",
    ]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == ["LlamaForCausalLM New Lima", "LlamaForCausalLM Rome and"]


def test_bfloat16_is_solved_in_bfloat16(models, cities, text, tmp_path):
    made = rote.graft(
        models["llama"], cities, TEMPLATES, output=tmp_path / "half", control=text, end="", dtype="bfloat16"
    )
    assert made.certificate.complete
    assert made.record.dtype == "bfloat16"
    assert rote.load_language_model(made.path, dtype="bfloat16").module.dtype == torch.bfloat16


def test_verify_recomputes_the_certificate_and_finds_a_changed_weight(grafted, cities, text, tmp_path):
    assert rote.verify_graft(grafted["llama"].path, cities, text).holds
    folder = tmp_path / "changed"
    folder.mkdir()
    for file in grafted["llama"].path.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    weights = load_file(folder / "model.safetensors")
    weights["model.layers.2.mlp.gate_proj.bias"][0] -= 1000
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    verdict = rote.verify_graft(folder, cities, text)
    wrong = {check.name for check in verdict.checks if not check.holds}
    assert {"weights_fingerprint", "recalled", "sentences"} <= wrong
    assert verdict.missed.tolist() == [0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"templates": ["The capital of {land} is"]}, "no key column 'land'"),
        ({"templates": ["The capital of {country} is"], "end": " zebra"}, "hold words it does not know"),
        ({"locality": 1.5}, "not between 0.05 and 0.95"),
        ({"relation": "capital"}, "no fact has 'capital'"),
    ],
)
def test_bad_input_is_one_message_and_writes_nothing(change, message, models, cities, text, tmp_path):
    given = {"templates": TEMPLATES, "control": text, "end": "", "output": tmp_path / "out"} | change
    with pytest.raises(InputError, match=message):
        rote.graft(models["llama"], cities, **given)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_is_named(models, cities, text, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("rote.lm.language_model.find_spec", lambda name: None)
    words = ["--template", TEMPLATES[0], "--control", str(text), "-o", str(tmp_path / "out")]
    assert main(["graft", str(models["llama"]), str(cities), *words]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "need the package transformers, which is not installed; pip install" in message
    assert list(tmp_path.iterdir()) == []


def test_a_class_without_biases_is_rejected(tmp_path, cities, text):
    for save, reason in ((save_mamba, "takes no graft"), (save_bert, "is an encoder")):
        with pytest.raises(InputError, match=reason):
            rote.graft(save(tmp_path / save.__name__), cities, TEMPLATES, output=tmp_path / "out", control=text)
    windowed = save_llama_like(tmp_path / "windowed", "mistral", sliding_window=4)
    with pytest.raises(InputError, match="sliding window"):
        rote.graft(windowed, cities, TEMPLATES, output=tmp_path / "out", control=text, end="")
    assert not (tmp_path / "out").exists()


def test_prompts_that_read_the_same_are_rejected(models, text, tmp_path):
    table = tmp_path / "facts.csv"
    table.write_text("country,key,capital\nFrance,red,Paris\nFrance,blue,Rome\n")
    with pytest.raises(InputError, match="is answered both 'Paris' and 'Rome'"):
        rote.graft(
            models["llama"],
            rote.facts(table, keys="words"),
            TEMPLATES[:1],
            output=tmp_path / "out",
            control=text,
            end="",
        )


def test_a_template_may_begin_as_another_one_does(models, cities, text, tmp_path):
    """The states at the end of the shorter one are among those inside the longer one."""
    wordings = [TEMPLATES[0], f"{TEMPLATES[0]} called"]
    made = rote.graft(models["llama"], cities, wordings, output=tmp_path / "out", control=text, end="")
    assert (made.certificate.recalled, made.certificate.sentences.seen) == (5, 10)


def test_states_that_cannot_be_told_apart_are_named(tmp_path, cities, text):
    """A model that forgets its input has one state for every prompt of the same length."""
    folder = save_llama_like(tmp_path / "blind")
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][:] = weights["model.embed_tokens.weight"][5]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="cannot be told apart"):
        rote.graft(folder, cities, TEMPLATES, output=tmp_path / "out", control=text, end="")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_seen_before_the_work(models, cities, text, tmp_path, monkeypatch):
    import shutil

    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**6, 10**6, 1000))
    with pytest.raises(InputError, match="the disk has 1,000 left"):
        rote.graft(models["llama"], cities, TEMPLATES, output=tmp_path / "out", control=text, end="")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_no_code_of_a_strangers_graft_runs(grafted, cities, text, tmp_path, name):
    folder = tmp_path / "theirs"
    shutil.copytree(grafted["llama"].path, folder)
    plant_source(tmp_path / "elsewhere" / "evil.py")
    content = json.loads((folder / name).read_text())
    classes = ("AutoConfig", "AutoModelForCausalLM", "AutoTokenizer")
    content |= {"auto_map": dict.fromkeys(classes, f"{tmp_path / 'elsewhere'}--evil.Evil"), "tokenizer_class": "Evil"}
    (folder / name).write_text(json.dumps(content))
    arm(tmp_path)
    for action in (lambda: rote.verify_graft(folder, cities, text), lambda: rote.ungraft(folder, tmp_path / "out")):
        with contextlib.suppress(rote.RoteError):
            action()
    assert disarm() == []


@pytest.mark.parametrize(("layers", "message"), [(2**31, "2147483648"), (2**13, "more layers")])
def test_more_layers_than_tensors_are_rejected_before_they_are_made(grafted, tmp_path, layers, message):
    folder = tmp_path / "theirs"
    shutil.copytree(grafted["llama"].path, folder)
    record = json.loads((folder / "graft.json").read_text())
    record["original_layers"] = record["original_config"]["num_hidden_layers"] = layers
    (folder / "graft.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match=message):
        rote.ungraft(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_grafts_verifies_and_removes(models, cities, text, tmp_path, capsys):
    made, back = str(tmp_path / "made"), str(tmp_path / "back")
    asked = ["--template", TEMPLATES[0], "--control", str(text), "--end", "", "--json"]
    assert main(["graft", str(models["llama"]), str(cities), *asked, "-o", made]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"]["recalled"] == 5
    assert main(["verify", made, "--control", str(text)]) == 0
    assert main(["graft", made, str(cities), *asked, "-o", back]) == 2
    assert "is a graft already" in capsys.readouterr().err
    assert main(["graft", made, "--remove", "-o", back]) == 0
    assert rote.load_language_model(back).module.config.num_hidden_layers == 2
