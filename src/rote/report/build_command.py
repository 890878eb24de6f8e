"""The command that builds a row of a plan, for pages and the command line."""

from __future__ import annotations

import shlex
from typing import Any

from rote.experiments.sizing.row import NO_METHOD, PlanRow

FLAGS = {"rank_one": "--rank-one"}
"""Options of methods that are flags of `rote build`; the others are given by `--set`."""


def build_command(row: PlanRow, source: str, dtype: str | None, reading: str = "") -> str | None:
    """The `rote build` command of a row; none for a row that no method builds.

    `reading` are the flags by which the facts were read, with a space in front.
    """
    if row.construction == NO_METHOD or not row.possible:
        return None
    return build_line(source, f" --method {row.construction}{option_flags(row)}", dtype, reading)


def build_line(source: str, choice: str, dtype: str | None, reading: str = "") -> str:
    """The `rote build` command with the flags that choose the model, each with a space in front."""
    precision = "" if dtype is None else f" --dtype {dtype}"
    return f"rote build {shlex.quote(source)}{choice}{precision}{reading} -o model"


def flags_given(given: Any) -> list[str]:
    """Sizes, precision and options that were given to a build, as a model folder states them, as words of a command."""
    words: list[str] = []
    for name, value in given.items() if isinstance(given, dict) else ():
        if name in FLAGS:
            words += [FLAGS[name]] if value is True else []
        elif name in ("dim", "head_dim", "heads", "dtype"):
            words += [f"--{name.replace('_', '-')}", str(value)]
        else:
            words += ["--set", f"{name}={value}"]
    return words


def option_flags(row: PlanRow) -> str:
    """The options of a row's method as flags, each with a space in front."""
    return "".join(
        f" {FLAGS[name]}" if name in FLAGS else f" --set {shlex.quote(f'{name}={value}')}"
        for name, value in row.options.items()
    )
