"""Folders and exports as somebody who means harm would make them: whole, well formed, and wrong in one place or two.

Damaged bytes are in `model_folders`. Here the structure is kept, so that readers get past the first check.
"""

from __future__ import annotations

import json
import lzma
import os
import random
import shutil
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

import rote
from hostile.canary import plant_bytecode, plant_source
from hostile.model_folders import DAMAGES
from hostile.texts import damaged
from hostile.watch import Attempt
from rote.cli import main
from rote.export.exported_files import ExportedFiles
from rote.files import held, packed_xz
from rote.folders.layout import VOCABULARY

FACTS = "random:vocab=6,context=2,facts=9,seed=1"
CAPITALS = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo", ("money", "Japan"): "Yen"}
WORDS = (
    "\x1b[2K\rverified", "\x1b]0;title\x07", "\x9b2J", "\u202edeifirev\u202c", "\u2066x\u2069", "$\\frac{1}{$", "$x$",
    "<script>alert(1)</script>", "--><script>alert(1)</script><!--", "=1+1", "@SUM(A1)", "-2+3|cmd", "a|b", "`id`",
    "$(touch x)", "m; touch FILE #", "'; touch x; '", "\ufeff", "\u200b", "x" * 5000, "\x00", "a\nb", "[a](http://x)", "![a](http://x)",
)  # fmt: skip
SIZES = (0, -1, 1, 2**16, 2**31, 2**31 - 1, 2**40, 2**40 - 1, 2**62, 10**18, 1.5, True, "6", None, [6], {"a": 6})
ANYTHING: tuple[Any, ...] = (
    None, [], {}, [[]], True, 0, -1, 2**63 - 1, 1e308, -1e308, "", "x", [1, 2], {"a": {"b": {}}}, ["\x1b[31m"],
    {"method": "m; touch FILE #", "seed": "$(id)"}, {"\u202e": "\x1b[2J"},
)  # fmt: skip


class StrangersFolders:
    """Model folders, read by every command that reads one."""

    name = "strangers' folders"

    def __init__(self, store: Path) -> None:
        self._whole = [
            Path(rote.build(CAPITALS).save(store / "words")),
            Path(rote.build(FACTS, "dana2025.theorem1").save(store / "numbers")),
            Path(rote.build(FACTS, "kajitsuka2025.theorem4_1").save(store / "packed")),
            Path(rote.build(FACTS, "nichani2024.trained").save(store / "memory")),
            Path(rote.build(FACTS, "rote.memory_layer").save(store / "layer")),
            Path(rote.build(FACTS, dtype="int4").save(store / "grid")),
        ]

    def harmed(self, rng: random.Random, folder: Path) -> None:
        """Write a folder that means harm."""
        shutil.copytree(rng.choice(self._whole), folder)
        for _ in range(rng.choice((1, 1, 2, 3))):
            rng.choice(HARMS)(folder, rng)

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        folder = given / "model"
        self.harmed(rng, folder)
        words = rng.choice(COMMANDS) if rng.random() < 0.99 else DRAWING
        words = [word.format(folder=folder, given=given, other=rng.choice(self._whole)) for word in words]
        (given / "victim").write_text("precious")
        if f"{given}/changes.csv" in words:
            (given / "changes.csv").write_bytes(_changes(rng))

        def attempt() -> bool:
            code = main(words)
            if code not in (0, 1, 2):
                raise AssertionError(f"{words}: exit code {code}")
            if (given / "victim").read_text() != "precious":
                raise AssertionError(f"{words}: a file elsewhere was written")
            return code != 2

        return attempt


