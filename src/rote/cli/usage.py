"""What is wrong with the words of a command, in one message: all that is missing at once, and where to read on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError, MissingArgumentError, UnknownCommandError

if TYPE_CHECKING:
    from cyclopts.argument import Argument


def usage_problem(error: CycloptsError, app: App, words: Sequence[str]) -> str:
    """The parser's error as one message that names every missing argument and the help to read."""
    command = " ".join(("rote", *(error.command_chain or ())))
    see = "rote --help" if isinstance(error, UnknownCommandError) else f"{command} --help"
    if not isinstance(error, MissingArgumentError) or error.argument is None:
        return f"{error} See `{see}`"
    if error.keyword is not None:
        return f"{error.keyword} has no value. See `{see}`"
    return f"{command}: missing {', '.join(_missing(error.argument, app, words))}. See `{see}`"


def _missing(first: Argument, app: App, words: Sequence[str]) -> list[str]:
    """The arguments of a command that are required and were not given; `first` is the first of them."""
    given = {word.partition("=")[0] for word in words}
    arguments = app.parse_commands(list(words))[1][-1].assemble_argument_collection()
    required = [argument for argument in arguments if argument.required and argument.parse]
    named = [argument.name for argument in required]
    later = required[named.index(first.name) :] if first.name in named else [first]
    return [argument.name for argument in later if argument.name == first.name or not given & set(argument.names)]
