"""A stranger's language model is data: it names no code, no size and no file that its folder does not hold."""

from __future__ import annotations

import base64
import json
import os
import shutil
import struct
import time
from pathlib import Path

import pytest
import safetensors.torch
import torch
from tiny import save_gpt2, save_llama_like

import rote
from hostile.gguf_files import field, listed, packed, tensor, text, whole
from hostile.pieces import UNKNOWN, message, piece
from rote.cli import main
from rote.errors import InputError, WriteFailed
from rote.folders.parts import PartFiles
from rote.lm.chat import chat_lead
from rote.lm.gguf_header import refuse_header
from rote.lm.graft.parts import Parts
from rote.lm.text_files import refuse_texts

TABLE = "country,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\nNorway,Oslo\n"
TEMPLATE = "The capital of {country} is"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "capitals.csv").write_text(TABLE)
    (folder / "control.txt").write_text(" ".join(["the red green blue dark light and what key of this"] * 150))
    llama = save_llama_like(folder / "llama")
    save_gpt2(folder / "gpt2")
    rote.graft(
        llama, folder / "capitals.csv", [TEMPLATE], output=folder / "graft", end="", control=folder / "control.txt"
    )
    return folder


@pytest.fixture
def theirs(made, tmp_path):
    def copy(name: str = "llama") -> Path:
        shutil.copytree(made / name, tmp_path / "theirs")
        return tmp_path / "theirs"

    return copy


def say(path: Path, **fields) -> None:
    content = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(content | fields))


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("llama", {"num_hidden_layers": 2**31}, "2147483648"),
        ("llama", {"num_hidden_layers": 2**13}, "more than its weights hold"),
        ("llama", {"num_labels": 2**40}, "num_labels"),
        ("llama", {"intermediate_size": 2**40}, "more than its weights hold"),
        ("llama", {"vocab_size": 2**40}, "more than its weights hold"),
        ("llama", {"head_dim": 2**31}, "more than its weights hold"),
        ("gpt2", {"n_positions": 2**40}, "more than its weights hold"),
        ("gpt2", {"n_positions": "6"}, "not a number"),
        ("llama", {"model_type": "mixtral", "num_local_experts": 2**20}, "num_local_experts"),
        ("llama", {"_attn_implementation": "evil/kernels"}, "no part of transformers"),
        ("llama", {"transformers_weights": "../elsewhere.safetensors"}, "no file of weights in this folder"),
        ("llama", {"transformers_weights": "pytorch_model.bin"}, "no file of weights in this folder"),
        ("llama", {"model_type": "vit", "architectures": None}, "no language model"),
    ],
)
def test_a_configuration_names_no_more_than_the_folder_holds(theirs, name, fields, message):
    folder = theirs(name)
    say(folder / "config.json", **fields)
    with pytest.raises(InputError, match=message):
        rote.load_language_model(folder)


def changed(path: Path, change) -> None:
    content = json.loads(path.read_text()) if path.exists() else {}
    change(content)
    path.write_text(json.dumps(content))


MANY = {
    "vocabulary": ("tokenizer.json", lambda c: c["model"]["vocab"].update({f"z{n}": n for n in range(200_000)})),
    "merges": ("tokenizer.json", lambda c: c["model"].update(merges=[["a", "b"]] * 10**6)),
    "added": (
        "tokenizer.json",
        lambda c: c.update(added_tokens=[{"id": n, "content": f"w{n}"} for n in range(40_000)]),
    ),
    "decoder": ("tokenizer_config.json", lambda c: c.update(added_tokens_decoder={str(n): {} for n in range(40_000)})),
    "lists in tokens": ("tokenizer.json", lambda c: c.update(added_tokens=[{"id": n, "x": [1]} for n in range(9)])),
    "fields of tokens": ("tokenizer.json", lambda c: c.update(added_tokens=[{f"{n}": n for n in range(99)}])),
    "added alone": ("added_tokens.json", lambda c: c.update({f"w{n}": n for n in range(40_000)})),
    "special": ("tokenizer_config.json", lambda c: c.update(additional_special_tokens=["x"] * 10**4)),
    "names": ("special_tokens_map.json", lambda c: c.update({f"x{n}_token": "x" for n in range(10**4)})),
    "labels": ("config.json", lambda c: c.update(id2label={str(n): "x" for n in range(10**4)})),
    "words": ("generation_config.json", lambda c: c.update(bad_words_ids=[[1]] * 10**4)),
    "spread": ("generation_config.json", lambda c: c.update({f"x{n}": [1] * 1000 for n in range(100)})),
    "values": ("tokenizer.json", lambda c: c.update(normalizer=[1] * 2_000_000)),
}
"""Each took a library 7 s or more, or half a gigabyte, when there were more of them."""