COMMANDS: tuple[list[str], ...] = (
    ["verify", "{folder}"], ["verify", "{folder}", FACTS], ["verify", "{folder}", FACTS, "--json"],
    ["ask", "{folder}", "capital", "France"], ["ask", "{folder}", "1", "2", "--json"], ["recall", "{folder}"],
    ["recall", "{folder}", FACTS, "--json"], ["inspect", "{folder}", "1", "2"], ["inspect", "{folder}"],
    ["report", "{folder}", "-o", "{given}/out/report.html"],
    ["export", "{folder}", "--to", "torch", "-o", "out"],
    ["edit", "{folder}", "--set", "capital France=Lyon", "-o", "out"],
    ["edit", "{folder}", "--forget", "1 2", "--facts", FACTS, "-o", "out", "--json"],
    ["edit", "{folder}", "{given}/changes.csv", "--forget-as", "erased", "-o", "out"],
    ["recall", "{folder}", "--as", "int4"], ["recall", "{folder}", FACTS, "--as", "Q8_0", "--json"],
    ["diff", "{folder}", "{other}"], ["diff", "{other}", "{folder}", "--json"],
    ["diff", "{folder}", "{other}", "--facts", FACTS],
)  # fmt: skip


def _changes(rng: random.Random) -> bytes:
    """A table of changes, whole or damaged."""
    rows = [("set", "capital", "France", "Lyon"), ("add", "capital", rng.choice(WORDS), rng.choice(WORDS)),
            ("forget", "money", "Japan", ""), (rng.choice(WORDS), "1", "2", "3")]  # fmt: skip
    text = "\n".join(",".join(row) for row in (("change", "relation", "country", "answer"), *rows))
    data = text.encode("utf-8", "replace")
    return damaged(data, rng) if rng.random() < 0.5 else data


DRAWING = ["report", "{folder}", "-o", "{given}/report.html", "--markdown", "{given}/out", "--figures", "svg"]
"""Drawn by matplotlib, which takes longer than a hundred of the others."""


def read_where_whole(path: Path) -> Any:
    """What a file holds, where no other harm was done to it before."""
    plain = path.is_file() and not path.is_symlink() and path.stat().st_size < 2**26
    try:
        return json.loads(path.read_text(encoding="utf-8")) if plain else {}
    except (OSError, ValueError, RecursionError):
        return {}


def write_where_whole(path: Path, content: Any) -> None:
    """Write a JSON file, where it is still one of the folder's own."""
    if path.is_file() and not path.is_symlink():
        path.write_text(json.dumps(content), encoding="utf-8")


def _spec(folder: Path, rng: random.Random) -> None:
    config = read_where_whole(folder / "config.json")
    if isinstance(config, dict) and isinstance(config.get("spec"), dict) and config["spec"]:
        for _ in range(rng.choice((1, 1, 2))):
            config["spec"][rng.choice(list(config["spec"]))] = rng.choice(SIZES)
        if rng.random() < 0.1:
            config["spec"]["architecture"] = rng.choice(ANYTHING)
    write_where_whole(folder / "config.json", config)


def _field(folder: Path, rng: random.Random) -> None:
    name = rng.choice(("config.json", "config.json", "certificate.json"))
    content = read_where_whole(folder / name)
    if isinstance(content, dict) and content:
        content[rng.choice(list(content))] = rng.choice((*ANYTHING, *WORDS))
    write_where_whole(folder / name, content)


def _lie(folder: Path, rng: random.Random) -> None:
    certificate = read_where_whole(folder / "certificate.json")
    if isinstance(certificate, dict):
        certificate[rng.choice(("facts", "parameters", "recalled", "recallable", "guaranteed"))] = rng.choice(
            SIZES[:10]
        )
        if rng.random() < 0.5:
            certificate["margin_rounding"] = rng.choice((0.0, 1e-9, -1.0, 1e308))
            certificate["measured"] = rng.choice(({}, {"\x1b[2K": "\u202e"}, {"a": [[[]]] * 50}, {"x" * 3000: 1}))
    write_where_whole(folder / "certificate.json", certificate)


