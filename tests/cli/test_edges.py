"""The edges of the command line: bad facts cost no tensors, and what the system refuses is one message, exit 2."""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import pytest

from rote.cli import main
from rote.experiments.best_of_seeds import KeptSeeds
from rote.folders import folder

TABLE = "relation,country,answer\n" + "".join(
    f"{relation},country{place},{relation[:3]}{place % 7}\n"
    for relation in ("capital", "currency")
    for place in range(12)
)
BROKEN = "relation,country,answer\ncapital,France,Paris\ncapital,France,Lyon\ncapital,,Rome\n"

SCRIPT = """
import json, sys
from rote.cli import main
code = main(json.loads(sys.argv[1]))
print(json.dumps([code, sorted(name for name in sys.modules if "." not in name)]))
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "facts.csv").write_text(TABLE)
    (tmp_path / "broken.csv").write_text(BROKEN)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["build", "broken.csv", "-o", "new"],
        ["build", "facts.csv", "-o", "facts.csv/new"],
        ["build", "facts.csv", "-o", "new", "--set", "nothing"],
        ["plan", "broken.csv"],
        ["train", "broken.csv", "-o", "new", "--dim", "4", "--heads", "2"],
        ["demo", "broken.csv", "-o", "new"],
        ["demo", "facts.csv", "-o", "facts.csv"],
        ["recall", "model", "broken.csv"],
        ["verify", "model", "broken.csv"],
        ["verify", "nowhere", "facts.csv"],
    ],
    ids=" ".join,
)
def test_bad_facts_are_refused_before_tensors_are_loaded(files, words):
    config = {"format": 1, "facts": {"source": "facts.csv"}}
    (files / "model").mkdir()
    (files / "model" / "config.json").write_text(json.dumps(config))
    (files / "model" / "model.safetensors").write_bytes(b"not read")
    before = sorted(files.rglob("*"))
    command = [sys.executable, "-c", SCRIPT, json.dumps(words)]
    done = subprocess.run(command, cwd=files, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout)
    assert code == 2
    assert done.stderr.startswith("rote: ")
    assert "Traceback" not in done.stderr
    assert "torch" not in modules
    assert sorted(files.rglob("*")) == before


@pytest.mark.parametrize(
    "words",
    [
        ["list", "papers"],
        ["show", "mahdavi2024"],
        ["show", "mahdavi2024.heads"],
        ["show", "dana2025.theorem1"],
        ["list", "methods"],
        ["list", "results"],
        ["list", "sources"],
        ["bounds", "--vocab", "50", "--context", "2", "--dim", "10", "--head-dim", "10", "--heads", "5"],
    ],
    ids=" ".join,
)
def test_what_is_only_read_or_computed_by_formula_loads_no_tensors(tmp_path, words):
    command = [sys.executable, "-c", SCRIPT, json.dumps([*words, "--json"])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    assert "torch" not in modules


def test_the_reason_names_flags_of_the_command(rote, files):
    assert "keep them with --contradictions keep" in rote("build", "broken.csv", "-o", "new").err
    assert rote("build", "facts.csv", "-o", "model").code == 0
    assert "or replace it with --force" in rote("build", "facts.csv", "-o", "model").err
    assert "(--keys, --key, --pad)" in rote("recall", "model", "facts.csv", "--keys", "letters").err
    message = rote("build", "facts.csv", "-o", "new", "--set", "score_std=wide").err
    assert "--set score_std='wide': should be a valid number" in message
    assert not (files / "new").exists()


def test_nested_json_in_a_model_folder_is_one_message(rote, files):
    assert rote("build", "facts.csv", "-o", "model").code == 0
    (files / "model" / "certificate.json").write_text("[" * 100_000)
    outcome = rote("verify", "model", "facts.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert "certificate.json: cannot be read as JSON (nested too deeply)" in outcome.err


def test_a_full_disk_leaves_nothing_behind(rote, files, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folder.os, "fsync", refuse)
    before = sorted(files.rglob("*"))
    outcome = rote("build", "facts.csv", "-o", "deep/model")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("rote: deep/model: cannot be written (No space left on device; free some space")
    assert sorted(files.rglob("*")) == before


SIZES = ["bounds", "--vocab", "50", "--context", "2", "--dim", "10", "--head-dim", "10", "--heads", "20"]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (PermissionError(13, "Permission denied", "/some/file"), 2, "/some/file: Permission denied; choose a place"),
        (MemoryError(), 2, "try fewer facts, or a smaller --dim or --heads or --vocab or --context"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), 2, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_what_the_system_refuses_is_one_message(capsys, monkeypatch, error, code, message):
    def fail(*_):
        raise error

    monkeypatch.setattr("rote.theory.bounds", fail)
    assert main(SIZES) == code
    assert message in capsys.readouterr().err


def test_any_other_error_of_ours_keeps_its_traceback(monkeypatch):
    def fail(*_):
        raise RuntimeError("a mistake in rote")

    monkeypatch.setattr("rote.theory.bounds", fail)
    with pytest.raises(RuntimeError, match="a mistake"):
        main(SIZES)


def test_interrupting_a_command_that_writes_says_what_is_on_disk(rote, files, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rote.constructions.build.build", interrupt)
    outcome = rote("build", "facts.csv", "-o", "model")
    assert outcome.code == 130
    assert "interrupted; nothing was written" in outcome.err
    assert not (files / "model").exists()


def test_interrupting_training_keeps_the_models_that_ended_and_the_same_command_resumes(rote, files, monkeypatch):
    words = ["train", "facts.csv", "-o", "model", "--dim", "4", "--heads", "2", "--seeds", "3", "--steps", "30"]
    write = KeptSeeds.write

    def interrupt(self, trained):
        write(self, trained)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(KeptSeeds, "write", interrupt)
        outcome = rote(*words, "--workers", "1")
    assert outcome.code == 130
    assert "what had ended is kept in model.seeds, and the same command resumes" in outcome.err
    assert not (files / "model").exists()
    assert len(rote(*words, "--json").json["models"]) == 3
    assert not (files / "model.seeds").exists()
