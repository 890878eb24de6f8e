"""Disks that are full or read-only, and folders that were damaged: named, nothing lost, nothing half used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import rote
from faults.full_disk import start_again
from rote.cli import main

ROOT = Path(__file__).parents[1]
FACTS = "random:vocab=6,context=2,facts=9,seed=1"
STRIDE = "41"


def test_a_disk_that_fills_at_a_write_is_named_and_what_was_done_is_kept(tmp_path):
    """Every 29th write of a sweep and of a build; `benchmarks/full_disk.py` tries all of them."""
    said = []

    def run(*words, **options):
        done = subprocess.run(*words, **options, capture_output=True, text=True)
        said.append(done.stdout + done.stderr)
        return done

    code = start_again([str(ROOT / "benchmarks" / "full_disk.py"), "--inside", STRIDE], tmp_path, run)
    if code is None:
        pytest.skip("no C compiler, or not Linux: a full disk cannot be made")
    assert code == 0, said
    assert "0 complaints" in said[0]


COMMANDS = (
    ["build", FACTS, "-o"],
    ["train", FACTS, "--dim", "4", "--heads", "2", "--seeds", "1", "--steps", "2", "-o"],
    ["sweep", "--vocab", "5", "--heads", "1", "--dim", "3", "--seeds", "1", "--steps", "2", "-o"],
    ["suite", FACTS, "-o"],
    ["report", "{model}", "-o"],
    ["export", "{model}", "--to", "torch", "-o"],
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    (place / "facts.csv").write_text("relation,country,answer\ncapital,France,Paris\ncapital,Japan,Tokyo\n")
    return rote.build(str(place / "facts.csv")).save(place / "model")


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_folder_that_cannot_be_written_to_is_named(words, model, tmp_path, capsys):
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o500)
    if os.geteuid() == 0:
        # Permissions do not hold the superuser back; the kernel's own folders do.
        folder = Path("/sys/kernel")
        if not folder.is_dir():
            pytest.skip("run by the superuser, and there is no folder that is read-only for everyone")
    code = main([*(word.format(model=model) for word in words), str(folder / "the-output")])
    said = capsys.readouterr().err
    assert code == 2, said
    assert "the-output" in said
    assert "Traceback" not in said
    assert not (folder / "the-output").exists()


FILES = ("config.json", "model.safetensors", "vocab.json.xz", "certificate.json", "keys.safetensors")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["cut short", "empty", "a pipe", "a device", "a folder", "a link to itself"])
def test_a_damaged_file_of_a_model_is_named_and_the_model_is_not_used(name, damage, model, tmp_path, capsys):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    file = folder / name
    content = file.read_bytes()
    file.unlink()
    if damage == "cut short":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "a pipe":
        os.mkfifo(file)
    elif damage == "a device":
        file.symlink_to("/dev/zero")
    elif damage == "a folder":
        file.mkdir()
    else:
        file.symlink_to(name)
    for words in (["ask", str(folder), "capital", "France"], ["verify", str(folder)]):
        code = main(words)
        out, said = capsys.readouterr()
        assert (code, out) == (2, ""), said
        assert name in said


def test_a_certificate_that_was_changed_does_not_hold(tmp_path, capsys):
    folder = rote.build(FACTS).save(tmp_path / "model")
    path = Path(folder) / "certificate.json"
    stated = json.loads(path.read_text())
    path.write_text(json.dumps({**stated, "recalled": stated["recalled"] - 1}))
    assert main(["verify", str(folder)]) == 1
    assert "recalled" in capsys.readouterr().out
