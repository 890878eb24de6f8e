"""Pages of the site that are made from code: commands, public names, results, and schemas of files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import rote
from rote.cli import APPS, GROUPS, app
from rote.editing.requested import Changes
from rote.lm.graft.record import GraftRecord
from rote.tasks.facts import Facts
from rote.theory import RESULTS
from rote.words import markdown

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
SCHEMAS = {
    "certificate.json of a model": rote.Certificate,
    "graft.json of a grafted model": GraftRecord,
    "config.json of an attention-only Transformer": rote.AttentionOnly,
    "A training protocol": rote.Protocol,
}
"""Files and what is in them."""
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


def write_reference(folder: Path) -> None:
    """Writes every page where it differs from what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"commands": command_page, "api": api_page, "results": results_page, "schemas": schemas_page}
    for name, page in pages.items():
        _write(folder / f"{name}.md", page())


def command_page() -> list[str]:
    """The help of every command, by group."""
    page = ["# Commands", "", "What `--help` prints. Every command takes `--json`."]
    for group, names in GROUPS.items():
        page += ["", f"## {group}"]
        for name in names:
            for words in (words for words in commands() if words[0] == name):
                page += ["", f"### rote {' '.join(words)}", "", "```text", command_help(words), "```"]
    return page


def api_page() -> list[str]:
    """Every public name with its parameters, what it returns and its example."""
    listed = {name for names in NAMES.values() for name in names}
    groups = {**NAMES, REST: tuple(name for name in rote.__all__ if name not in listed and name != "__version__")}
    page = ["# Python", "", "`import rote`. What is listed here is stable; everything else may change at any time.", ""]
    page += [f"- `{name}`: {alias.__metadata__[0]}." for name, alias in (("Facts", Facts), ("Changes", Changes))]
    for group, names in groups.items():
        page += ["", f"## {group}"]
        for name in names:
            kind = "autoclass" if isinstance(getattr(rote, name), type) else "autofunction"
            page += ["", "```{eval-rst}", f".. {kind}:: rote.{name}", "```"]
    return page


def results_page() -> list[str]:
    """Every result by paper; what it takes and where it applies is in bounds.md."""
    page = [
        "# Results",
        "",
        "What `rote bounds` evaluates, by paper. Conditions and corrections: [Bounds](../../bounds.md).",
    ]
    for paper in dict.fromkeys(result.paper for result in RESULTS.values()):
        title = paper.title if paper.title.endswith("?") else f"{paper.title}."
        page += ["", f"## {paper.name}", "", f"{title} {paper.venue[0].upper()}{paper.venue[1:]}.", ""]
        page += [
            f"- `{result.id}` ({', '.join(filter(None, (result.kind, result.where)))}): {markdown(result.statement)}"
            for result in RESULTS.values()
            if result.paper == paper
        ]
    return page


def schemas_page() -> list[str]:
    """JSON schemas of what folders hold."""
    page = ["# JSON schemas", "", "Of the files in folders. What commands print with `--json`: [JSON](../../json.md)."]
    for title, model in SCHEMAS.items():
        schema = json.dumps(model.model_json_schema(), indent=1)
        page += ["", f"## {title}", "", "```json", schema, "```"]
    return page


def _write(path: Path, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
