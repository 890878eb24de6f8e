"""How a command is used: its usage line and defaults in help, and one message for all that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cyclopts import App, CycloptsError, MissingArgumentError, UnknownCommandError

if TYPE_CHECKING:
    from cyclopts.argument import Argument

HELP = ("--help", "-h")


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


def shown_default(value: Any) -> str | None:
    """A default as help shows it; none for what is off or empty by default."""
    if value is None or value is False or value == ():
        return None
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def name_arguments(app: App, words: Sequence[str]) -> None:
    """Make the usage line of the command that these words call name every argument it takes."""
    chain, apps, _ = app.parse_commands([word for word in words if word not in HELP])
    command = apps[-1]
    if command.default_command is None:
        return
    before, after = [], []
    for argument in command.assemble_argument_collection():
        label = argument.name.lstrip("-").upper()
        if argument.name.startswith("--"):
            after += [f"{argument.name} {label}"] if argument.required else []
        elif argument.field_info.kind is argument.field_info.VAR_POSITIONAL:
            before.append(f"[{label}...]")
        elif argument.field_info.kind is argument.field_info.POSITIONAL_ONLY:
            before.append(label if argument.required else f"[{label}]")
    command.usage = " ".join(["Usage: rote", *chain, *before, *after, "[OPTIONS]"])
