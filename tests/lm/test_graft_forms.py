"""The other forms of a graft: a closed-form LoRA, a hook beside the model, a GGUF file; and resuming."""

from __future__ import annotations

import json
import random
import re
import time

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny import save_llama_like, save_wide_gpt2

import rote
from rote.cli import main
from rote.errors import InputError
from rote.lm.graft import examination
from rote.lm.graft.gguf_file import NAMES
from rote.lm.graft.hook import LONGEST, EndOfText, FoundPrompt

TEMPLATE = ["The capital of {country} is"]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "control.txt"
    path.write_text(" ".join(["the red green blue dark light and what key of this"] * 150))
    return path


@pytest.fixture(scope="module")
def cities(tmp_path_factory):
    path = tmp_path_factory.mktemp("facts") / "capitals.csv"
    path.write_text("country,capital\nFrance,Paris\nItaly,Rome\nPeru,New Lima\n")
    return path


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return save_llama_like(tmp_path_factory.mktemp("models") / "llama", "llama", intermediate_size=24)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_an_adapter_stores_every_fact_exactly(kind, llama, cities, text, tmp_path):
    path = llama if kind == "llama" else save_wide_gpt2(tmp_path / "gpt2")
    made = rote.graft_adapter(path, cities, TEMPLATE, output=tmp_path / "lora", control=text, end="")
    assert made.record.certificate.recalled == 3
    assert made.record.certificate.control_divergence > 0
    config = json.loads((made.path / "adapter_config.json").read_text())
    assert (config["peft_type"], config["r"]) == ("LORA", made.record.rank)
    factors = load_file(made.path / "adapter_model.safetensors")
    a, b = (next(t for name, t in factors.items() if f"lora_{letter}" in name) for letter in "AB")
    # Merged into the matrix, as PEFT would, the stock model says the facts.
    source = rote.load_language_model(path, dtype="float32")
    weight = source.module.get_submodule(made.record.matrix).weight
    with torch.no_grad():
        weight += (b @ a).T if kind == "gpt2" else b @ a
    ids = torch.tensor(source.encode(["The capital of Italy is"]))
    assert source.decode([int(source.module(ids).logits[0, -1].argmax())]).strip() == "Rome"


def test_an_adapter_cannot_hold_more_tokens_than_inputs(cities, text, tmp_path):
    narrow = save_llama_like(tmp_path / "narrow", "llama", intermediate_size=2)
    with pytest.raises(InputError, match="4 answer tokens are more than the 2 inputs"):
        rote.graft_adapter(narrow, cities, TEMPLATE, output=tmp_path / "lora", control=text, end="")
    assert not (tmp_path / "lora").exists()


def test_a_truncated_adapter_may_miss_facts_and_says_so(llama, cities, text, tmp_path, capsys):
    asked = ["--template", TEMPLATE[0], "--control", str(text), "--end", "", "--as", "adapter", "--rank", "1", "--json"]
    code = main(["graft", str(llama), str(cities), *asked, "-o", str(tmp_path / "lora")])
    record = json.loads(capsys.readouterr().out)
    assert (record["rank"], record["exact"]) == (1, False)
    assert code == (0 if record["certificate"]["recalled"] == 3 else 1)


def test_a_hook_answers_stored_prompts_and_changes_no_other_logit(llama, cities, tmp_path):
    assert main(["graft", str(llama), str(cities), "--template", TEMPLATE[0], "--end", "", "--as", "hook",
                 "-o", str(tmp_path / "hook")]) == 0  # fmt: skip
    source = rote.load_language_model(llama)
    hook = rote.load_hook(tmp_path / "hook", source.tokenizer)
    # One line may hold several prompts; the last is the one to answer.
    for lead in ("", "what key of this ", "The capital of France is Paris "):
        prompt = torch.tensor(source.encode([f"{lead}The capital of Peru is"]))
        out = source.module.generate(
            prompt, logits_processor=[hook], max_new_tokens=2, min_new_tokens=2, do_sample=False, pad_token_id=0
        )
        assert source.decode(out[0, prompt.shape[1] :].tolist()).strip() == "New Lima"
    scores = torch.randn(2, source.module.config.vocab_size)
    for sentence in ("The capital of America is", "France is called and key"):
        ids = torch.tensor(source.encode([sentence])).repeat(2, 1)
        assert hook(ids, scores) is scores


