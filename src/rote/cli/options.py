"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from rote.errors import InputError

if TYPE_CHECKING:
    from rote.lm.language_model import LanguageModel, ParameterCount
    from rote.progress import Progress
    from rote.tasks import Reading, Task
    from rote.trackers import TrackerName

LOADING = Group("Loading a language model", sort_key=91)


@Parameter(name="*", group=LOADING)
@dataclass(frozen=True)
class LoadingOptions:
    """How a language model is loaded."""

    gguf: str | None = None
    "The GGUF file to load, if a folder has several."
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    "Precision of the weights."
    device: str = "cpu"
    "A torch device."
    download: Annotated[bool, Parameter(negative="")] = False
    "Allow downloads. Default: only local files are read."
    remote_code: Annotated[bool, Parameter(negative="")] = False
    "Allow Python code that comes with the model to run. Default: rejected."


def load_language_model(model: Path, options: LoadingOptions | None, attentions: bool = False) -> LanguageModel:
    from rote.lm.loading import load_language_model as load

    chosen = options or LoadingOptions()
    return load(
        str(model), gguf=chosen.gguf, dtype=chosen.dtype, device=chosen.device, download=chosen.download,
        remote_code=chosen.remote_code, attentions=attentions,
    )  # fmt: skip


def counted_as_parameters(counted: ParameterCount) -> str:
    """Every count says what it counts."""
    return f"{counted.total:,} (all weights, tied ones once; {counted.embeddings:,} of them embedding tables)"


READING = Group("Reading facts", sort_key=90)

NOTE_FLAGS = {
    name: f"--{name}"
    for name in ("key", "answer", "keys", "header", "delimiter", "blanks", "contradictions", "encoding", "sheet")
}
"""Flags of the options that notes on reading name."""

Facts = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True, help="A file, a generator (random:...), a named source, or - (standard input)."
    ),
]
On = Annotated[
    str,
    Parameter(
        help="Where trials run, with the same results: here, ray (on this machine, joined or started), or the address "
        "of a Ray cluster (ray://HOST:PORT, HOST:PORT)."
    ),
]
PartOfTrials = Annotated[
    str | None,
    Parameter(
        name="--part",
        help="Train one part of the trials, for example 1/2; `rote runs merge` joins the parts. Default: all trials.",
    ),
]
Seed = Annotated[int, Parameter(help="Random seed; the same seed gives the same result.")]
Figures = Annotated[tuple[Literal["png", "svg", "pdf"], ...], Parameter(negative="", consume_multiple=True)]
"""Formats of the figures that a command draws."""


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class ReadingOptions:
    """How the cells of a table become tokens."""

    key: Annotated[tuple[str, ...] | None, Parameter(negative="")] = None
    "Key columns, in order. Default: all but the answer and the weight."
    answer: str | None = None
    "Answer column. Default: the last one."
    weight: str | None = None
    "Weight column, which makes the task a distribution. Default: the column named `weight`, if any."
    keys: Literal["words", "letters", "spaces"] | None = None
    "Tokens of a key cell: one word, its letters, or its parts between spaces. Default: by what the table requires."
    pad: int | None = None
    "Pad letters or parts to this many tokens. Default: those of the longest key."
    contradictions: Literal["refuse", "keep", "first", "last", "most"] | None = None
    "A key with several answers: refuse the table, keep all of them, or the first, last or most frequent. "
    "Default: refuse."
    blanks: Literal["refuse", "skip"] | None = None
    "Rows with a blank key or answer: refuse the table or skip them. Default: refuse."
    delimiter: str | None = None
    "The character between cells. Default: detected."
    header: Literal["yes", "no"] | None = None
    "Whether the first line names the columns. Default: detected."
    encoding: str | None = None
    "Encoding of a text file, for example latin-1. Default: detected."
    sheet: str | None = None
    "Sheet of a workbook (.xlsx). Default: the first one."
    ignore_case: Annotated[bool, Parameter(negative="")] = False
    "Treat keys that differ only in case as one. The folder remembers it, so that `rote ask` does the same."
    ignore_punctuation: Annotated[bool, Parameter(negative="")] = False
    "Ignore punctuation around keys, or around each word of keys that are sentences; remembered like --ignore-case."
    unknown: Annotated[bool, Parameter(negative="")] = False
    "Store the answer `unknown` for every key that the facts do not have, so that the weights themselves abstain."
    unknown_keys: int | None = None
    """With --unknown: sample so many of those keys. Default: all of them up to 200,000; beyond that none, and
    a build in int8 gives *unknown* a threshold."""

    def given(self) -> dict[str, Any]:
        """Those the user set, by the names of `rote.tasks.origin.Reading`."""
        return {"context" if name == "pad" else name: value for name, value in _given(self).items()}

    def typed(self) -> str:
        """The options that were given, as they are typed after a command."""
        import shlex

        words = []
        for name, value in _given(self).items():
            flag = f"--{name.replace('_', '-')}"
            for word in value if isinstance(value, tuple) else (value,):
                words += [flag] if word is True else [flag, shlex.quote(str(word))]
        return "".join(f" {word}" for word in words)


