"""Running the command line: in this process for speed, or as a real one."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from rote.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def rote(capsys, tmp_path, monkeypatch):
    """Call `rote` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, stdin: str = "") -> Outcome:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def rote_process(tmp_path):
    """Start `rote` as a user's shell would."""

    def call(*arguments: object) -> Outcome:
        command = [sys.executable, "-m", "rote", *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call