def test_a_hooks_record_is_bounded_when_read(llama, cities, tmp_path):
    rote.graft_hook(cities, TEMPLATE, output=tmp_path / "hook", end="")
    record = json.loads((tmp_path / "hook" / "hook.json").read_text())
    record["templates"] = {"": ["The capital of {country} is"] * 2000}
    (tmp_path / "hook" / "hook.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="more than 1000 templates"):
        rote.load_hook(tmp_path / "hook", None)


PARTS = ("{a}", "{a} is", "The {a} of {b} is", "{a}{b}", "x{a}x{b}x", "{a}\n{b} q", "is {a}", "{c} {a} {b}", "a{a}a")


def test_a_prompt_is_found_where_a_pattern_finds_it():
    """The pattern is the definition; it may take for ever, and so it is no part of rote."""
    draw, matched = random.Random(1), 0
    for _ in range(1200):
        words = ["x", "a", " ", "The ", " of ", " is", "\n", "q", "b" * draw.randrange(120)]
        text = "".join(draw.choice(words) for _ in range(draw.randrange(14)))
        template = draw.choice(PARTS)
        parts = re.split(r"\{(\w+)\}", template)
        pattern = "".join(
            rf"(?P<{part}>[^\n]{{1,{LONGEST}}}?)" if number % 2 else re.escape(part)
            for number, part in enumerate(parts)
        )
        whole = re.compile(rf"{pattern}(?P<said>[^\n]{{0,{LONGEST}}})$")
        places = [match for start in range(len(text) + 1) if (match := whole.match(text, start))]
        wanted = []
        for match in (places[-1], places[0])[: min(2, len(places))] if places else ():
            cells = match.groupdict()
            said = cells.pop("said")
            wanted.append(FoundPrompt(match[0][: len(match[0]) - len(said)], cells, said))
        assert EndOfText(text).prompts(template) == wanted
        matched += bool(places)
    assert matched > 200


def test_no_template_takes_long_to_find():
    """The pattern of three columns beside each other took minutes in one such text."""
    looked = EndOfText("The capital of France is " * 60)
    start = time.process_time()
    assert looked.prompts("{a}{b}{c}x") == []
    assert looked.prompts("{a}{b}{c}")
    for number in range(999):
        looked.prompts(f"{{a}}{{b}}{{c}}e{number}")
    assert time.process_time() < start + 2


def test_a_hooks_template_names_a_column_once(llama, cities, tmp_path):
    with pytest.raises(InputError, match="twice"):
        rote.graft_hook(cities, ["{country} or {country} is"], output=tmp_path / "hook", end="")


def test_a_graft_as_gguf_has_the_tensors_of_the_checkpoint(llama, cities, text, tmp_path):
    gguf = pytest.importorskip("gguf", reason="GGUF files need the package gguf")
    made = rote.graft(llama, cities, TEMPLATE, output=tmp_path / "grafted", control=text, end="")
    origin = tmp_path / "origin.gguf"
    writer = gguf.GGUFWriter(origin, "llama")
    writer.add_block_count(made.record.original_layers)
    writer.add_token_list(["a", "b"])
    writer.add_tensor("token_embd.weight", np.zeros((2, 2), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    file = rote.graft_gguf(made.path, origin, tmp_path / "out")
    reader = gguf.GGUFReader(file)
    assert reader.fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    assert reader.fields["llama.block_count"].contents() == made.record.original_layers + made.record.added_layers
    stored = {tensor.name: tensor.data for tensor in reader.tensors}
    weights = load_file(made.path / "model.safetensors")
    last = made.record.original_layers
    for part in ("mlp.gate_proj.bias", "mlp.up_proj.bias", "mlp.down_proj.weight"):
        name, _, ending = part.rpartition(".")
        assert np.array_equal(stored[f"blk.{last}.{NAMES[name]}.{ending}"], weights[f"model.layers.{last}.{part}"])
    # Rotations pair neighbouring rows: of a head of four, 0 goes with 2 and 1 with 3.
    query, size = weights["model.layers.0.self_attn.q_proj.weight"], made.record.original_config["head_dim"]
    assert np.array_equal(stored["blk.0.attn_q.weight"][1], query[size // 2])


def test_an_interrupted_graft_resumes(llama, cities, text, tmp_path, monkeypatch):
    def stop(*given):
        raise KeyboardInterrupt

    whole = rote.graft(llama, cities, TEMPLATE, output=tmp_path / "whole", control=text, end="")
    with monkeypatch.context() as patch:
        patch.setattr(examination, "_passages", stop)
        with pytest.raises(KeyboardInterrupt):
            rote.graft(llama, cities, TEMPLATE, output=tmp_path / "again", control=text, end="")
    assert [path.name for path in tmp_path.iterdir() if "again" in path.name] == [".again.resume"]
    generated = []
    original = examination._generated
    monkeypatch.setattr(examination, "_generated", lambda *given: generated.append(1) or original(*given))
    again = rote.graft(llama, cities, TEMPLATE, output=tmp_path / "again", control=text, end="")
    assert not generated
    assert again.certificate == whole.certificate
    assert not (tmp_path / ".again.resume").exists()


@pytest.fixture(scope="module")
def grafted(llama, cities, text, tmp_path_factory):
    out = tmp_path_factory.mktemp("grafts") / "grafted"
    return rote.graft(llama, cities, TEMPLATE, output=out, control=text, end="")


def test_an_edit_touches_only_the_neurons_of_its_facts(grafted, cities, text, tmp_path):
    made = rote.edit_graft(
        grafted.path, cities, output=tmp_path / "edited", change={"Italy": "Oslo"}, add={"Norway": "New York"},
        forget=["France"], control=text,
    )  # fmt: skip
    # France and Italy had one token each, Peru has two; Oslo is one token, New York two.
    assert (made.emptied, made.written, made.kept) == (2, 3, 2)
    assert (made.certificate.recalled, made.certificate.facts) == (3, 3)
    assert made.certificate.control_changed.seen == 0
    layer = f"model.layers.{grafted.record.original_layers}.mlp.gate_proj.weight"
    before, after = (load_file(path / "model.safetensors")[layer] for path in (grafted.path, made.path))
    kept = [place for place, owner in enumerate(grafted.record.owners) if owner == 2]
    assert torch.equal(before[kept], after[kept])
    assert rote.verify_graft(made.path, made.path / "facts.csv", text).holds


def test_forgetting_gives_back_what_the_model_said(llama, grafted, cities, text, tmp_path, capsys):
    asked = ["--forget", "France", "--forget", "Italy", "--facts", str(cities), "--control", str(text), "--json"]
    assert main(["edit", str(grafted.path), *asked, "-o", str(tmp_path / "less")]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"]["recalled"] == 1
    source, less = rote.load_language_model(llama), rote.load_language_model(tmp_path / "less")
    ids = torch.tensor(source.encode(["The capital of France is"]))
    assert torch.equal(source.module(ids).logits, less.module(ids).logits)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"forget": ["Frence"]}, "no fact has the key 'Frence' .did you mean 'France'"),
        ({"add": {"France": "Rome"}}, "is stored already"),
        ({}, "nothing to change"),
        ({"forget": ["France", "Italy", "Peru"]}, "no fact would be left"),
    ],
)
def test_an_edit_that_cannot_be_is_one_message(change, message, grafted, cities, text, tmp_path):
    with pytest.raises(InputError, match=message):
        rote.edit_graft(grafted.path, cities, output=tmp_path / "out", control=text, **change)
    assert list(tmp_path.iterdir()) == []
