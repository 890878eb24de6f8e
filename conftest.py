"""Documentation is executed: Python blocks run, `rote` commands run in an empty folder, `make` targets must exist."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from sybil import Example, Lexeme, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser

ROOT = Path(__file__).parent
LONGEST = {"README.md", "docs", "web", "export", "test_on_ray.py", "test_kills.py"}
"""Files and folders."""
CELL = "{code-cell} python3"
"""Of the tutorials, which the site shows as notebooks with their output."""


class FileOrBlock(PythonEvaluator):
    """A Python block whose first line is `# NAME.py` is a file: it is written into the folder and imported."""

    def __call__(self, example: Example) -> None:
        name = re.match(r"# (\w+)\.py\n", example.parsed)
        if name is None:
            super().__call__(example)
            return
        path = Path(f"{name[1]}.py").resolve()
        path.write_text(example.parsed, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name[1], path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name[1]] = module
        spec.loader.exec_module(module)


class Cell(PythonEvaluator):
    """A cell of a tutorial, without the lines that tell the site how to show it."""

    def __call__(self, example: Example) -> None:
        cell = example.parsed
        example.parsed = Lexeme(re.sub(r"^:", "#:", cell), cell.offset, cell.line_offset)
        super().__call__(example)


class CommandParser(CodeBlockParser):
    """Each line of a bash block is one command, optionally followed by a comment."""

    language = "bash"

    def evaluate(self, example: Example) -> None:
        from rote.cli import main  # when tests/conftest.py has installed its checks

        for line in example.parsed.splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if words[0] == "make":
                done = subprocess.run(
                    ["make", "--dry-run", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
                )
                code, said = done.returncode, done.stdout + done.stderr
            elif words[0] == "rote":
                # In this process: tests of the command line start real ones, and each would import torch again.
                with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
                    code = main(words[1:])
                said = out.getvalue() + err.getvalue()
            else:
                raise ValueError(f"{line}: documentation runs only `rote` and `make`")
            if code != 0:
                raise AssertionError(f"{line} exited {code}\n{said}")


def in_empty_folder(namespace: dict) -> None:
    namespace["home"] = os.getcwd()
    namespace["folder"] = tempfile.mkdtemp()
    os.chdir(namespace["folder"])


def clean_up(namespace: dict) -> None:
    os.chdir(namespace["home"])
    shutil.rmtree(namespace["folder"])


pytest_collect_file = Sybil(
    parsers=[
        CodeBlockParser("python", FileOrBlock()),
        CodeBlockParser(CELL, Cell()),
        CommandParser(),
    ],
    path=str(ROOT),
    patterns=["README.md", "docs/*.md", "docs/concepts/*.md", "docs/tutorials/*.md"],
    setup=in_empty_folder,
    teardown=clean_up,
).pytest()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first, so that no worker is left with one at the end. Other people's libraries may warn,
    in examples of them and only there."""
    items.sort(key=lambda item: not LONGEST.intersection((item.path.name, item.path.parent.name)))
    for item in items:
        if item.path.name == "interoperability.md":
            item.add_marker(pytest.mark.filterwarnings("ignore"))
