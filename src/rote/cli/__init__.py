"""The command line: parse, call, print.

Exit 0: done; 1: a check did not hold; 2: bad input or usage, one clear message and no traceback. Each command is a file
of this package, imported when it runs, and so is what it needs: `rote bounds` answers at once.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from cyclopts import App, CycloptsError, Group, Parameter

from rote import interrupts
from rote.cli.output import complain
from rote.cli.usage import HELP, as_typed, flags_of, in_flags, name_arguments, shown_default, usage_problem
from rote.errors import RoteError, system_message
from rote.version import __version__, pip_install
from rote.words import guarded_streams

app = App(
    name="rote",
    help="Build, bound and measure memorization in Transformers.",
    version=__version__,
    help_format="markdown",
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(converter=as_typed, show_default=shown_default),
    help_epilogue=(
        "FACTS is a file (CSV, TSV, JSONL, Parquet), a generator (random:vocab=50,context=2,facts=210,seed=1) or a "
        "named source (countries, airports, wordnet). Every command takes --json."
    ),
)
GROUPS = {
    "Start": ("demo", "plan", "build", "ask"),
    "Check": ("recall", "verify", "inspect", "diff", "report", "serve"),
    "Change": ("train", "edit", "export", "graft"),
    "Theory": ("bounds", "list", "show"),
    "Experiments": ("sweep", "reproduce", "capacity", "runs"),
    "Language models": ("lm",),
    "Ground truth": ("suite",),
    "This machine": ("doctor",),
}
"""Commands as help shows them: `rote NAME` is the function NAME in the module of this name."""
COMMANDS = tuple(name for names in GROUPS.values() for name in names)
APPS = ("runs", "lm")
"""Commands that have commands of their own."""

for _rank, (_name, _commands) in enumerate(GROUPS.items()):
    _group = Group(_name, sort_key=_rank)
    for _place, _command in enumerate(_commands):
        # A module of the name `list` would hide the type.
        _function = "listing:list_" if _command == "list" else f"{_command}:{_command}"
        _options = {} if _command in APPS else {"help_epilogue": ""}
        app.command(f"rote.cli.{_function}", name=_command, group=_group, sort_key=_place, **_options)


app.register_install_completion_command(help="Complete commands and flags in this shell from now on.")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing it prints acts on a terminal (`rote.words`)."""
    with guarded_streams(), _warnings_in_one_line():
        return _main(sys.argv[1:] if arguments is None else arguments)


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """A warning as a message of rote's, without the line of source that gave it."""
    before = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"rote: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = before


def _main(words: list[str]) -> int:
    if not words or words[0] not in COMMANDS:
        # Help shows the first sentence of every command.
        for name in COMMANDS:
            app[name]
    if not set(HELP).isdisjoint(words):
        name_arguments(app, words)
    interrupts.begin()
    try:
        return _ended(words)
    except BaseException as error:
        # A signal ends the command whatever a library makes of the exception that it raised.
        signalled = interrupts.received()
        if signalled is not None:
            return complain(interrupts.message(signalled), interrupts.CODES[signalled])
        if isinstance(error, KeyboardInterrupt):
            return complain(interrupts.message(), 130)
        message = interrupts.out_of_memory(error)
        if message is None:
            raise
        return complain(message + (_smaller(words) if "for this size" in message else ""), 2)


def _ended(words: list[str]) -> int:
    try:
        outcome = app(words, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        return complain(usage_problem(error, app, words), 2)
    except RoteError as error:
        if interrupts.received() is not None:
            raise
        return complain(in_flags(str(error), _flags(words)), error.exit_code)
    except BrokenPipeError:
        return 0
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return complain(f"torch is not installed, and this command needs it; `{pip_install()}` installs it", 2)
    except OSError as error:
        if interrupts.received() is not None or interrupts.out_of_memory(error) is not None:
            raise
        return complain(system_message(error), 2)
    return outcome if isinstance(outcome, int) else 0


def _flags(words: list[str]) -> dict[str, str]:
    """The flags of the command that these words ran."""
    return flags_of(app.parse_commands(words)[1][-1])


def _smaller(words: list[str]) -> str:
    """Names the options of the command that decide how much memory it takes.

    None where too little memory is left to import the command; Python raises errors of several types there.
    """
    try:
        flags = _flags(words)
    except Exception:  # noqa: BLE001
        flags = {}
    sizes = " or ".join(flags[name] for name in ("dim", "heads", "width", "vocab", "context", "batch") if name in flags)
    return "; try fewer facts" + (f", or a smaller {sizes}" if sizes else "")
