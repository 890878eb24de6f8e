"""What an audit did to model folders, each under the watch: rejected or harmless, in bounded time and memory.

`hostile.strangers` generates more of the same; benchmarks/hostile.py runs thousands.
"""

from __future__ import annotations

import errno
import json
import lzma
import os
import shlex
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import safetensors.torch
import torch

import rote
from hostile.strangers import FACTS, WORDS, StrangersFolders, rewrite_words
from hostile.watch import watched
from rote.charts import Bar, BarChart
from rote.charts.drawing import write_chart
from rote.cli import main
from rote.errors import CheckFailed, WriteFailed, disk_error
from rote.folders import read_folder
from rote.report.reporting import commands_of

Harm = Callable[[Path], None]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    built = rote.build(FACTS, "dana2025.theorem1", dim=5, head_dim=5, heads=1)  # sizes that the theorem is about
    return Path(built.save(tmp_path_factory.mktemp("whole") / "model"))


class Case:
    """One folder with one thing wrong, and one command that reads it."""

    def __init__(self, whole: Path, harm: Harm, words: tuple[str, ...]) -> None:
        self.name, self._whole, self._harm, self._words = "case", whole, harm, words
        self.code: int | None = None

    def bad(self, rng, given):
        folder = given / "model"
        shutil.copytree(self._whole, folder)
        self._harm(folder)
        words = [word.format(folder=folder, given=given) for word in self._words]

        def attempt() -> bool:
            self.code = main(words)
            return self.code != 2

        return attempt


VERIFY = ("verify", "{folder}", FACTS)
EXPORT = ("export", "{folder}", "--to", "torch", "-o", "out")
PAGE = ("report", "{folder}", "-o", "{given}/report.html")
REPORT = (*PAGE, "--markdown", "{given}/files", "--figures", "svg")


def config(**values: object) -> Harm:
    def harm(folder: Path) -> None:
        content = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**content, **values}))

    return harm


def spec(**values: object) -> Harm:
    def harm(folder: Path) -> None:
        content = json.loads((folder / "config.json").read_text())
        config(spec={**content["spec"], **values})(folder)

    return harm


def certificate(**values: object) -> Harm:
    def harm(folder: Path) -> None:
        content = json.loads((folder / "certificate.json").read_text())
        (folder / "certificate.json").write_text(json.dumps({**content, **values}))

    return harm


def facts_from(source: str, make: Callable[[Path], object] | None = None) -> Harm:
    def harm(folder: Path) -> None:
        path = folder.parent / "facts.csv"
        if make is not None:
            make(path)
        config(facts={"source": source.format(path=path)})(folder)

    return harm


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(6 * 2**30)


def weights(value: float) -> Harm:
    def harm(folder: Path) -> None:
        tensors = safetensors.torch.load_file(folder / "model.safetensors")
        full = {name: torch.full_like(tensor, value) for name, tensor in tensors.items()}
        safetensors.torch.save_file(full, folder / "model.safetensors")

    return harm


def zeros_of_gigabytes(folder: Path) -> None:
    """600 KB that unpack to 8 GB."""
    stream = lzma.compress(bytes(2**27), format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}])
    packed = torch.frombuffer(bytearray(stream), dtype=torch.uint8)
    safetensors.torch.save_file({"packed.places": packed, "packed.values": packed[:0]}, folder / "model.safetensors")
    sizes = {"architecture": "deep-relu", "vocab": 6, "context": 2, "width": 1024, "word_bits": 20}
    config(spec={**sizes, "layers_before": 0, "layers_after": 1023})(folder)


def overlapping(folder: Path) -> None:
    """Tensors that share their bytes, so that a small file says it holds a large model."""
    data = bytes(2**20)
    header = {f"t{n}": {"dtype": "F32", "shape": [2**18], "data_offsets": [0, 2**20]} for n in range(2**14)}
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    spec(heads=2**20, layers=2**6)(folder)


def named(**facts: object) -> Harm:
    """Facts of a source, stated with these values."""
    return config(facts={"source": FACTS, **facts})


def million_names(folder: Path) -> None:
    config(**{f"x{number}": 1 for number in range(10**6)})(folder)


def half_a_character(folder: Path) -> None:
    rewrite_words(folder, lambda text: text.replace('"0"', '"\\ud800"'))


def linked(name: str) -> Harm:
    def harm(folder: Path) -> None:
        (folder / name).rename(folder.parent / "secret")
        (folder / name).symlink_to("../secret")

    return harm


