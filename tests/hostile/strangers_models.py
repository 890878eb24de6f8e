"""Language models and grafts as somebody who means harm would make them, read by every command that reads one."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

import rote
from hostile.canary import plant_source
from hostile.gguf_files import write_hostile
from hostile.model_folders import DAMAGES
from hostile.pieces import write_hostile_pieces
from hostile.strangers import ANYTHING, SIZES, WORDS, read_where_whole, write_where_whole
from hostile.watch import Attempt
from rote.cli import main
from rote.folders.parts import PartFiles

sys.path.insert(0, str(Path(__file__).parents[1] / "lm"))
from tiny import save_bert, save_llama_like, save_wide_gpt2

TABLE = "country,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\nNorway,Oslo\n"
TEMPLATE = ["--template", "The capital of {{country}} is"]
COUNTS = (
    "num_hidden_layers", "n_layer", "hidden_size", "n_embd", "intermediate_size", "n_inner", "num_attention_heads",
    "num_key_value_heads", "head_dim", "vocab_size", "n_positions", "max_position_embeddings", "num_labels", "n_ctx",
)  # fmt: skip
"""Sizes of a configuration; a name that a class has not is one more field to read."""


class StrangersModels:
    """Folders of language models and grafted ones."""

    name = "strangers' models"

    def __init__(self, store: Path) -> None:
        """Write small models, and grafts of two, below `store`."""
        store.mkdir(parents=True)
        self._facts, self._control = store / "capitals.csv", store / "control.txt"
        self._facts.write_text(TABLE)
        self._control.write_text(" ".join(["the red green blue dark light and what key of this"] * 150))
        llama, gpt2 = save_llama_like(store / "llama", "llama"), save_wide_gpt2(store / "gpt2")
        self._plain = [llama, gpt2, save_llama_like(store / "qwen2", "qwen2"), save_bert(store / "bert")]
        self._grafts = [
            rote.graft(
                model,
                self._facts,
                [TEMPLATE[1].format()],
                output=store / f"graft-{model.name}",
                end="",
                control=self._control,
            ).path
            for model in (llama, gpt2)
        ]

        self._hook = rote.graft_hook(self._facts, [TEMPLATE[1].format()], output=store / "hook", end="")
        self._tokens = rote.load_language_model(llama).tokenizer
        self._llama, self._parts = llama, self._kept_by(llama, store / "kept")

    def _kept_by(self, model: Path, output: Path) -> dict[str, bytes]:
        """The parts that a graft keeps while it is made, by the names of their files."""
        kept: dict[str, bytes] = {}
        write = PartFiles.write

        def written(self: PartFiles, name: str, data: bytes) -> None:
            kept[f"{name}.safetensors"] = data
            write(self, name, data)

        PartFiles.write = written  # pyright: ignore[reportAttributeAccessIssue]
        try:
            rote.graft(model, self._facts, [TEMPLATE[1].format()], output=output, end="", control=self._control)
        finally:
            PartFiles.write = write  # pyright: ignore[reportAttributeAccessIssue]
        return kept

    def _resumed(self, rng: random.Random, given: Path) -> Attempt:
        """A graft beside which parts lie that no interrupted one kept."""
        folder = given / ".out.resume"
        folder.mkdir()
        for name, data in self._parts.items():
            if rng.random() < 0.7:
                (folder / name).write_bytes(data)
        for name in rng.sample(sorted(self._parts), rng.choice((1, 1, 2))):
            rng.choice(PART_HARMS)(folder / name, rng)
        words = ["graft", str(self._llama), "{facts}", *TEMPLATE, "--control", "{control}", "--end", ""]
        return self._command([*words, "-o", "{given}/out"], given)

    def _hooked(self, rng: random.Random, folder: Path) -> Attempt:
        """A hook, read and asked as `generate` of transformers would ask it."""
        shutil.copytree(self._hook, folder)
        with suppress(TypeError, ValueError, KeyError, AttributeError, IndexError):
            rng.choice(HOOK_HARMS)(folder, rng)
        asked = torch.tensor([self._tokens(TEMPLATE[1].format(country="x").replace("{country}", "France")).input_ids])

        def attempt() -> bool:
            try:
                rote.load_hook(folder, self._tokens)(asked, torch.zeros(1, len(self._tokens)))
            except rote.RoteError:
                return False
            return True

        return attempt

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        folder = given / "model"
        if rng.random() < 0.1:
            return self._hooked(rng, folder)
        if rng.random() < 0.04:
            return self._resumed(rng, given)
        if rng.random() < 0.08:
            write_hostile(given / "model.gguf", rng)
            return self._command(
                ["lm", rng.choice(("recall", "plan")), "{given}/model.gguf", "{facts}", *TEMPLATE], given
            )
        plant_source(given / "elsewhere" / "evil.py")
        grafted = rng.random() < 0.4
        shutil.copytree(rng.choice(self._grafts if grafted else self._plain), folder)
        for _ in range(rng.choice((1, 1, 2))):
            harms = GRAFT_HARMS if grafted and rng.random() < 0.6 else HARMS
            with suppress(TypeError, ValueError, KeyError, AttributeError, IndexError):  # another harm was here before
                rng.choice(harms)(folder, rng)
        return self._command(rng.choice(GRAFT_COMMANDS if grafted else COMMANDS), given)

    def _command(self, words: list[str], given: Path) -> Attempt:
        folder = given / "model"
        where = {"folder": folder, "given": given, "facts": self._facts, "control": self._control}
        words = [word.format(**where) for word in words]

        def attempt() -> bool:
            code = main(words)
            if code not in (0, 1, 2):
                raise AssertionError(f"{words}: exit code {code}")
            return code != 2

        return attempt


COMMANDS: tuple[list[str], ...] = (
    ["inspect", "{folder}", "--facts", "{facts}", *TEMPLATE],
    ["inspect", "{folder}", "France", "--facts", "{facts}", *TEMPLATE, "--json"],
    ["lm", "plan", "{folder}", "{facts}", *TEMPLATE],
    ["lm", "recall", "{folder}", "{facts}", *TEMPLATE],
    ["lm", "assumptions", "{folder}", "--passages", "2", "--tokens", "8"],
    ["graft", "{folder}", "{facts}", *TEMPLATE, "--control", "{control}", "--end", "", "-o", "out"],
    ["graft", "{folder}", "{facts}", *TEMPLATE, "--control", "{control}", "--end", "", "--as", "adapter", "-o", "out"],
)
GRAFT_COMMANDS: tuple[list[str], ...] = (
    ["verify", "{folder}", "{facts}", "--control", "{control}"],
    ["verify", "{folder}"],
    ["verify", "{folder}", "{facts}", "--control", "{control}", "--json"],
    ["graft", "{folder}", "--remove", "-o", "out"],
    ["edit", "{folder}", "--set", "France=Lima", "--control", "{control}", "-o", "out"],
    ["edit", "{folder}", "--forget", "France", "--facts", "{facts}", "--control", "{control}", "-o", "out", "--json"],
    ["inspect", "{folder}", "--facts", "{facts}", *TEMPLATE],
)


def _changed(path: Path, change: Callable[[Any], None]) -> None:
    content = read_where_whole(path)
    change(content)
    write_where_whole(path, content)


def _sizes(folder: Path, rng: random.Random) -> None:
    """One or two sizes of the configuration are others, as whole numbers or not."""
    large = (2**16, 2**20, 2**24, 2**31, 2**40, 10**18)

    def change(config: Any) -> None:
        for _ in range(rng.choice((1, 1, 2))):
            config[rng.choice(COUNTS)] = rng.choice((*SIZES, *large))

    _changed(folder / "config.json", change)


def _field(folder: Path, rng: random.Random) -> None:
    """A field of a configuration is something else."""
    name = rng.choice(("config.json", "tokenizer_config.json", "generation_config.json", "tokenizer.json"))

    def change(content: Any) -> None:
        while isinstance(content, dict) and content:
            key = rng.choice(list(content))
            if not isinstance(content[key], dict) or rng.random() < 0.5:
                content[key] = rng.choice((*ANYTHING, *WORDS, *SIZES))
                return
            content = content[key]

    _changed(folder / name, change)


def _code(folder: Path, rng: random.Random) -> None:
    """Code elsewhere that the configuration or the tokenizer names."""
    elsewhere = folder.parent / "elsewhere"
    code = rng.choice((f"{elsewhere}--evil.Evil", "../elsewhere--evil.Evil", "evil.Evil"))
    shutil.copy(elsewhere / "evil.py", folder / "evil.py")
    for name in ("config.json", "tokenizer_config.json"):
        config = read_where_whole(folder / name)
        kinds = ("AutoConfig", "AutoModel", "AutoModelForCausalLM", "AutoTokenizer")
        config["auto_map"] = dict.fromkeys(kinds, code)
        if rng.random() < 0.5:
            config["model_type"], config["tokenizer_class"] = rng.choice(("evil", "llama", "timm_wrapper")), "Evil"
        write_where_whole(folder / name, config)


def _elsewhere(folder: Path, rng: random.Random) -> None:
    """Weights, adapters, kernels, quantisers and backbones that lie elsewhere."""
    kind = rng.randrange(6)
    if kind == 0:
        target = rng.choice(("../../../etc/passwd", "/dev/zero", "../elsewhere/evil.py", "missing.safetensors"))
        names = dict.fromkeys(("model.embed_tokens.weight", "transformer.wte.weight"), target)
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": names}))
        if rng.random() < 0.5:
            (folder / "model.safetensors").unlink()
    elif kind == 1:
        adapter = {"peft_type": "LORA", "base_model_name_or_path": str(folder.parent / "elsewhere"), "auto_mapping": {}}
        (folder / "adapter_config.json").write_text(json.dumps(adapter))
    else:
        more: dict[str, Any] = {
            2: {"_attn_implementation": "evil/kernels", "attn_implementation": "evil/kernels:Evil"},
            3: {"quantization_config": {"quant_method": rng.choice(("awq", "gptq", "bitsandbytes", "quanto", "evil"))}},
            4: {"model_type": rng.choice(("timm_backbone", "detr", "encoder-decoder", "rag", "mixtral", "bert")),
                "backbone": "evil/backbone", "use_pretrained_backbone": True, "num_local_experts": 2**20},
            5: {"transformers_weights": rng.choice(("../elsewhere/evil.py", "weights.bin", "/dev/zero", 7))},
        }[kind]  # fmt: skip
        _changed(folder / "config.json", lambda config: config.update(more))


def _tokenizer(folder: Path, rng: random.Random) -> None:
    """Words that act on a terminal, a pattern without end, numbers of tokens that are not there."""

    def change(content: Any) -> None:
        vocabulary = content["model"]["vocab"]
        for word in rng.sample(sorted(vocabulary), 2):
            vocabulary[word] = rng.choice((0, -1, 2**31, 2**40, 10**6, 1.5))
        if rng.random() < 0.5:
            vocabulary[rng.choice(WORDS)] = rng.randrange(len(vocabulary))
        if rng.random() < 0.5:
            pattern = {"Regex": rng.choice(("(a+)+$", "(x+x+)+y", "(((((a*)*)*)*)*)*b", "[", "(?=(a+))*b", "\\1"))}
            split = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
            content["pre_tokenizer"] = split
        if rng.random() < 0.2:
            letters = struct.pack("<I", rng.choice((0, 7, 1024, 2**32 - 4))) + rng.randbytes(2000)
            content["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(letters).decode()}
        if rng.random() < 0.3:
            token = {"id": rng.choice((2**31, 10**6, 3)), "content": rng.choice(WORDS), "special": True}
            flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
            content["added_tokens"] = [{**token, **flags}] * rng.choice((1, 1000))

    _changed(folder / "tokenizer.json", change)


def _many(folder: Path, rng: random.Random) -> None:
    """Tokens, labels, settings and merges by the million."""
    count = rng.choice((10**4, 10**5, 10**6))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    kind = rng.randrange(6)
    if kind == 0:
        _changed(folder / "tokenizer.json", lambda c: c["model"]["vocab"].update({f"z{n}": n for n in range(count)}))
    elif kind == 1:
        merges = rng.choice(([["a", "b"]] * count, ["a b"] * count, [["!", "!"]] * count))
        model = {"type": "BPE", "vocab": {chr(33 + n): n for n in range(90)}, "merges": merges}
        _changed(folder / "tokenizer.json", lambda content: content.update(model=model))
    elif kind == 2:
        tokens = [{"id": n, "content": f"w{n}", **flags} for n in range(count // 10)]
        _changed(folder / "tokenizer.json", lambda content: content.update(added_tokens=tokens))
    elif kind == 3:
        more: dict[str, Any] = rng.choice(
            ({"additional_special_tokens": [f"<e{n}>" for n in range(count)]},
             {f"x{n}_token": "x" for n in range(count)},
             {"added_tokens_decoder": {str(n): {"content": f"w{n}", **flags} for n in range(count // 10)}})
        )  # fmt: skip
        _changed(folder / "tokenizer_config.json", lambda content: content.update(more))
    elif kind == 4:
        _changed(folder / "config.json", lambda content: content.update(id2label={str(n): "x" for n in range(count)}))
    else:
        lists = {"suppress_tokens": [1] * count, "bad_words_ids": [[1]] * count, "sequence_bias": [[[1], 1.0]] * count}
        (folder / "generation_config.json").write_text(json.dumps(lists))


def _pieces(folder: Path, rng: random.Random) -> None:
    """A sentencepiece model in place of the tokenizer."""
    if rng.random() < 0.8:
        (folder / "tokenizer.json").unlink(missing_ok=True)
    write_hostile_pieces(folder / rng.choice(("tokenizer.model", "tokenizer.model", "spiece.model")), rng)
    said = {"tokenizer_class": rng.choice(("LlamaTokenizer", "T5Tokenizer", "GemmaTokenizer", "XGLMTokenizer"))}
    _changed(folder / "tokenizer_config.json", lambda content: content.update(said))


def _generation(folder: Path, rng: random.Random) -> None:
    """Settings with which one answer would take hours, or gigabytes."""
    content = {
        "num_beams": rng.choice((1, 10**5)), "max_length": 2**31, "num_return_sequences": rng.choice((1, 10**4)),
        "prompt_lookup_num_tokens": rng.choice((None, 10)), "cache_implementation": rng.choice((None, "static", "x")),
        "max_new_tokens": 10**9, "bad_words_ids": [[1]] * rng.choice((1, 10**4)), "custom_generate": "../elsewhere",
        "penalty_alpha": 0.6, "top_k": 4, "do_sample": True, "num_beam_groups": 10**4,
    }  # fmt: skip
    for name in rng.sample(sorted(content), rng.randrange(len(content))):
        del content[name]
    (folder / "generation_config.json").write_text(json.dumps(content))


def _chat(folder: Path, rng: random.Random) -> None:
    """A template of chats that loops, calls or prints what acts on a terminal."""
    template = rng.choice(
        ("{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}", "{{ 'x' * 10**10 }}",
         "{{ cycler.__init__.__globals__.os.system('id') }}", "{{ messages[0]['content'] }}\x1b[2J", "{% for %}",
         "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{{ 2 ** (2 ** 40) }}", "{{ raise_exception('\x1b[31m') }}")
    )  # fmt: skip
    if rng.random() < 0.5:
        (folder / "chat_template.jinja").write_text(template)
    else:
        _changed(folder / "tokenizer_config.json", lambda config: config.update(chat_template=template))


def _weights(folder: Path, rng: random.Random) -> None:
    """Weights that are no numbers, or other tensors than those of the configuration."""
    path = folder / "model.safetensors"
    if path.is_symlink() or not path.is_file():
        return
    try:
        weights = safetensors.torch.load_file(path)
    except Exception:  # noqa: BLE001  (another harm was here before)
        return
    value = rng.choice((float("nan"), float("inf"), -float("inf"), 3.4e38, -3.4e38, 0.0, 1e-45))
    for name, tensor in sorted(weights.items()):
        if tensor.is_floating_point() and rng.random() < 0.5:
            full = torch.full(tensor.shape, value, dtype=torch.float64).to(tensor.dtype)
            weights[name] = rng.choice((full, tensor[:1].clone(), tensor.to(torch.float16)))
    if rng.random() < 0.3:
        weights[rng.choice(WORDS)] = torch.zeros(1)
    safetensors.torch.save_file(weights, path)


def _large(folder: Path, rng: random.Random) -> None:
    """A hole of gigabytes in the place of a small file."""
    name = rng.choice(("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja",
                       "special_tokens_map.json", "config.json", "vocab.json", "more.safetensors"))  # fmt: skip
    if not (folder / name).is_symlink():
        with (folder / name).open("wb") as file:
            file.truncate(6 * 2**30)


def _damage(folder: Path, rng: random.Random) -> None:
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink()]
    rng.choice(DAMAGES)(rng.choice(files), rng)


HARMS: tuple[Callable[[Path, random.Random], None], ...] = (
    _sizes, _sizes, _sizes, _field, _field, _field, _code, _elsewhere, _elsewhere, _tokenizer, _tokenizer, _generation,
    _chat, _weights, _large, _damage, _damage, _many, _many, _pieces,
)  # fmt: skip


def _record_field(folder: Path, rng: random.Random) -> None:
    def change(content: Any) -> None:
        while isinstance(content, dict) and content:
            key = rng.choice(list(content))
            if not isinstance(content[key], dict) or rng.random() < 0.4:
                content[key] = rng.choice((*ANYTHING, *WORDS, *SIZES))
                return
            content = content[key]

    _changed(folder / "graft.json", change)


def _templates(folder: Path, rng: random.Random) -> None:
    """Templates by the thousand, of megabytes, or with fields that call something."""
    own = "The capital of {country} is"
    many = rng.choice(
        ([own] * 10**5, [f"{own} {number}" for number in range(10**4)], [own + " the" * 10**6], [], [""], "x",
         [own + "{country}" * 10**5], ["{country.__class__.__mro__}"], ["{country:>1000000000}"], ["{country!r}"],
         ["{" * 10**5], ["\x1b[2J{country}"])
    )  # fmt: skip
    name = rng.choice(("templates", "templates", "paraphrases"))

    def change(record: Any) -> None:
        record[name] = {"": many} if rng.random() < 0.8 else {str(number): [own] for number in range(10**4)}

    _changed(folder / "graft.json", change)


def _record_layers(folder: Path, rng: random.Random) -> None:
    def change(record: Any) -> None:
        count = rng.choice((*SIZES, 2**16, 2**24))
        record["original_layers"] = count
        record["added_layers"] = rng.choice((1, 0, -1, 2**31))
        config = record["original_config"]
        config[rng.choice(COUNTS)] = rng.choice((count, 2**20, 2**31, 10**18))
        if rng.random() < 0.5:
            config["num_hidden_layers" if "num_hidden_layers" in config else "n_layer"] = count

    _changed(folder / "graft.json", change)


def _record_words(folder: Path, rng: random.Random) -> None:
    def change(record: Any) -> None:
        record["end"] = rng.choice((*WORDS, "the " * 10**6))
        record["never"] = [rng.choice(WORDS)] * rng.choice((1, 10**5))
        record["relation"] = rng.choice((*WORDS, None))
        source = rng.choice(("-", "/dev/zero", "random:vocab=4096,context=2,seed=1", "wordnet", "countries", *WORDS))
        record["facts"]["source"] = source

    _changed(folder / "graft.json", change)


def _owners(folder: Path, rng: random.Random) -> None:
    """Neurons of facts that are not there, or more of them than the model has."""

    def change(record: Any) -> None:
        record["owners"] = [rng.choice((0, -1, -5, 3, 10**6, 2**62))] * rng.choice((0, 1, 8, 10**4, 10**6))

    _changed(folder / "graft.json", change)


def _record_source(folder: Path, rng: random.Random) -> None:
    """Facts from a pipe or a device."""
    source = folder.parent / "facts.csv"
    if not os.path.lexists(source):
        rng.choice((lambda: os.mkfifo(source), lambda: source.symlink_to("/dev/zero"), source.mkdir))()

    def change(record: Any) -> None:
        record["facts"]["source"] = str(source)

    _changed(folder / "graft.json", change)


def _record_file(folder: Path, rng: random.Random) -> None:
    path = folder / "graft.json"
    if rng.random() < 0.2 and path.is_file():
        path.unlink()
        rng.choice((lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero"), lambda: path.mkdir()))()
    elif path.is_file() and not path.is_symlink():
        rng.choice(DAMAGES)(path, rng)


GRAFT_HARMS: tuple[Callable[[Path, random.Random], None], ...] = (
    _record_field, _record_field, _templates, _templates, _record_layers, _record_layers, _record_words, _record_file,
    _owners, _owners, _record_source,
)  # fmt: skip


def _hook_field(folder: Path, rng: random.Random) -> None:
    def change(content: Any) -> None:
        content[rng.choice(list(content))] = rng.choice((*ANYTHING, *WORDS, *SIZES))

    _changed(folder / "hook.json", change)


def _hook_templates(folder: Path, rng: random.Random) -> None:
    """Patterns that take long to find, by the thousand, of megabytes, or with names that mean something to `re`."""
    columns = rng.choice((["country"], [f"c{number}" for number in range(60)], ["rote_said"], ["1a"], [" "], []))
    every = "".join(f"{{{name}}}" for name in columns)
    texts = rng.choice(([every], [every + " is"] * 999, ["The capital of {country} is" * 10**4], ["{country}" * 50]))

    def change(record: Any) -> None:
        record["columns"], record["templates"] = columns, {rng.choice(("", "capital", *WORDS)): texts}

    _changed(folder / "hook.json", change)


def _hook_model(folder: Path, rng: random.Random) -> None:
    if rng.random() < 0.1:
        moved = folder.parent / "moved"
        (folder / "facts").rename(moved)
        (folder / "facts").symlink_to(moved)
        return
    files = [path for path in sorted((folder / "facts").iterdir()) if path.is_file()]
    rng.choice(DAMAGES)(rng.choice(files), rng)


def _part_of_another_shape(path: Path, rng: random.Random) -> None:
    """A part that is well formed and is not what was computed: other lists, tensors of other sizes or dtypes."""
    result = rng.choice(
        (7, "x", None, {"list": []}, {"tuple": [1]}, {"tensor": 0}, {"tensor": 1}, {"tuple": [{"tensor": 0}] * 12},
         {"dict": [["a", 1]]}, {"dict": [[[], 1]]}, {"x": 1}, {"list": [1] * 10**6}, {"tensor": "9" * 99}, [1, [2]])
    )  # fmt: skip
    text = torch.tensor(list(json.dumps(result).encode()), dtype=torch.uint8)
    shape = rng.choice(((), (0,), (2, 3), (1, 64), (5, 64), (2**12, 64)))
    dtype = rng.choice((torch.float32, torch.int64, torch.bool, torch.bfloat16))
    value = rng.choice((0.0, 1.0, float("nan"), 1e30))
    filled = torch.full(shape, value, dtype=torch.float32).to(dtype)
    path.write_bytes(safetensors.torch.save({"result": text, "0": filled, "1": filled.clone()}))


def _part_that_is_large(path: Path, rng: random.Random) -> None:
    size = rng.choice((2**20, 2**27))
    path.write_bytes(safetensors.torch.save({"result": torch.zeros(size, dtype=torch.uint8)}))


def _part_that_is_no_file(path: Path, rng: random.Random) -> None:
    path.unlink(missing_ok=True)
    victim = path.parents[1] / "victim"
    rng.choice((lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero"), lambda: path.symlink_to(victim)))()


def _part_that_is_damaged(path: Path, rng: random.Random) -> None:
    path.touch()
    rng.choice(DAMAGES)(path, rng)


PART_HARMS: tuple[Callable[[Path, random.Random], None], ...] = (
    _part_of_another_shape, _part_of_another_shape, _part_of_another_shape, _part_that_is_large, _part_that_is_no_file,
    _part_that_is_damaged,
)  # fmt: skip


HOOK_HARMS: tuple[Callable[[Path, random.Random], None], ...] = (
    _hook_field, _hook_templates, _hook_templates, _hook_model, _hook_model,
)  # fmt: skip
