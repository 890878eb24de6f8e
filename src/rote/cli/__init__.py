"""The command line: parse, call, print.

Exit 0: done; 1: a check did not hold; 2: bad input or usage, one clear message and no traceback. Each command is a file
of this package; what they need is imported when they run, so that `rote bound` answers at once.
"""

from __future__ import annotations

import sys

from cyclopts import App, CycloptsError, Group, Parameter

from rote.cli.ask import ask
from rote.cli.bound import bound
from rote.cli.build import build
from rote.cli.capacity import capacity
from rote.cli.demo import demo
from rote.cli.densest import densest
from rote.cli.export import export
from rote.cli.families import families
from rote.cli.flags import flags_of, in_flags
from rote.cli.inspect import inspect
from rote.cli.law import law
from rote.cli.meter import meter
from rote.cli.methods import methods
from rote.cli.numbers import as_typed
from rote.cli.output import complain
from rote.cli.papers import papers
from rote.cli.plan import plan
from rote.cli.probe import probe
from rote.cli.recall import recall
from rote.cli.report import report
from rote.cli.reproduce import reproduce
from rote.cli.runs import runs
from rote.cli.selfcheck import selfcheck
from rote.cli.serve import serve
from rote.cli.sweep import sweep
from rote.cli.train import train
from rote.cli.verify import verify
from rote.errors import RoteError, system_message
from rote.version import __version__
from rote.words import guarded_streams

app = App(
    name="rote",
    help="How much can a Transformer learn by rote? Predict it, build it, measure it.",
    version=__version__,
    help_format="markdown",
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(converter=as_typed),
    help_epilogue=(
        "FACTS is a file (CSV, TSV, JSONL, Parquet), a generator (random:vocab=50,context=2,facts=210,seed=1) or a "
        "named source (countries, airports, wordnet). Every command takes --json."
    ),
)
GROUPS = {
    "Your facts": (demo, plan, build, train, ask, recall, verify, export),
    "Theory": (bound, methods, papers),
    "Experiments": (sweep, reproduce, capacity, densest, law, runs),
    "Language models": (probe, meter),
    "Look": (inspect, report, serve),
    "Ground truth": (families,),
    "This machine": (selfcheck,),
}
"""Commands as help shows them; `recall` takes a language model as well."""

for _rank, (_name, _commands) in enumerate(GROUPS.items()):
    _group = Group(_name, sort_key=_rank)
    for _place, _command in enumerate(_commands):
        if isinstance(_command, App):
            _command.group, _command.sort_key = _group, _place
            app.command(_command)
        else:
            app.command(_command, group=_group, sort_key=_place, help_epilogue="")


app.register_install_completion_command(help="Complete commands and flags in this shell from now on.")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing it prints acts on a terminal (`rote.words`)."""
    with guarded_streams():
        return _main(sys.argv[1:] if arguments is None else arguments)


def _main(words: list[str]) -> int:
    try:
        outcome = app(words, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        return complain(f"{error} See `rote --help` or `rote COMMAND --help`", 2)
    except RoteError as error:
        return complain(in_flags(str(error), _flags(words)), error.exit_code)
    except KeyboardInterrupt:
        return complain(_interrupted(_flags(words)), 130)
    except BrokenPipeError:
        return 0
    except OSError as error:
        return complain(system_message(error), 2)
    except (MemoryError, RuntimeError) as error:
        # What torch cannot allocate is a RuntimeError of this text.
        if isinstance(error, RuntimeError) and "can't allocate memory" not in str(error):
            raise
        return complain(_out_of_memory(_flags(words)), 2)
    return outcome if isinstance(outcome, int) else 0


def _flags(words: list[str]) -> dict[str, str]:
    """The flags of the command that these words ran."""
    return flags_of(app.parse_commands(words)[1][-1])


def _interrupted(flags: dict[str, str]) -> str:
    if "output" in flags:
        return "interrupted; a model folder is written whole or not at all"
    return "interrupted"


def _out_of_memory(flags: dict[str, str]) -> str:
    """Names the options of the command that decide how much memory it takes."""
    sizes = [flags[name] for name in ("dim", "heads", "width", "vocab", "context", "batch") if name in flags]
    smaller = f", or a smaller {' or '.join(sizes)}" if sizes else ""
    return f"not enough memory for this size; try fewer facts{smaller}"


def run() -> None:
    """Entry point of the `rote` script."""
    sys.exit(main())