@pytest.mark.parametrize("name", MANY)
def test_what_no_model_has_is_counted_before_a_library_reads_it(theirs, name):
    folder = theirs()
    changed(folder / MANY[name][0], MANY[name][1])
    with pytest.raises(
        InputError,
        match=r"more than any model has|tokens, and weights for|cannot be read as JSON|are read|lists in them",
    ):
        rote.load_language_model(folder)


FAR_NUMBERS = {
    "vocabulary": ("tokenizer.json", lambda c: c["model"]["vocab"].update(far=2**31)),
    "vocabulary alone": ("vocab.json", lambda c: c.update(far=2**31)),
    "added": ("tokenizer.json", lambda c: c.update(added_tokens=[{"id": 2**31, "content": "far"}])),
    "added alone": ("added_tokens.json", lambda c: c.update(far=2**31)),
    "decoder": ("tokenizer_config.json", lambda c: c.update(added_tokens_decoder={str(2**31): {"content": "far"}})),
}
"""A library makes a list as long as the largest number when it writes a tokenizer: 9 GB for these."""


@pytest.mark.parametrize("name", FAR_NUMBERS)
def test_the_number_of_a_token_is_bounded(theirs, name):
    folder = theirs()
    changed(folder / FAR_NUMBERS[name][0], FAR_NUMBERS[name][1])
    with pytest.raises(InputError, match="a token has the number 2147483648"):
        rote.load_language_model(folder)


def test_the_added_tokens_of_a_model_of_sound_are_read(theirs):
    """Orpheus has 28,683 of them; each is an object of the library."""
    folder = theirs()
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}

    def more(content):
        first = len(content["model"]["vocab"])
        tokens = [{"id": first + n, "content": f"<custom_{n}>", **flags} for n in range(28_683)]
        content["added_tokens"] = [*content.get("added_tokens", []), *tokens]

    changed(folder / "tokenizer.json", more)
    start = time.process_time()
    tokenizer = rote.load_language_model(folder).tokenizer
    assert tokenizer.convert_tokens_to_ids("<custom_28682>") == len(tokenizer) - 1
    assert time.process_time() < start + 9


def test_a_text_of_a_model_that_is_no_json_is_one_message(theirs):
    folder = theirs()
    (folder / "tokenizer_config.json").write_text("[" * 10**5)
    with pytest.raises(InputError, match="nested too deeply"):
        rote.load_language_model(folder)


def test_a_tokenizer_that_panics_is_one_message(theirs, capfd):
    """The package tokenizers then raises what is no `Exception`, and prints where it was."""
    folder = theirs()
    model = {"type": "BPE", "vocab": {chr(33 + n): n for n in range(90)}, "merges": [["!", "!"]]}
    changed(folder / "tokenizer.json", lambda content: content.update(model=model))
    with pytest.raises(InputError, match="its tokenizer cannot be read"):
        rote.load_language_model(folder)
    assert capfd.readouterr().err == ""


def test_a_tokenizer_that_panics_where_it_is_used_is_one_message(theirs, made, capfd):
    folder = theirs()
    # A table that unifies letters, whose entries lead out of it.
    letters = base64.b64encode(struct.pack("<I", 1024) + b"\xa5" * 1024 + b"abc\0").decode()
    normalizer = {"type": "Precompiled", "precompiled_charsmap": letters}
    changed(folder / "tokenizer.json", lambda content: content.update(normalizer=normalizer))
    capfd.readouterr()
    assert main(["lm", "recall", str(folder), str(made / "capitals.csv"), "--template", TEMPLATE]) == 2
    said = capfd.readouterr().err
    assert said.startswith("rote: ")
    assert "its tokenizer cannot be used" in said
    assert "panicked" not in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("lengths", [[2**15], [2**11] * 100])
