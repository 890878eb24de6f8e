"""What a library message calls an option, as the user of a command types it.

Messages name options in backticks (see `rote.errors`): `head_dim` becomes `--head-dim` for a command that has this
parameter, `keys=letters` becomes `--keys letters`, and the settings of a construction become `--set name=...` where a
command takes them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from cyclopts import App

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
