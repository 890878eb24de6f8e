"""No command opens a socket unless it is meant to.

All commands run in one process of their own, in which every internet socket is counted where Python makes one (its
audit events) and, where there is a C compiler, where any library calls the C library for one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rote.cli import COMMANDS as EVERY_COMMAND

MEANT = {"serve"}
"""`serve` listens. `--download` (`rote lm`) and Ray are asked for by their flags, which are not given here."""

FACTS = "random:vocab=6,context=2,facts=9,seed=1"
COMMANDS = (
    ["list", "methods"],
    ["list", "papers"],
    ["show", "dana2025.theorem1"],
    ["bounds", "--vocab", "5", "--context", "2", "--dim", "3", "--head-dim", "2", "--heads", "2"],
    ["plan", FACTS],
    ["build", FACTS, "-o", "model"],
    ["train", FACTS, "-o", "trained", "--dim", "4", "--heads", "2", "--seeds", "1", "--steps", "5", "--workers", "1"],
    ["ask", "model", "1", "2"],
    ["recall", "model"],
    ["verify", "model"],
    ["inspect", "model"],
    ["edit", "model", "--forget", "1 2", "-o", "edited"],
    ["diff", "model", "trained"],
    ["graft", "llama", "facts.csv", "--template", "The capital of {country} is", "-o", "grafted"],
    ["export", "model", "--to", "llama", "-o", "llama"],
    ["lm", "recall", "llama", "facts.csv", "--template", "The capital of {country} is"],
    ["lm", "assumptions", "llama", "--tokens", "1", "--passages", "2"],
    ["sweep", "--vocab", "5", "--heads", "1", "--dim", "3", "--seeds", "1", "--steps", "2", "--workers", "1"],
    ["runs", "fit", "runs/sweep"],
    ["runs", "list", "runs"],
    ["runs", "show", "runs/sweep"],
    ["runs", "export", "runs/sweep", "-o", "trials.csv"],
    ["reproduce", "dana2025.nothing"],
    ["capacity", "--vocab", "5", "--dim", "3", "--head-dim", "3", "--heads", "1"],
    ["capacity", "--densest", "60", "--vocab", "4", "--dim", "2", "--head-dim", "2", "--rounds", "2", "--seeds", "1"],
    ["lm", "capacity", "nothing"],
    ["report", "model"],
    ["suite", FACTS, "-o", "suite", "--loads", "0.5", "--shapes", "8x8"],
    ["demo", "facts.csv", "-o", "demo"],
    ["doctor", "--device", "nothing"],
)
"""Each as far as it gets without training for long; what is refused has been imported and has looked by then."""

SCRIPT = """
import json, sys
opened = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.sendto") and isinstance(arguments[1], tuple):
        opened.append([event, str(arguments[1])])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        opened.append([event, str(arguments[0])])

sys.addaudithook(watch)
from rote.cli import main
codes = [main(words) for words in json.loads(sys.argv[1])]
print(json.dumps([opened, codes]))
"""

COUNTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
int socket(int family, int type, int protocol) {
  if (family == AF_INET || family == AF_INET6) fprintf(stderr, "INTERNET SOCKET\n");
  return ((int (*)(int, int, int))dlsym(RTLD_NEXT, "socket"))(family, type, protocol);
}
"""


def counting(folder: Path) -> dict[str, str]:
    """The environment of a process in which the C library tells of every internet socket, where it can be made to."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        return dict(os.environ)
    (folder / "counter.c").write_text(COUNTER)
    library = str(folder / "counter.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, str(folder / "counter.c"), "-ldl"], check=True)
    return {**os.environ, "LD_PRELOAD": library}


def run(words: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def test_every_command_is_tried():
    assert {words[0] for words in COMMANDS} | MEANT >= set(EVERY_COMMAND)


def test_no_command_opens_a_socket(tmp_path):
    pytest.importorskip("transformers", reason="language models need the package transformers")
    (tmp_path / "facts.csv").write_text("country,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\n")
    environment = {**counting(tmp_path), "OMP_NUM_THREADS": "1"}
    done = run(["-c", SCRIPT, json.dumps(COMMANDS)], tmp_path, environment)
    assert done.returncode == 0, done.stderr[-3000:]
    opened, codes = json.loads(done.stdout.splitlines()[-1])
    assert opened == []
    assert "INTERNET SOCKET" not in done.stderr
    worked = [words[0] for words, code in zip(COMMANDS, codes, strict=True) if code in (0, 1)]
    assert {"build", "train", "verify", "export", "sweep", "report", "demo"} <= set(worked), (
        codes,
        done.stderr[-3000:],
    )


def test_the_count_would_have_seen_one(tmp_path):
    environment = counting(tmp_path)
    script = "import socket; socket.socket(socket.AF_INET).close()"
    done = run(["-c", script], tmp_path, environment)
    assert ("INTERNET SOCKET" in done.stderr) == ("LD_PRELOAD" in environment)
    seen = run(
        ["-c", SCRIPT.split("from rote")[0] + "import socket\nsocket.socket().bind(('127.0.0.1', 0))\nprint(opened)"],
        tmp_path,
        environment,
    )
    assert "socket.bind" in seen.stdout