def _source(folder: Path, rng: random.Random) -> None:
    """Facts from a pipe, a device, standard input, a hole of gigabytes, or a generator of millions."""
    given = folder.parent
    kind = rng.randrange(9)
    source = f"{given}/facts.csv"
    if kind == 0 and not os.path.lexists(source):
        os.mkfifo(source)
    elif kind == 1 and not os.path.lexists(source):
        with open(source, "wb") as file:
            file.truncate(6 * 2**30)
    elif kind == 2 and not os.path.lexists(source):
        os.symlink("/dev/zero", source)
    else:
        source = rng.choice(
            ("-", "/dev/zero", "/dev/stdin", "/proc/self/mem", "random:vocab=4096,context=2,seed=1",
             "random:vocab=16777216,context=65536", "random:vocab=16777216,context=1,facts=16777216",
             "random:kind=vectors,examples=16777216,context=8,dim=2,classes=2", "wordnet", "countries",
             "random:kind=distributions,vocab=2048,context=2,facts=60000", "../" * 50 + "etc/passwd.csv", *WORDS)
        )  # fmt: skip
    config = read_where_whole(folder / "config.json")
    if isinstance(config, dict):
        before = config.get("facts")
        config["facts"] = {**(before if isinstance(before, dict) else {}), "source": source}
    write_where_whole(folder / "config.json", config)


def rewrite_words(folder: Path, change: Callable[[str], str]) -> None:
    """Change the text of a folder's list of words, where no other harm was done to it before."""
    path = folder / VOCABULARY
    if path.is_symlink() or not path.is_file():
        return
    try:
        text = lzma.decompress(path.read_bytes()).decode("utf-8")
    except (lzma.LZMAError, ValueError):
        return
    path.write_bytes(packed_xz(change(text).encode("utf-8")))


def _words(folder: Path, rng: random.Random) -> None:
    def change(text: str) -> str:
        tokens = json.loads(text)
        for word in rng.sample(WORDS, rng.choice((1, 2, 4))):
            tokens[rng.randrange(len(tokens))] = word
        text = json.dumps(tokens)
        return text.replace('"', '"\\ud800', 1) if rng.random() < 0.1 else text

    with suppress(ValueError, TypeError, IndexError):
        rewrite_words(folder, change)


def _long_words(folder: Path, rng: random.Random) -> None:
    """Tokens, names and sources of a hundred thousand letters, which a table or a figure would be widened for."""
    long = rng.choice(("x" * 10**5, "word " * 20_000, "\u0301" * 50_000, "$" * 10**5, "a\n" * 50_000))

    def change(text: str) -> str:
        tokens = json.loads(text)
        for place in rng.sample(range(len(tokens)), min(len(tokens), rng.choice((1, 3, 9)))):
            tokens[place] = f"{long}{place}"
        return json.dumps(tokens)

    with suppress(ValueError, TypeError):
        rewrite_words(folder, change)
    if rng.random() < 0.5:
        config = read_where_whole(folder / "config.json")
        if isinstance(config, dict) and isinstance(config.get("facts"), dict):
            config["facts"]["key_columns"] = [f"{long}1", f"{long}2"]
            config["facts"][rng.choice(("answer_column", "licence", "source"))] = long
            config["provenance"] = {"method": long, "seed": 1, long: long}
        write_where_whole(folder / "config.json", config)
        certificate = read_where_whole(folder / "certificate.json")
        if isinstance(certificate, dict):
            certificate["measured"] = {long: long}
        write_where_whole(folder / "certificate.json", certificate)


def _columns(folder: Path, rng: random.Random) -> None:
    config = read_where_whole(folder / "config.json")
    if isinstance(config, dict) and isinstance(config.get("facts"), dict):
        config["facts"]["key_columns"] = [rng.choice(WORDS), rng.choice(WORDS)]
        config["facts"]["answer_column"] = rng.choice(WORDS)
        config["facts"]["licence"] = rng.choice(WORDS)
        config["provenance"] = {"method": rng.choice(WORDS), "seed": rng.choice(ANYTHING), "source": rng.choice(WORDS)}
    write_where_whole(folder / "config.json", config)