@Parameter(name="*")
@dataclass(frozen=True)
class TrainingOptions:
    """Settings that replace those of the training protocol."""

    steps: int | None = None
    "Optimizer steps. Default: the protocol's."
    batch: int | None = None
    "Contexts per step. Default: all of them up to 10,000."
    optimizer: Literal["adam", "muon"] | None = None
    "Adam, or Muon on the heads' matrices and Adam elsewhere. Default: the protocol's."
    rate: float | None = None
    "Peak learning rate. Default: the protocol's."
    polish: int | None = None
    "L-BFGS iterations after the last step. Default: the protocol's."

    @property
    def changes(self) -> dict[str, Any]:
        """Those the user set, by the names of `rote.training.protocol.Protocol`."""
        return {"peak" if name == "rate" else name: value for name, value in _given(self).items()}


def _given(options: Any) -> dict[str, Any]:
    """The options that a user set."""
    values = {option.name: getattr(options, option.name) for option in fields(options)}
    return {name: value for name, value in values.items() if value is not None and value is not False}


def read_facts(source: str, options: ReadingOptions | None, default: Reading | None = None) -> Task:
    """The task that a user's words name; a model folder's own reading is the default for checking it."""
    from rote.tasks.facts import facts

    reading = default.model_dump(exclude_defaults=True) if default is not None else {}
    return facts(source, **{**reading, **(options.given() if options else {})})


def facts_of(folder: Path, source: str | None, options: ReadingOptions | None) -> tuple[str, Task]:
    """The facts that a user names, or those the model folder was made from, read the way the folder's were."""
    from rote.folders.layout import read_origin
    from rote.folders.named_facts import facts_of_folder
    from rote.tasks.facts import parse_reading

    origin = read_origin(folder)
    if source is not None:
        return source, read_facts(source, options, origin.reading)
    if options is not None:
        reading = origin.reading.model_copy(update=options.given())
        origin = origin.model_copy(update={"reading": parse_reading(reading.model_dump())})
    return origin.source, facts_of_folder(origin, folder)


def facts_of_graft(folder: Path, source: str | None, options: ReadingOptions | None) -> tuple[str, Task]:
    """The facts that a user names, or those that a grafted folder names."""
    from rote.folders.named_facts import facts_of_folder
    from rote.lm.graft.record import read_record

    origin = read_record(folder).facts
    if source is not None:
        return source, read_facts(source, options, origin.reading)
    return origin.source, facts_of_folder(origin, folder)


def tell(notes: Sequence[str]) -> None:
    """Print one line per note on stderr, with options as the flags that a user types."""
    import sys

    from rote.cli.usage import in_flags

    for note in notes:
        print(f"note: {in_flags(note, NOTE_FLAGS)}", file=sys.stderr)


def bars() -> Progress:
    """Progress bars, on stderr, when a person is watching."""
    import sys

    from rote.progress import SILENT, Bars

    return Bars() if sys.stderr.isatty() else SILENT


ReportTo = Annotated[
    Literal["wandb", "trackio", "mlflow"] | None,
    Parameter(help="Report every trial that ends to W&B, Trackio or MLflow. Default: nothing is reported."),
]


@contextmanager
def reported(to: TrackerName | None, command: str, **config: Any) -> Iterator[Progress]:
    """Progress bars, and reports to a tracker where one is named; `config` are the settings of the run."""
    if to is None:
        yield bars()
        return
    from rote.trackers import report_to

    stated = {name: str(value) for name, value in config.items() if value is not None}
    with report_to(to, name=command, config={"command": command, **stated}, progress=bars()) as progress:
        yield progress


def settings(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`--set name=value` pairs; values are JSON where they parse as such, else text."""
    import json

    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"--set {pair}: expected name=value")
        try:
            values[name.replace("-", "_")] = json.loads(value)
        except (ValueError, RecursionError):
            values[name.replace("-", "_")] = value
    return values
