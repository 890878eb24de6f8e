"""Model folders: complete or absent, read back identical, refused when anything is missing or is a pickle."""

from __future__ import annotations

import errno
import json
import lzma
import os
import pickle

import pytest
import safetensors.torch
import torch

import rote
from rote.errors import InputError
from rote.files import JSON, WORDS, packed_xz
from rote.folders import folder as folder_module
from rote.folders import read_folder, write_folder
from rote.tasks import Origin


def test_read_back_is_identical(folder, model, task):
    read = read_folder(folder)
    assert read.model.spec == model.spec
    assert read.model.vocabulary == model.vocabulary
    assert all(torch.equal(read.model.weights[name], tensor) for name, tensor in model.weights.items())
    assert torch.equal(read.model.logits(task.contexts), model.logits(task.contexts))
    assert read.certificate is not None
    assert read.certificate.recalled == task.facts


def test_folder_holds_four_files_and_no_pickle(folder):
    assert sorted(item.name for item in folder.iterdir()) == [
        "certificate.json", "config.json", "model.safetensors", "vocab.json.xz",
    ]  # fmt: skip
    config = json.loads((folder / "config.json").read_text())
    assert {"format", "spec", "dtype", "facts", "provenance", "versions"} == set(config)


def test_existing_folder_is_kept_unless_forced(folder, model):
    with pytest.raises(InputError, match="overwrite=True"):
        write_folder(folder, model, Origin(), {}, None)
    write_folder(folder, model, Origin(), {"method": "again"}, None, overwrite=True)
    assert read_folder(folder).provenance == {"method": "again"}
    assert [item.name for item in folder.parent.iterdir()] == ["model"]


def test_a_folder_that_is_no_model_is_never_replaced(tmp_path, model):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(InputError, match="not a model folder"):
        write_folder(tmp_path / "thesis", model, Origin(), {}, None, overwrite=True)
    assert (tmp_path / "thesis" / "chapter.tex").exists()


def test_interrupted_write_leaves_nothing(tmp_path, model, monkeypatch):
    def break_off(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(folder_module.safetensors.torch, "save", break_off)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "model", model, Origin(), {}, None)
    assert list(tmp_path.iterdir()) == []


def test_interrupted_replacement_keeps_the_old_model(folder, model, monkeypatch):
    def break_off(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folder_module.safetensors.torch, "save", break_off)
    with pytest.raises(InputError, match=r"model: cannot be written \(No space left on device; free some space"):
        write_folder(folder, model, Origin(), {}, None, overwrite=True)
    assert read_folder(folder).provenance == {"method": "by definition"}
    assert [item.name for item in folder.parent.iterdir()] == ["model"]


def test_missing_tensor_is_named(folder):
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    del weights["layers.0.value"]
    safetensors.torch.save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"'layers\.0\.value' is missing"):
        read_folder(folder)


def test_misshapen_and_foreign_tensors_are_all_named(folder):
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    weights["unembed"] = torch.zeros(3, 3)
    weights["extra"] = torch.zeros(1)
    safetensors.torch.save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"(?s)'unembed' has shape.*'extra' does not belong"):
        read_folder(folder)


@pytest.mark.parametrize("content", [b"", b"not tensors at all", b"\xff" * 64])
def test_unreadable_tensors(folder, content):
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        read_folder(folder)


def test_truncated_tensors(folder):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        read_folder(folder)


@pytest.mark.parametrize("name", ["model.pt", "weights.whatever"])
def test_a_pickle_is_refused_unread(tmp_path, name):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    (tmp_path / name).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="pickle"):
        read_folder(tmp_path / name)
    torch.save({"weight": torch.zeros(2)}, tmp_path / "saved")
    with pytest.raises(InputError, match="pickle"):
        read_folder(tmp_path / "saved")