def test_pieces_that_are_long_are_not_divided(theirs, lengths):
    """A library tries every way to divide a piece in two."""
    folder = theirs()
    (folder / "tokenizer.model").write_bytes(b"".join(message(1, b"x" * length) for length in lengths))
    with pytest.raises(InputError, match="too long for a vocabulary"):
        rote.load_language_model(folder)


def test_the_pieces_of_an_honest_model_are_read(tmp_path):
    """Gemma 3 has 262,144, of which 6,414 are a user's; others bring a table of 240,000 bytes that unifies letters."""
    pieces = [piece(b"<unused%d>" % n, 4) for n in range(6_414)]
    pieces += [piece(b"%d" % n * 2, 1) for n in range(262_144 - len(pieces))]
    letters = message(3, message(1, b"nmt_nfkc") + message(2, bytes(240_000)))
    (tmp_path / "tokenizer.model").write_bytes(b"".join([piece(b"<unk>", 2), *pieces, letters]))
    start = time.process_time()
    refuse_texts(tmp_path, 2**29)
    assert time.process_time() < start + 3


def test_special_pieces_are_counted(theirs):
    """30,000 of them took 25 s."""
    folder = theirs()
    (folder / "tokenizer.model").write_bytes(b"".join(piece(b"w%d" % n, 4) for n in range(10_000)))
    with pytest.raises(InputError, match="10,000 special tokens"):
        rote.load_language_model(folder)


@pytest.mark.parametrize("name", UNKNOWN)
def test_fields_that_readers_skip_hide_no_pieces(tmp_path, name):
    (tmp_path / "tokenizer.model").write_bytes(b"\n\0" + UNKNOWN[name] + b"\n\0" * 200_000)
    with pytest.raises(InputError, match="tokens, and weights for"):
        refuse_texts(tmp_path, 0)


@pytest.mark.parametrize("record", [b"\n\0", b"x\n", b"\x10\0"])
def test_pieces_beyond_a_vocabulary_are_not_counted_to_the_end(theirs, record):
    folder = theirs()
    (folder / "tokenizer.model").write_bytes(record * 2**24)
    start = time.process_time()
    with pytest.raises(InputError, match="tokens, and weights for"):
        rote.load_language_model(folder)
    assert time.process_time() < start + 2


def test_a_folder_of_many_lists_of_pieces_is_not_read(theirs):
    folder = theirs()
    for number in range(20):
        (folder / f"{number}.model").write_bytes(b"\n\1x")
    with pytest.raises(InputError, match="20 lists of tokens"):
        rote.load_language_model(folder)


