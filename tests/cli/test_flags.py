"""Options in messages: the library names them, the command line shows what a user would type, and all of it parses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest
from cyclopts import App

import rote
from rote.cli import app
from rote.cli.usage import FOLDER, flags_of, in_flags
from rote.constructions import CONSTRUCTIONS

SOURCE = Path(rote.__file__).parent
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def leaves(group: App, words: str = "") -> Iterator[str]:
    """Every command, those of groups (`runs list`) included, as it is typed."""
    for name in group:
        if not name.startswith("-"):
            below = list(leaves(group[name], f"{words}{name} "))
            yield from below or [f"{words}{name}"]


COMMANDS = list(leaves(app))
EVERYWHERE = {"--help", "--version"}


def flags(command: str) -> set[str]:
    named = reduce(lambda group, word: group[word], command.split(), app)
    return {name for argument in named.assemble_argument_collection() for name in argument.names} | EVERYWHERE


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every string literal with its line; the parts of formatted ones count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


@pytest.mark.parametrize(
    ("command", "message", "shown"),
    [
        ("build", "lower `head_dim` to 3", "lower --head-dim to 3"),
        ("build", "spell them (`keys=letters`)", "spell them (--keys letters)"),
        ("build", "`context=3` is too short", "--pad 3 is too short"),
        ("bounds", "`context=1` is too short", "--context 1 is too short"),
        ("build", "replace it with `overwrite=True`", "replace it with --force"),
        ("train", "lower `peak`", "lower --rate"),
        ("build", "another `route` or `route=joined`", "another --set route=... or --set route=joined"),
        ("build", "`output=both`: should be 'one' or 'all'", "--set output=both: should be 'one' or 'all'"),
        ("recall", "another `route`, a larger `dim`", "another `route`, a larger `dim`"),
        ("build", "use `rote plan`, or dim without quotes", "use `rote plan`, or dim without quotes"),
    ],
)
def test_options_are_shown_as_the_command_takes_them(command, message, shown):
    assert in_flags(message, flags_of(app[command])) == shown


@pytest.mark.parametrize("command", COMMANDS)
def test_flags_in_a_help_text_are_flags_of_that_command(command, capsys):
    app([*command.split(), "--help"], result_action="return_value")
    shown = set(FLAG.findall(capsys.readouterr().out))
    assert "--help" in shown or shown
    assert shown <= flags(command)


def test_every_flag_in_the_source_parses_for_some_command():
    known = set().union(*map(flags, COMMANDS))
    strangers = [
        f"{path.relative_to(SOURCE)}:{line} names {flag}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in texts(ast.parse(path.read_text(encoding="utf-8")))
        for flag in FLAG.findall(text)
        if flag not in known
    ]
    assert not strangers, "\n".join(strangers)


def test_a_setting_of_a_construction_and_a_flag_of_build_never_share_a_name():
    """`--set width=3` beside a flag `--width` would be two things of one name; `--rank-one` and `--spare`
    are the same thing twice."""
    own = {name for construction in CONSTRUCTIONS.values() for name in construction.options.model_fields}
    assert own & set(flags_of(app["build"])) <= {"rank_one", "spare", FOLDER}


def test_no_error_outside_the_command_line_names_a_flag():
    """Commands that are shown to be copied have flags; messages have options, which the command line turns to flags."""
    named = [
        f"{path.relative_to(SOURCE)}:{line} names {flag}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] != "cli"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _is_complaint(node))
        for line, text in texts(node)
        for flag in FLAG.findall(text)
    ]
    assert not named, "\n".join(sorted(set(named)))


def _is_complaint(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("problems", "InputError", "CheckFailed", "refuse")
