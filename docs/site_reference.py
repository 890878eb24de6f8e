"""Pages of the site that are made from code: every command's help, and every public name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import rote
from rote.cli import APPS, GROUPS, app

NAMES = {
    "Your facts": (
        "facts",
        "plan",
        "build",
        "load",
        "recall",
        "verify",
        "train",
        "train_best",
        "edit",
        "diff",
        "inspect",
    ),
    "Export": ("export_model", "export_task", "from_torch", "write_folder"),
    "Theory": ("bounds", "methods", "paper"),
    "Experiments": ("sweep", "capacity", "densest_shape", "reproduce", "fit_run", "figure", "suite", "doctor"),
    "Measures": ("divergence", "softmax_code"),
}
"""Public names by what they are for. Those that are left follow under a heading of their own."""
REST = "Language models, types of results, errors"


def command_help(words: list[str]) -> str:
    """What `rote WORDS --help` prints on a terminal of 80 columns."""
    asked = [sys.executable, "-m", "rote", *words, "--help"]
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(asked, capture_output=True, text=True, check=True, env=plain)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip()


def commands() -> list[list[str]]:
    """Every command, with those of `runs` and `lm`."""
    found = []
    for name in (name for names in GROUPS.values() for name in names):
        found.append([name])
        if name in APPS:
            found += [[name, own] for own in sorted(app[name].resolved_commands()) if not own.startswith("-")]
    return found


def write_commands(folder: Path) -> None:
    """Writes commands.md and api.md where they differ from what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    page = ["# Commands", "", "What `--help` prints. Every command takes `--json`."]
    for group, names in GROUPS.items():
        page += ["", f"## {group}"]
        for name in names:
            for words in (words for words in commands() if words[0] == name):
                page += ["", f"### rote {' '.join(words)}", "", "```text", command_help(words), "```"]
    _write(folder / "commands.md", page)
    listed = {name for names in NAMES.values() for name in names}
    groups = {**NAMES, REST: tuple(name for name in rote.__all__ if name not in listed and name != "__version__")}
    page = ["# Python", "", "`import rote`. What is listed here is stable; everything else may change at any time."]
    for group, names in groups.items():
        page += ["", f"## {group}"]
        for name in names:
            kind = "autoclass" if isinstance(getattr(rote, name), type) else "autofunction"
            page += ["", "```{eval-rst}", f".. {kind}:: rote.{name}", "```"]
    _write(folder / "api.md", page)


def _write(path: Path, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