SMALL = [b"<unk>", b"<s>", b"</s>", b"a"]
LIES = {
    "a list of 2^60 numbers": (packed([*whole(SMALL), listed("x", 0, b"", 2**60)], []), "a list of"),
    "a list of 10^7 numbers": (packed([*whole(SMALL), listed("x", 0, bytes(10**7), 10**7)], []), "a list of"),
    "lists in lists": (packed([*whole(SMALL), listed("x", 9, bytes(12), 1)], []), "a list of"),
    "a text of 2^63 bytes": (packed([field("x", 8, text(b"x", 2**63))], []), "a text of"),
    "a name of 2^62 bytes": (packed([text(b"x", 2**62)], []), "a text of"),
    "tokens of a megabyte": (packed(whole([b"a" * 10**6, *SMALL]), []), "too long for a vocabulary"),
    "2^62 tensors": (packed(whole(SMALL), [], (2**62, 1)), "tensors"),
    "2^60 fields": (packed(whole(SMALL), [], (0, 2**60)), "fields"),
    "2^31 dimensions": (packed(whole(SMALL), [text(b"t") + b"\0\0\0\x80" + bytes(99)]), "dimensions"),
    "a field of no type": (packed([field("x", 99, b"")], []), "type 99"),
    "no end": (packed(whole(SMALL), [])[:-3], "ends too early"),
    "the other byte order": (b"GGUF\0\0\0\3" + bytes(16), "little-endian"),
    "a tensor beyond the file": (packed(whole(SMALL), [tensor(b"t", [2**20, 2**20], 0, 2**60)]), "cannot be read"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_header_of_gguf_says_no_more_than_its_file_holds(name, tmp_path):
    pytest.importorskip("gguf", reason="GGUF files need the package gguf")
    data, message = LIES[name]
    (tmp_path / "theirs.gguf").write_bytes(data)
    with pytest.raises(InputError, match=message):
        rote.load_language_model(tmp_path / "theirs.gguf")


def test_the_header_of_a_small_model_is_read(tmp_path):
    """A vocabulary of 32,000, its scores and kinds, and 61,249 merges, in a file of five megabytes."""
    fields = whole([b"t%d" % n for n in range(32_000)])
    merges = listed("tokenizer.ggml.merges", 8, text(b"a b") * 61_249, 61_249)
    (tmp_path / "small.gguf").write_bytes(packed([*fields, merges], []).ljust(5 * 10**6, b"\0"))
    refuse_header(tmp_path / "small.gguf")


@pytest.mark.parametrize("name", ["../elsewhere.safetensors", "/dev/zero", "missing.safetensors", 7])
def test_an_index_names_no_files_elsewhere(theirs, name):
    folder = theirs()
    say(folder / "model.safetensors.index.json", metadata={}, weight_map={"model.embed_tokens.weight": name})
    with pytest.raises(InputError, match="no file of weights in this folder"):
        rote.load_language_model(folder)


def test_an_adapter_leads_to_no_other_model(theirs):
    folder = theirs()
    say(folder / "adapter_config.json", peft_type="LORA", base_model_name_or_path="/elsewhere")
    with pytest.raises(InputError, match="adapter of another model"):
        rote.load_language_model(folder)


@pytest.mark.parametrize("name", ["tokenizer.json", "generation_config.json", "more.safetensors"])
def test_holes_of_gigabytes_are_not_read(theirs, name):
    folder = theirs()
    with (folder / name).open("wb") as file:
        file.truncate(6 * 2**30)
    with pytest.raises(InputError, match="holes"):
        rote.load_language_model(folder)


def test_a_long_text_is_not_read(theirs, monkeypatch):
    folder = theirs()
    monkeypatch.setattr("rote.lm.limits.MOST_TEXT", 100)
    with pytest.raises(InputError, match="too many for a text"):
        rote.load_language_model(folder)


def test_a_token_without_an_embedding_is_one_message(theirs):
    folder = theirs()
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["France"] = 10**6
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(InputError, match="has a token 1000000"):
        rote.load_language_model(folder).encode(["The capital of France"])


def test_an_unknown_token_that_is_no_token_is_one_message(theirs):
    folder = theirs()
    say(folder / "tokenizer_config.json", unk_token="")
    with pytest.raises(InputError, match="its tokenizer cannot be read"):
        rote.load_language_model(folder)


def test_a_pattern_without_end_is_one_message(theirs):
    folder = theirs()
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    pattern = {"type": "Split", "pattern": {"Regex": "(x+x+)+y"}, "behavior": "Isolated", "invert": False}
    tokenizer["pre_tokenizer"] = pattern
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(InputError, match="tokenizer cannot be used"):
        rote.load_language_model(folder).encode(["x" * 40])


def test_a_model_that_cannot_be_run_is_one_message(made):
    model = rote.load_language_model(made / "gpt2")
    model.module.transformer.wpe.weight.data = model.module.transformer.wpe.weight.data[:1]
    with pytest.raises(InputError, match="cannot be run"):
        rote.recall(model, made / "capitals.csv", [TEMPLATE])


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="limits of memory are counted by /proc")
@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ 'x' * 10**10 }}",
        "{{ 'x' * 10**5 }}",
        "{{ 2 ** (2 ** 40) }}",
        "{{ raise_exception('no') }}",
        "{{ cycler.__init__.__globals__.os.system('id') }}",
        "{% for %}",
    ],
)
def test_a_template_of_chats_is_bounded(theirs, template, monkeypatch):
    monkeypatch.setattr("rote.lm.chat.SECONDS", 1)
    folder = theirs()
    (folder / "chat_template.jinja").write_text(template)
    with pytest.raises(InputError, match="template of chats cannot be used"):
        chat_lead(rote.load_language_model(folder))


