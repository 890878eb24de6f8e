"""What needs no tensors works where torch is not installed, and gives the same."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

COMMANDS = [
    "bounds --vocab 50 --context 2 --dim 10 --head-dim 10 --heads 20",
    "list methods",
    "list papers",
    "list results",
    "list sources",
    "list protocols",
    "show dana2025.theorem1",
    "plan countries --by-formula",
]
RUN = """
import contextlib, io, json, sys

if sys.argv[1] == "blocked":
    sys.modules["torch"] = None  # importing it then fails as if it were not installed
from rote.cli import main

done = {}
for command in json.loads(sys.argv[2]):
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.redirect_stderr(io.StringIO()) as errors:
        code = main([*command.split(), "--json"])
    done[command] = [code, shown.getvalue(), errors.getvalue()]
print(json.dumps(done))
"""


def outputs(how: str, *commands: str) -> dict[str, list]:
    words = [sys.executable, "-c", RUN, how, json.dumps(commands)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def test_theory_and_lists_are_the_same_without_torch():
    without = outputs("blocked", *COMMANDS)
    assert [command for command, (code, shown, _) in without.items() if code or not json.loads(shown)] == []
    assert without == outputs("installed", *COMMANDS)


@pytest.mark.parametrize("command", ["build countries -o model", "plan countries", "list targets"])
def test_what_needs_torch_says_so_in_one_line(command):
    ((code, shown, errors),) = outputs("blocked", command).values()
    assert (code, shown) == (2, "")
    assert errors == "rote: torch is not installed, and this command needs it; `pip install byrote` installs it\n"