REJECTED: dict[str, tuple[Harm, tuple[str, ...]]] = {
    "2^31 layers": (spec(layers=2**31), VERIFY),
    "2^31 heads": (spec(heads=2**31), VERIFY),
    "2^40 heads and layers": (spec(heads=2**20, layers=2**20), VERIFY),
    "zeros of gigabytes": (zeros_of_gigabytes, VERIFY),
    "facts from a pipe": (facts_from("{path}", os.mkfifo), ("verify", "{folder}")),
    "facts from a hole of 6 GB": (facts_from("{path}", sparse), ("verify", "{folder}")),
    "facts from a device": (facts_from("{path}", lambda path: path.symlink_to("/dev/zero")), ("recall", "{folder}")),
    "facts from standard input": (facts_from("-"), ("verify", "{folder}")),
    "facts from a large generator": (facts_from("random:vocab=4096,context=2"), ("verify", "{folder}")),
    "facts from too many contexts": (facts_from("random:vocab=16777216,context=65536"), ("inspect", "{folder}")),
    "architecture that is a list": (spec(architecture=["attention-only"]), VERIFY),
    "provenance that is a list": (config(provenance=[1]), PAGE),
    "provenance that is null": (config(provenance=None), PAGE),
    "half a character": (half_a_character, VERIFY),
    "a certificate of no facts": (certificate(facts=0), PAGE),
    "a certificate of no parameters": (certificate(parameters=0), PAGE),
    "templates by the hundred thousand": (
        config(facts={"source": FACTS, "templates": ["{key 1} {key 2} is"] * 10**5}),
        EXPORT,
    ),
    "a template of megabytes": (
        config(facts={"source": FACTS, "templates": ["{key 1} {key 2} is" + " the" * 10**6]}),
        EXPORT,
    ),
    "changes by the hundred thousand": (
        config(facts={"source": FACTS, "changes": [{"key": ["1", "2"], "answer": "3"}] * 150_000}),
        ("verify", "{folder}"),
    ),
    "tensors that share bytes": (overlapping, VERIFY),
    "notes of a million numbers": (named(notes=[1] * 10**6), VERIFY),
    "notes of five million numbers": (named(notes=[1] * 5_000_000), VERIFY),
    "templates of a million numbers": (named(templates=[1] * 10**6), EXPORT),
    "columns of a million lists": (named(key_columns=[[]] * 10**6), VERIFY),
    "changes that are none": (named(changes=[{"a": []}] * 2**16), VERIFY),
    "a million unknown names": (million_names, VERIFY),
    "a million lists": (config(provenance=[[]] * 10**6), VERIFY),
    "a configuration that is a link": (linked("config.json"), VERIFY),
    "tensors that are a link": (linked("model.safetensors"), VERIFY),
    "a certificate that is a link": (linked("certificate.json"), VERIFY),
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_is_rejected_costs_little_and_leaves_nothing(name, whole, tmp_path):
    case = Case(whole, *REJECTED[name])
    verdict = watched(case, 0, tmp_path / "scratch")
    assert verdict.flaws == ()
    assert case.code == 2


HARMLESS: dict[str, tuple[Harm, tuple[str, ...], int]] = {
    "weights of nan in a report and its files": (weights(float("nan")), REPORT, 0),
    "infinite weights in a report": (weights(float("inf")), PAGE, 0),
    "the largest weights in a report": (weights(3.4e38), PAGE, 0),
    "weights of nan against themselves": (weights(float("nan")), ("diff", "{folder}", "{folder}"), 0),
    "infinite weights against themselves": (weights(float("inf")), ("diff", "{folder}", "{folder}"), 0),
    "a guarantee that is a lie": (certificate(guaranteed=10**6), VERIFY, 1),
    "rounding that is a lie": (certificate(margin_rounding=9e-4), VERIFY, 1),
    "a result that nobody proved": (certificate(meets="nobody.theorem1"), VERIFY, 1),
    "words that repaint a terminal": (
        config(
            facts={"source": FACTS, "key_columns": [WORDS[0], WORDS[3]], "answer_column": WORDS[2], "licence": WORDS[1]}
        ),
        PAGE,
        0,
    ),
    "a vocabulary that repaints a terminal": (
        lambda folder: rewrite_words(folder, lambda _: json.dumps([f"{number}{WORDS[0]}" for number in range(6)])),
        ("ask", "{folder}", f"1{WORDS[0]}", f"2{WORDS[0]}"),
        0,
    ),
    "a source that repaints a terminal": (config(facts={"source": WORDS[0]}), ("verify", "{folder}"), 2),
    "a measure that repaints a terminal": (certificate(measured={WORDS[0]: WORDS[2]}), VERIFY, 0),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_read_does_no_harm(name, whole, tmp_path):
    harm, words, code = HARMLESS[name]
    case = Case(whole, harm, words)
    verdict = watched(case, 0, tmp_path / "scratch")
    # Reports are written into the folder of the case, which the watch counts for rejected input alone.
    assert verdict.flaws == ()
    assert case.code == code


@pytest.mark.parametrize("number", range(12))
def test_generated_folders_of_strangers(number, strangers, tmp_path):
    assert watched(strangers, number, tmp_path / "scratch").flaws == ()


@pytest.fixture(scope="module")
def strangers(tmp_path_factory) -> StrangersFolders:
    return StrangersFolders(tmp_path_factory.mktemp("strangers"))


def test_commands_to_copy_are_words(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "a; touch b")
    config(provenance={"method": "m; touch FILE #", "seed": 3}, facts={"source": "$(id) x.csv"})(
        tmp_path / "a; touch b"
    )
    commands = [shlex.split(line) for line in commands_of(read_folder(tmp_path / "a; touch b"))]
    assert all(words[0] == "rote" and ";" not in words and "touch" not in words for words in commands)
    assert "m; touch FILE #" in commands[0]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("word", [word for word in WORDS if len(word) < 100])
def test_words_in_a_figure_are_drawn_and_nothing_else(word, tmp_path):
    path = write_chart(BarChart(word, word, [Bar(word, 1.0, says=word)]), tmp_path / "chart.svg")
    text = path.read_text(encoding="utf-8")
    assert {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}.isdisjoint({"script"})
    seen = Tags()
    seen.feed(text)
    assert "script" not in seen.tags


def test_a_report_is_written_beside_what_was_planted(whole, tmp_path):
    (tmp_path / "victim").write_text("precious")
    out = tmp_path / "out"
    out.mkdir()
    for name in (".report.html.part", "report.html"):
        (out / name).symlink_to("../victim")
    assert main(["report", str(whole), "-o", str(out / "report.html")]) == 0
    assert (tmp_path / "victim").read_text() == "precious"
    assert not (out / "report.html").is_symlink()


@pytest.mark.parametrize(
    "make", [lambda path: path.symlink_to("/"), os.mkfifo, Path.touch], ids=["link", "pipe", "file"]
)
def test_parts_of_a_build_are_not_kept_in_what_was_planted(make, tmp_path, capsys):
    make(tmp_path / ".out.resume")
    assert main(["build", FACTS, "-o", str(tmp_path / "out")]) == 2
    assert "is no folder of rote's; remove it" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [".out.resume"]


def test_the_owner_of_a_run_is_not_written_through_a_link(tmp_path):
    from rote.experiments.ledgers.lock import alone

    (tmp_path / "victim").write_text("precious")
    run = tmp_path / "run"
    run.mkdir()
    (run / ".owner.json").symlink_to("../victim")
    with alone(run):
        assert json.loads((run / ".owner.json").read_text())["process"] == os.getpid()
    os.mkfifo(run / ".owner.json")
    with alone(run):
        pass
    assert (tmp_path / "victim").read_text() == "precious"
    assert not (run / ".owner.json").exists()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        Exception("No space left on device (os error 28)"),
        RuntimeError("[enforce fail at inline_container.cc] write failed: No space left on device"),
    ],
)
def test_a_full_disk_is_named_and_no_library_is_blamed(error, whole, tmp_path, monkeypatch):
    def break_off(*_):
        raise error

    assert disk_error(error) is not None
    monkeypatch.setattr("rote.export.targets.torch_state.write_vocabulary", break_off)
    with pytest.raises(WriteFailed, match=r"there: cannot be written \(No space left on device; free some space"):
        rote.export_model(whole, "torch", tmp_path / "there", FACTS)
    monkeypatch.setattr("rote.export.targets.torch_state.write_vocabulary", _other_mistake)
    with pytest.raises(CheckFailed, match="cannot write or run this model"):
        rote.export_model(whole, "torch", tmp_path / "there", FACTS)
    assert list(tmp_path.iterdir()) == []


def _other_mistake(*_):
    raise RuntimeError("a library's own")


def test_a_full_disk_in_a_suite_is_not_blamed_on_sizes(tmp_path, monkeypatch):
    def break_off(*_, **__):
        raise WriteFailed("here: cannot be written (No space left on device; free some space)")

    monkeypatch.setattr("rote.experiments.suite._made", break_off)
    with pytest.raises(WriteFailed, match="No space left"):
        rote.suite(FACTS, tmp_path / "suite", loads=[0.5], shapes=[(4, 4)])
    assert list(tmp_path.iterdir()) == []