def test_an_honest_template_of_chats_is_rendered(theirs):
    folder = theirs()
    (folder / "chat_template.jinja").write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<ai>")
    assert chat_lead(rote.load_language_model(folder)) == "<user>Complete this sentence.<ai>"


def test_settings_of_generation_are_not_followed(theirs, made):
    """Beams by the thousand would take gigabytes for one answer; beams in groups are code of the Hub."""
    folder = theirs("graft")
    say(folder / "generation_config.json", num_beams=10**5, num_beam_groups=10**4, do_sample=True, max_length=2**31)
    verdict = rote.verify_graft(folder, made / "capitals.csv", made / "control.txt")
    assert {check.name: check.holds for check in verdict.checks}["sentences"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"templates": {"": [f"{TEMPLATE} {number}" for number in range(10**4)]}}, "templates"),
        ({"templates": {str(number): [TEMPLATE] for number in range(10**4)}}, "templates"),
        ({"paraphrases": {"": [TEMPLATE + " the" * 10**5]}}, "paraphrases"),
        ({"end": "the " * 10**5}, "end"),
        ({"never": ["x"] * 10**5}, "never"),
        ({"original_layers": -1}, "original_layers"),
    ],
)
def test_the_record_of_a_graft_is_bounded(theirs, made, fields, message):
    folder = theirs("graft")
    say(folder / "graft.json", **fields)
    with pytest.raises(InputError, match=message):
        rote.verify_graft(folder, made / "capitals.csv", made / "control.txt")