def _sentences(folder: Path, rng: random.Random) -> None:
    """Templates and changes of facts by the thousand, of megabytes, or with fields that call something."""
    own = "{relation} of {country} is"
    templates = rng.choice(
        ([own] * 10**5, [f"{own} {number}" for number in range(100)], [own + " the" * 10**6], [own, ""], [own * 1000],
         ["{relation.__class__} {country!r:>1000000000}"], ["{" * 10**5], ["\x1b[2J{relation}{country}"], "x", [7])
    )  # fmt: skip
    change = rng.choice(({"key": ["capital", "France"], "answer": "x"}, {"key": ["1", "2"], "forget": "erased"}, {}))
    config = read_where_whole(folder / "config.json")
    if isinstance(config, dict) and isinstance(config.get("facts"), dict):
        config["facts"]["templates"] = templates
        config["facts"]["changes"] = [change] * rng.choice((0, 0, 1, 10**5, 2 * 10**5))
    write_where_whole(folder / "config.json", config)


def _many(folder: Path, rng: random.Random) -> None:
    """Values, lists or names by the million, few of them what they should be."""
    count = rng.choice((10**4, 10**6, 5 * 10**6))
    values = rng.choice(([1] * count, ["x"] * count, [[]] * min(count, 10**6), [{"a": []}] * min(count, 2**16)))
    content = read_where_whole(folder / (name := rng.choice(("config.json", "config.json", "certificate.json"))))
    if not isinstance(content, dict) or not content:
        return
    kind = rng.randrange(4)
    if kind == 0:
        content |= {f"x{number}": 1 for number in range(min(count, 10**6))}
    elif kind == 1 and isinstance(content.get("facts"), dict):
        content["facts"][rng.choice(("notes", "templates", "changes", "key_columns", "reading"))] = values
    elif kind == 2 and isinstance(content.get("spec"), dict):
        content["spec"][rng.choice(list(content["spec"]))] = values
    else:
        content[rng.choice(list(content))] = values
    write_where_whole(folder / name, content)


def _tiles(folder: Path, rng: random.Random) -> None:
    """Tensors that share bytes, leave some out, or are there by the hundred thousand."""
    path = folder / "model.safetensors"
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 2**22:
        return
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    with suppress(ValueError, AttributeError):  # another harm was here before
        header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
        first = {"dtype": "U8", "shape": [len(body)], "data_offsets": [0, len(body)]}
        count = rng.choice((1, 100, 10**5))
        for number in range(count):
            entry = rng.choice((first, {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}))
            header[f"t{number}"] = entry
        if rng.random() < 0.3:
            body += bytes(rng.choice((1, 1000)))
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def _weights(folder: Path, rng: random.Random) -> None:
    path = folder / "model.safetensors"
    if path.is_symlink() or not path.is_file():
        return
    try:
        weights = safetensors.torch.load_file(path)
    except Exception:  # noqa: BLE001  (another harm was here before)
        return
    value = rng.choice((float("nan"), float("inf"), -float("inf"), 3.4e38, -3.4e38, 0.0, 1e-45))
    for name, tensor in weights.items():
        if tensor.is_floating_point() and rng.random() < 0.5:
            weights[name] = torch.full(tensor.shape, value, dtype=torch.float64).to(tensor.dtype)
    safetensors.torch.save_file(weights, path)


@cache
def _zeros(count: int) -> bytes:
    return lzma.compress(bytes(count), format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}])


