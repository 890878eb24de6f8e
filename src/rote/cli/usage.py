"""How a command is used: its usage line and defaults in help, and one message for all that is missing.

What a library message calls an option, as the user of a command types it.

Messages name options in backticks (see `rote.errors`): `head_dim` becomes `--head-dim` for a command that has this
parameter, `keys=letters` becomes `--keys letters`, and the settings of a construction become `--set name=...` where a
command takes them.

Numbers as they are typed: integers where integers are required, and finite.

The parser would round `--heads 3.7` to 4 and take `--rate nan`; both are mistakes, and are reported.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from cyclopts import App, CycloptsError, MissingArgumentError, Token, UnknownCommandError, convert

if TYPE_CHECKING:
    from cyclopts.argument import Argument


def as_typed(hint: Any, tokens: Sequence[Token]) -> Any:
    """What the parser makes of these words, unless one of them is not a number of the required kind."""
    kinds = {hint, *get_args(hint)}
    # The parser names the flag itself where it was given one word.
    named = f"{tokens[0].keyword}: " if len(tokens) > 1 else ""
    for token in tokens:
        if int in kinds and str not in kinds and "." in token.value:
            raise ValueError(f"{named}must be an integer, found {token.value}.")
        if float in kinds and not _finite(token.value):
            raise ValueError(f"{named}must be a finite number, found {token.value}.")
    return convert(hint, tokens)


def _finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        # No number at all, which the parser says itself.
        return True


UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(_: Any, tokens: Sequence[Token]) -> float:
    """A time in seconds: 60s, 2m, 1h, or a number of seconds."""
    text = tokens[0].value
    number, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1.0)
    try:
        value = float(number) * unit
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"must be a time such as 60s, 2m or 1h, found {text}.")
    return value


OPTION = re.compile(r"`([a-z][a-z0-9_]*)(?:=([^`]+))?`")

COMMAND_LINE_NAMES = {
    "context": "pad", "overwrite": "force", "peak": "rate",
    "vocabs": "vocab", "dims": "dim", "head_dims": "head_dim", "methods": "method",
}  # fmt: skip
"""Options that the command line calls otherwise. A command that has a flag of the option's own name keeps it."""

FOLDER = "output"
"""The flag that names the folder to write is no option of the library, where a construction has one of this name."""


def flags_of(command: App) -> dict[str, str]:
    """The flags of a command by the names of its parameters."""
    arguments = command.assemble_argument_collection()
    return {
        argument.field_info.name.rstrip("_"): argument.name for argument in arguments if argument.name.startswith("--")
    }


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """The message with each option that the command takes written as its user types it."""
    settings = _settings_of_constructions() if "set" in flags else frozenset()

    def typed(match: re.Match[str]) -> str:
        name, value = match.groups()
        flag = None if name == FOLDER else flags.get(name) or flags.get(COMMAND_LINE_NAMES.get(name, ""))
        if flag is not None:
            return flag if value in (None, "True") else f"{flag} {value}"
        if name in settings:
            return f"{flags['set']} {name}={value or '...'}"
        return match[0]

    return OPTION.sub(typed, message)


def _settings_of_constructions() -> frozenset[str]:
    """Names of all constructions' own settings; none before constructions are loaded, as no message is theirs then."""
    if "rote.constructions" not in sys.modules:
        return frozenset()
    from rote.constructions import CONSTRUCTIONS

    return frozenset(name for construction in CONSTRUCTIONS.values() for name in construction.options.model_fields)


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