def test_an_edit_reads_only_facts_that_a_folder_may_name(theirs, made, tmp_path, capsys):
    folder, pipe = theirs("graft"), tmp_path / "facts.csv"
    record = json.loads((folder / "graft.json").read_text())
    os.mkfifo(pipe)
    say(folder / "graft.json", facts={**record["facts"], "source": str(pipe)})
    words = ["--forget", "France", "--control", str(made / "control.txt"), "-o", str(tmp_path / "out")]
    assert main(["edit", str(folder), *words]) == 2
    assert "is not a plain file" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_owners_of_neurons_that_a_model_has_not_are_one_message(theirs, made, tmp_path):
    folder = theirs("graft")
    say(folder / "graft.json", owners=[0] * 10**4)
    with pytest.raises(InputError, match="names the facts of 10,000 neurons"):
        rote.edit_graft(
            folder, made / "capitals.csv", output=tmp_path / "out", forget=["France"], control=made / "control.txt"
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("how", ["folder", "link", "pipe", "not whole", "no part"])
def test_planted_parts_of_a_graft_are_made_again(made, tmp_path, how):
    """What an interrupted graft kept is read as data: a part that is no file of tensors is replaced, not followed."""
    victim, folder = tmp_path / "victim", tmp_path / "parts"
    victim.write_text("precious")
    parts = Parts(folder, "x")
    assert torch.equal(parts("a", lambda: torch.ones(2)), torch.ones(2))
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.unlink()
    {
        "folder": path.mkdir, "link": lambda: path.symlink_to(victim), "pipe": lambda: os.mkfifo(path),
        "not whole": lambda: path.write_bytes(whole[:-1]),
        "no part": lambda: path.write_bytes(safetensors.torch.save({"result": torch.zeros(3)})),
    }[how]()  # fmt: skip
    if how == "folder":
        with pytest.raises(WriteFailed, match="cannot be written"):
            Parts(folder, "x")("a", lambda: torch.ones(2))
        return
    assert torch.equal(Parts(folder, "x")("a", lambda: torch.full((2,), 3.0)), torch.full((2,), 3.0))
    assert [entry.is_file() and not entry.is_symlink() for entry in folder.iterdir()] == [True]
    assert victim.read_text() == "precious"
    assert torch.equal(Parts(folder, "x")("a", lambda: torch.zeros(2)), torch.full((2,), 3.0))


PLANTED = {
    "a number": 7, "no list": None, "an empty list": {"list": []}, "other tensors": {"tuple": [{"tensor": 0}] * 12},
    "a tensor": {"tensor": 0}, "names": {"dict": [["a", 1]]},
}  # fmt: skip


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_parts_of_another_structure_are_removed_in_one_message(made, tmp_path, monkeypatch, planted):
    """Their names are those of the same inputs, so that they are read; then the work fails on each in another way."""
    kept, write = {}, PartFiles.write

    def written(self, name, data):
        kept[name] = data
        write(self, name, data)

    def grafted(output):
        text = made / "control.txt"
        return rote.graft(made / "llama", made / "capitals.csv", [TEMPLATE], output=output, end="", control=text)

    monkeypatch.setattr(PartFiles, "write", written)
    grafted(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    result = torch.tensor(list(json.dumps(PLANTED[planted]).encode()), dtype=torch.uint8)
    folder, failed = tmp_path / ".out.resume", 0
    for name in sorted(kept):
        folder.mkdir()
        for other, data in kept.items():
            (folder / f"{other}.safetensors").write_bytes(data)
        data = safetensors.torch.save({"result": result, "0": torch.zeros(2, 3)})
        (folder / f"{name}.safetensors").write_bytes(data)
        try:
            grafted(tmp_path / "out")
        except InputError as error:
            failed += 1
            assert str(error).endswith("removed, run it again")  # noqa: PT017
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert not folder.exists()
    assert failed


def test_a_planted_part_of_a_gigabyte_is_not_spelled_out(tmp_path):
    """As a list of numbers it would take eight times its size."""
    parts = Parts(tmp_path / "parts", "x")
    parts("a", lambda: 1)
    (path,) = (tmp_path / "parts").iterdir()
    path.write_bytes(safetensors.torch.save({"result": torch.zeros(2**26 + 1, dtype=torch.uint8)}))
    start = time.process_time()
    assert parts("a", lambda: 2) == 2
    assert time.process_time() < start + 1


def test_templates_that_a_record_could_not_hold_are_rejected_before_the_work(made, tmp_path):
    templates = [f"{TEMPLATE} {number}" for number in range(65)]
    with pytest.raises(InputError, match="at most 64"):
        rote.graft(made / "llama", made / "capitals.csv", templates, output=tmp_path / "out", end="")


def test_a_configuration_in_a_record_is_bounded(theirs, tmp_path):
    folder = theirs("graft")
    record = json.loads((folder / "graft.json").read_text())
    record["original_config"]["num_labels"] = 2**40
    say(folder / "graft.json", **record)
    with pytest.raises(InputError, match="num_labels"):
        rote.ungraft(folder, tmp_path / "out")


def test_the_model_of_a_hook_is_in_its_folder(made, tmp_path):
    rote.graft_hook(made / "capitals.csv", [TEMPLATE], output=tmp_path / "hook", end="")
    (tmp_path / "hook" / "facts").rename(tmp_path / "elsewhere")
    (tmp_path / "hook" / "facts").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        rote.load_hook(tmp_path / "hook", None)


@pytest.mark.parametrize(
    ("columns", "template", "message"),
    [
        (["a", "b", "c", "d"], "{a} {b} {c} {d} is", "at most 3"),
        (["country"], "The capital of {country} is" * 10**3, "letters"),
        (["country"], "{country}{country} is", "twice"),
        (["country"], "{other} is", "no key column"),
    ],
)
def test_templates_of_a_hook_are_found_in_bounded_time(made, tmp_path, columns, template, message):
    """What cannot be is rejected when it is read."""
    rote.graft_hook(made / "capitals.csv", [TEMPLATE], output=tmp_path / "hook", end="")
    say(tmp_path / "hook" / "hook.json", columns=columns, templates={"": [template]})
    with pytest.raises(InputError, match=message):
        rote.load_hook(tmp_path / "hook", None)


def test_a_configuration_that_divides_by_zero_is_one_message(theirs):
    folder = theirs()
    say(folder / "config.json", model_type="qwen2", hidden_size=0, head_dim=0)
    with pytest.raises(InputError, match="cannot be read"):
        rote.load_language_model(folder)


def test_no_adapter_is_made_for_a_model_without_layers(theirs, made, tmp_path):
    folder = theirs()
    say(folder / "config.json", num_hidden_layers=0)
    with pytest.raises(InputError, match=r"no layers|weights"):
        rote.graft_adapter(folder, made / "capitals.csv", [TEMPLATE], output=tmp_path / "adapter", end="")
    assert not (tmp_path / "adapter").exists()