def _bomb(folder: Path, rng: random.Random) -> None:
    """Kilobytes that say they are gigabytes of zeros."""
    layers = rng.choice((10, 10**4, 10**6, 2**23))
    packed = torch.frombuffer(bytearray(_zeros(rng.choice((10**3, 10**6, 10**8 // 2)))), dtype=torch.uint8)
    config = read_where_whole(folder / "config.json")
    if isinstance(config, dict) and not (folder / "model.safetensors").is_symlink():
        config["spec"] = {
            "architecture": "deep-relu", "vocab": 6, "context": 2, "width": rng.choice((4, 16, 512)),
            "layers_before": 1, "layers_after": layers, "word_bits": 20,
        }  # fmt: skip
        write_where_whole(folder / "config.json", config)
        if (folder / "model.safetensors").is_file():
            streams = {"packed.places": packed, "packed.values": packed[:100].clone()}
            safetensors.torch.save_file(streams, folder / "model.safetensors")


def _planted(folder: Path, rng: random.Random) -> None:
    """Links and pipes where reports are about to be written."""
    out = folder.parent / "out"
    out.mkdir(exist_ok=True)
    for name in (".report.html.part", "report.html", ".report.md.part", "report.md", ".owner.json"):
        if not os.path.lexists(out / name):
            rng.choice((lambda path: path.symlink_to("../victim"), os.mkfifo))(out / name)


def _damage(folder: Path, rng: random.Random) -> None:
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink()]
    if files:
        try:
            rng.choice(DAMAGES)(rng.choice(files), rng)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # another harm was here before
            return


HARMS: tuple[Callable[[Path, random.Random], None], ...] = (
    _spec, _spec, _field, _field, _lie, _source, _source, _words, _words, _columns, _weights, _bomb, _planted, _damage,
    _sentences, _many, _tiles, _long_words,
)  # fmt: skip


class StrangersExports:
    """Exports, verified: none of what they hold may run."""

    name = "exports"
    targets = (
        "torch",
        "huggingface",
        "llama",
        "gpt2",
        "transformerlens",
        "lm-eval",
        "gguf",
        "gguf Q8_0",
        "task",
        "onnx",
    )
    """Every target that `rote verify` takes, one in a format of few bits, and `task`: facts without a model."""

    def __init__(self, store: Path, targets: tuple[str, ...] = targets) -> None:
        """Export a model to each target below `store`."""
        task = rote.facts(FACTS)
        built, coarse = rote.build(task), rote.build(task, dtype="int8")
        self._whole = []
        for name in targets:
            target, _, form = name.partition(" ")
            if name == "task":
                written = rote.export_task(task, store / name)
            else:
                written = rote.export_model(coarse if form else built, target, store / name, task, format=form or None)
            self._whole.append(Path(written.path))
        # Tracing a graph takes as long as forty of the others.
        self._chances = [1 if name == "onnx" else 3 for name in targets]

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        folder = given / "export"
        shutil.copytree(rng.choices(self._whole, self._chances)[0], folder)
        plant_source(given / "elsewhere" / "evil.py")
        for _ in range(rng.choice((1, 1, 2))):
            plain = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
            harms = [harm for suffix, harm in FILE_HARMS.items() if suffix in {path.suffix for path in plain}]
            (rng.choice(harms) if harms and rng.random() < 0.4 else rng.choice(EXPORT_HARMS))(folder, rng)
        if rng.random() < 0.7:
            restate(folder)
        words = ["verify", str(folder), FACTS, *(["--json"] if rng.random() < 0.2 else [])]

        def attempt() -> bool:
            code = main(words)
            if code not in (0, 1, 2):
                raise AssertionError(f"{words}: exit code {code}")
            return code != 2

        return attempt


def restate(folder: Path) -> None:
    """Have the certificate tell of the files as they are now, as somebody who means harm would."""
    certificate = read_where_whole(folder / "certificate.json")
    try:
        with held(folder) as opened:
            files = ExportedFiles.of(opened)
    except rote.RoteError:
        return
    if isinstance(certificate, dict):
        certificate["files"] = files.digests
        if "bytes" in certificate:
            certificate["bytes"] = files.bytes
    write_where_whole(folder / "certificate.json", certificate)


def _bytecode(folder: Path, rng: random.Random) -> None:
    for source in [*folder.glob("*.py"), *folder.glob("model/*.py")]:
        plant_bytecode(source, rng.random() < 0.5)


def _auto_map(folder: Path, rng: random.Random) -> None:
    elsewhere = folder.parent / "elsewhere"
    code = rng.choice((f"{elsewhere}--evil.Evil", "../elsewhere--evil.Evil", "linked--evil.Evil", "evil.Evil"))
    if not os.path.lexists(folder / "linked"):
        (folder / "linked").symlink_to(elsewhere)
    for path in [*folder.glob("config.json"), *folder.glob("model/config.json")]:
        config = read_where_whole(path)
        if isinstance(config, dict):
            config["auto_map"] = dict.fromkeys(
                ("AutoConfig", "AutoModel", "AutoModelForCausalLM", "AutoTokenizer"), code
            )
            config["model_type"] = rng.choice((config.get("model_type"), "evil"))
            write_where_whole(path, config)
    if rng.random() < 0.5:
        (folder / "linked").unlink()


def _tokenizer(folder: Path, rng: random.Random) -> None:
    elsewhere = folder.parent / "elsewhere"
    for path in [*folder.glob("tokenizer_config.json"), *folder.glob("model/tokenizer_config.json")]:
        config = read_where_whole(path)
        if isinstance(config, dict):
            config["auto_map"] = {"AutoTokenizer": [f"{elsewhere}--evil.Evil", None]}
            config["tokenizer_class"] = rng.choice(("Evil", "PreTrainedTokenizerFast", "BertTokenizer", 7, None))
            write_where_whole(path, config)


def _python(folder: Path, rng: random.Random) -> None:
    name = rng.choice(("load.py", "modeling_rote.py", "lm_eval_facts.py", "evil.py", "sitecustomize.py", "conftest.py"))
    plant_source(folder / rng.choice(("", "model/", "custom_generate/")) / name)


def _yaml(folder: Path, rng: random.Random) -> None:
    plant_source(folder / "evil.py")
    body = rng.choice(
        ("task: x\ncustom_dataset: !function evil.facts\n", "!!python/object/apply:os.system ['touch x']\n")
    )
    for path in [*folder.glob("*.yaml"), folder / "more.yaml"][: rng.choice((1, 2))]:
        path.write_text(body)


def _links(folder: Path, rng: random.Random) -> None:
    path = rng.choice(sorted(folder.rglob("*")))
    if (path.is_file() and not path.is_symlink()) or (path.is_dir() and not path.is_symlink()):
        moved = folder.parent / f"moved{rng.randrange(10**9)}"
        path.rename(moved)
        path.symlink_to(moved)


def _manifest(folder: Path, rng: random.Random) -> None:
    manifest = read_where_whole(folder / "export.json")
    if isinstance(manifest, dict) and manifest:
        name = rng.choice(list(manifest))
        manifest[name] = rng.choice((*ANYTHING, *StrangersExports.targets, "onnx.", 1e300, [[0, 2**62]], "float16"))
    write_where_whole(folder / "export.json", manifest)


def _statement(folder: Path, rng: random.Random) -> None:
    certificate = read_where_whole(folder / "certificate.json")
    if isinstance(certificate, dict) and certificate:
        name = rng.choice(list(certificate))
        certificate[name] = rng.choice((*ANYTHING, 1e9, 10**9, "\x1b[2K"))
    write_where_whole(folder / "certificate.json", certificate)


def _config(folder: Path, rng: random.Random) -> None:
    places = sorted([*folder.glob("*.json"), *folder.glob("model/*.json")])
    path = rng.choice([place for place in places if place.name != "certificate.json"])
    content = read_where_whole(path)
    if isinstance(content, dict) and content:
        content[rng.choice(list(content))] = rng.choice((*ANYTHING, *SIZES[:10], *WORDS))
    write_where_whole(path, content)


def _adapter(folder: Path, rng: random.Random) -> None:
    elsewhere = str(folder.parent / "elsewhere")
    extra = {
        "adapter_config.json": {"base_model_name_or_path": elsewhere, "auto_mapping": {"parent_library": "evil"}},
        "preprocessor_config.json": {"auto_map": {"AutoProcessor": "evil.Evil"}},
        "model.safetensors.index.json": {"weight_map": {"a": "../../etc/passwd"}},
    }
    name = rng.choice(list(extra))
    (folder / name).write_text(json.dumps(extra[name]))


def _inside(folder: Path, rng: random.Random) -> None:
    if (folder / "source").is_dir() and not (folder / "source").is_symlink():
        rng.choice((_spec, _field, _lie, _source, _words, _weights, _bomb, _damage))(folder / "source", rng)


def _any_file(folder: Path, rng: random.Random) -> None:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    if files:
        try:
            rng.choice(DAMAGES)(rng.choice(files), rng)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return


EXPORT_HARMS: tuple[Callable[[Path, random.Random], None], ...] = (
    _bytecode, _bytecode, _auto_map, _auto_map, _tokenizer, _python, _yaml, _links, _manifest, _statement, _config,
    _config, _adapter, _inside, _inside, _any_file, _any_file,
)  # fmt: skip


def _graph(folder: Path, rng: random.Random) -> None:
    """An ONNX file that is well formed and does something else, or names files elsewhere."""
    import onnx

    path = next(folder.glob("*.onnx"))
    try:
        model = onnx.load_from_string(path.read_bytes())
    except Exception:  # noqa: BLE001  (another harm was here before)
        return
    if not model.graph.node or not model.graph.initializer:
        return
    tensor, node = rng.choice(model.graph.initializer), rng.choice(model.graph.node)
    kind = rng.randrange(8)
    if kind == 0:
        tensor.raw_data = rng.choice((b"", b"\xff" * len(tensor.raw_data), tensor.raw_data[:-1], tensor.raw_data * 2))
    elif kind == 1:
        tensor.dims[:] = rng.choice(([], [2**62], [2**31, 2**31], [-1], [0], [1] * 2000))
    elif kind == 2:
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(
            key="location", value=rng.choice(("/dev/zero", "../../etc/passwd", "pipe", *WORDS[:4]))
        )
        tensor.ClearField("raw_data")
    elif kind == 3:
        node.op_type, node.domain = rng.choice(
            (("Evil", "evil"), ("Loop", ""), ("PyOp", "ai.onnx.contrib"), ("If", ""))
        )
    elif kind == 4:
        inner = onnx.helper.make_node("Identity", ["x"], ["y"])
        opsets = [onnx.helper.make_opsetid("", 20)]
        model.functions.append(onnx.helper.make_function(node.domain, node.op_type, ["x"], ["y"], [inner], opsets))
    elif kind == 5:
        model.graph.initializer.append(rng.choice(model.graph.initializer))
    elif kind == 6:
        model.opset_import[0].version = rng.choice((0, -1, 1, 2**62))
    else:
        model.metadata_props.add(key=rng.choice(WORDS[:4]), value="x" * 1000)
        model.graph.output[0].name = rng.choice(WORDS[:8])
    path.write_bytes(model.SerializeToString())


def _gguf(folder: Path, rng: random.Random) -> None:
    """A GGUF file whose counts lie, whose names or template are changed in place, or whose weights are no numbers."""
    path = next(folder.glob("*.gguf"))
    data = bytearray(path.read_bytes())
    kind = rng.randrange(4)
    if kind == 0:
        place = rng.choice((4, 8, 16))
        data[place : place + 8] = struct.pack("<Q", rng.choice((0, 1, 2**31, 2**40, 2**63, 2**64 - 1)))
    elif kind == 1:
        name = rng.choice(
            (b"general.architecture", b"tokenizer.ggml.tokens", b"tokenizer.chat_template", b".block_count")
        )
        at = data.find(name)
        if at >= 0:
            data[at + len(name) : at + len(name) + 12] = rng.randbytes(12)
    elif kind == 2:
        value = struct.pack("<f", rng.choice((float("nan"), float("inf"), -3.4e38)))
        data[-4 * rng.choice((1, 8, 64)) :] = value
    else:
        data = data[: rng.randrange(len(data))] if rng.random() < 0.5 else data + bytes(rng.choice((1, 10**6)))
    path.write_bytes(data)


def _lines(folder: Path, rng: random.Random) -> None:
    """Lines of facts that are others, no facts, or by the million."""
    path = next(folder.glob("*.jsonl"))
    lines = path.read_bytes().splitlines()
    row = {"prompt": rng.choice(WORDS), "answer": rng.choice(WORDS), "continuation": rng.choice(WORDS)}
    more = rng.choice(
        (json.dumps(row).encode(), b"{}", b"[" * 10**5, b'{"prompt": 1}', b"\xff", json.dumps([row]).encode())
    )
    lines[rng.randrange(len(lines)) if lines else 0 :] = [more] * rng.choice((1, 1, 2, 10**4))
    path.write_bytes(b"\n".join(lines))


FILE_HARMS = {".onnx": _graph, ".gguf": _gguf, ".jsonl": _lines}
"""What is done to the files of some targets alone."""