def test_a_folder_with_a_pickle_says_so(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(InputError, match=r"pytorch_model\.bin, a pickle"):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", "{", "cannot be read as JSON"),
        ("config.json", "[]", "format is not 3"),
        ("config.json", '{"format": 3, "spec": {"architecture": "abacus"}}', "unknown architecture 'abacus'"),
        ("config.json", '{"format": 3, "spec": 7}', "no specification"),
        ("certificate.json", '{"facts": "many"}', "not as rote writes it"),
    ],
)
def test_damaged_text_files(folder, name, content, message):
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_folder(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed_xz(b"[1, 2]"), "list of tokens"),
        (packed_xz(b'["a", "a"]'), "appears twice"),
        (packed_xz(b'["a"]'), "the vocabulary has 1 tokens"),
        (packed_xz(b'["a"')[:-9], "ends too early|cannot be unpacked"),
        (packed_xz(b'["a"]') * 2, "has data after its end"),
        (b'["a"] is no xz stream', "cannot be unpacked"),
        (b"", "ends too early"),
        (lzma.compress(b" " * (WORDS.most + 1), preset=0), "unpacks to more than"),
        (lzma.compress(b"[]", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**30}]), "Memory usage limit"),
    ],
)
def test_damaged_words(folder, content, message):
    (folder / "vocab.json.xz").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_folder(folder)


def test_the_size_of_a_folder_is_known_before_it_is_written(tmp_path):
    built = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"})
    size = folder_module.folder_bytes(built.model, built.origin, built.provenance, built.certificate)
    assert sum(file.stat().st_size for file in built.save(tmp_path / "model").iterdir()) == size


def test_words_take_the_bytes_that_xz_gives_them(folder):
    assert len(folder_module.vocabulary_bytes(rote.facts("airports").vocabulary)) < 2_350
    assert len(folder_module.vocabulary_bytes(rote.facts("countries").vocabulary)) < 3_550


def test_no_such_folder(tmp_path):
    with pytest.raises(InputError, match="no such model folder"):
        read_folder(tmp_path / "nowhere")


def test_a_replacement_that_cannot_be_renamed_keeps_the_old_model(folder, model, monkeypatch):
    def refuse(path, target):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(folder_module.Path, "rename", refuse)
        with pytest.raises(InputError, match="Permission denied; choose a place that you may write to"):
            write_folder(folder, model, Origin(), {}, None, overwrite=True)
    assert read_folder(folder).provenance == {"method": "by definition"}
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_folders_made_on_the_way_are_removed_when_writing_fails(tmp_path, model, monkeypatch):
    def break_off(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folder_module.safetensors.torch, "save", break_off)
    with pytest.raises(InputError, match="No space left"):
        write_folder(tmp_path / "new" / "deep" / "model", model, Origin(), {}, None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["config.json", "vocab.json.xz", "certificate.json"])
@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, "{", "\udcff"])
def test_json_that_no_reader_can_follow_is_one_message(folder, name, content):
    data = content.encode("utf-8", "surrogateescape")
    (folder / name).write_bytes(packed_xz(data) if name.endswith(".xz") else data)
    with pytest.raises(InputError, match=rf"{name}: cannot be read as JSON"):
        read_folder(folder)


@pytest.mark.parametrize("name", ["config.json", "vocab.json.xz", "certificate.json"])
def test_json_larger_than_any_that_is_written_is_refused_unread(folder, name):
    with (folder / name).open("ab") as file:
        file.truncate((WORDS if name == "vocab.json.xz" else JSON).most + 1)
    with pytest.raises(InputError, match=rf"{name}: .* bytes are too many for"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("certificate.json", "[]", "found list"),
        ("certificate.json", '{"facts": "many", "lies": 1}', "facts='many': should be a valid integer"),
        ("certificate.json", '{"lies": 1}', "unknown option 'lies'"),
    ],
)
def test_a_certificate_unlike_any_is_refused_with_every_reason(folder, name, content, message):
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_folder(folder)


def test_an_origin_unlike_any_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    for facts, message in (
        ([1], "should be a valid dictionary"),
        ({"source": 3}, "source=3: should be a valid string"),
    ):
        (folder / "config.json").write_text(json.dumps({**config, "facts": facts}))
        with pytest.raises(InputError, match=message):
            read_folder(folder)
