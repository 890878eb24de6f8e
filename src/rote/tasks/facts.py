"""The one entry point to facts: a file, a DataFrame, a generator or a named source in, a task out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeAlias, runtime_checkable

from pydantic import ValidationError

from rote.arguments import typed
from rote.errors import InputError, details_of, problems, validation_problems
from rote.tasks.association import AssociationTask
from rote.tasks.grammar import name_of, refuse_unknown
from rote.tasks.origin import Origin, Reading
from rote.tasks.task import Task


@runtime_checkable
class Frame(Protocol):
    """Named columns that can be taken out by name: a polars or pandas DataFrame, or one like them."""

    @property
    def columns(self) -> Any: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, name: Any, /) -> Any: ...


Facts: TypeAlias = Annotated[
    Task | str | os.PathLike[str] | Frame | Mapping[Any, Any] | list[Any] | tuple[Any, ...] | Iterator[Any],
    "a path, a DataFrame, a mapping or pairs of keys and answers, a generator, a named source or a task",
]
"""What every argument called `facts` accepts: a task, a path, a DataFrame of any library, a mapping or pairs of keys
and answers, a generator or a named source."""

GENERATOR = "random"
STDIN = "-"


@typed
def facts(source: Facts, **reading: Any) -> Task:
    """The task that `source` holds.

    `source` is a path (.csv, .tsv, .jsonl, .ndjson, .parquet, .xlsx, each also with .gz behind it), a polars or pandas
    DataFrame, a generator such as `random:vocab=50,context=2,facts=210,seed=1`, or a named source (`countries`,
    `airports`, `wordnet`) with options, as in `airports:answer=country,facts=1000,seed=1`. A file wins over a source of
    the same name when its path has a folder or a suffix in it.

    `reading` says how a table's cells become tokens (the fields of `rote.tasks.Reading`): `key` columns, `answer`
    column, `weight` column, `keys` (words or letters), `context` (letters to pad to), `contradictions` (refuse,
    keep, first, last or most), `ignore_case`, `ignore_punctuation`, `unknown` (keys that are not stored are facts too,
    answered "unknown"; `unknown_keys` samples so many of them). Options that are None are ignored. A task is returned
    unchanged, or with its unknown keys.

    >>> import rote
    >>> capitals = rote.facts({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"})
    >>> capitals
    AssociationTask(2 facts, vocab 5, context 2, 'in memory')
    >>> print(capitals[1])
    capital Japan -> Tokyo
    >>> rote.facts("random:vocab=50,context=2,facts=210,seed=1").facts
    210
    """
    asked = parse_reading(reading)
    if isinstance(source, Task) and source.origin.reading.unknown:  # type: ignore[attr-defined]
        return source
    return completed(_read(source, asked), asked)


def _read(source: Any, asked: Reading) -> Task:
    """The facts that a source names, as they stand there."""
    if not isinstance(source, str | os.PathLike):
        return _from_object(source, asked)
    if source == STDIN:
        return _from_stdin(asked)
    if isinstance(source, os.PathLike):
        return _from_file(Path(source), str(source), asked)
    name = name_of(source)
    if is_path(source):
        return _from_file(Path(source), source, asked)
    if name == GENERATOR:
        return _from_generator(source, asked)
    if name in source_names():
        from rote.tasks.sources import named_task

        return named_task(source, asked)
    if os.path.isfile(source):
        from rote.tasks.readers.formats import SUFFIXES

        raise InputError(f"{source}: a file needs a suffix that tells its format: {', '.join(SUFFIXES)}")
    raise refuse_unknown(source if name is None else name, [*source_names(), GENERATOR])


def source_names() -> list[str]:
    """Names of the real data sources."""
    from rote.tasks.sources import SOURCES

    return list(SOURCES)


def parse_reading(given: dict[str, Any]) -> Reading:
    """Reading options by name; None is ignored, and one key column may be given as plain text."""
    values = {name: value for name, value in given.items() if value is not None}
    if isinstance(values.get("key"), str):
        values["key"] = (values["key"],)
    try:
        return Reading(**values)
    except ValidationError as error:
        raise problems("reading facts", validation_problems(details_of(error), Reading.model_fields)) from None


def is_path(source: str) -> bool:
    """Whether a source is taken for the path of a file: it has a folder or a suffix in it, and is no generator."""
    path_like = "/" in source or os.sep in source or bool(Path(source).suffix)
    return path_like and (name_of(source) is None or ":" not in source or os.path.lexists(source))


def _from_file(path: Path, written: str, reading: Reading) -> Task:
    from rote.tasks.readers.formats import read_table
    from rote.tasks.reading import task_from_table

    return task_from_table(read_table(path, reading, written), Origin(source=written, reading=reading))


def facts_in(data: bytes, name: str, **reading: Any) -> Task:
    """The task in the bytes of a file that is not on disk, for example one uploaded to the page."""
    from rote.tasks.readers.formats import table_in
    from rote.tasks.reading import task_from_table

    asked = parse_reading(reading)
    return completed(task_from_table(table_in(data, name, name, asked), Origin(source=name, reading=asked)), asked)


def completed(task: Task, asked: Reading) -> Task:
    """The task with the keys that it does not store as `unknown`, where that is asked for."""
    if not asked.unknown:
        if asked.unknown_keys is not None:
            raise InputError(f"`unknown_keys={asked.unknown_keys}`: goes with `unknown=True`; give both, or neither")
        return task
    from rote.tasks.unknown import with_unknown

    if not isinstance(task, AssociationTask):
        raise InputError(f"`unknown=True`: {task.kind} have no keys that are unknown; give facts with one answer each")
    return with_unknown(task, asked.unknown_keys)


def _from_stdin(reading: Reading) -> Task:
    """A table that is typed or piped in."""
    import sys

    from rote.tasks.readers.formats import table_of_stream
    from rote.tasks.reading import task_from_table

    table = table_of_stream(sys.stdin.buffer.read(), "standard input", reading)
    return task_from_table(table, Origin(source=STDIN, reading=reading))


def _from_object(source: Any, reading: Reading) -> Task:
    """A task, a DataFrame, or facts as Python has them."""
    from rote.tasks.readers.frame import table_of
    from rote.tasks.readers.pairs import table_of_pairs
    from rote.tasks.reading import task_from_table

    if isinstance(source, Task):
        return source
    if isinstance(source, Frame):
        return task_from_table(table_of(source, "DataFrame"), Origin(source="DataFrame", reading=reading))
    return task_from_table(table_of_pairs(source), Origin(reading=reading))


def _from_generator(source: str, reading: Reading) -> Task:
    from rote.tasks.generators import generated_task

    beside = ("unknown", "unknown_keys")
    told = [name for name in Reading.model_fields if getattr(reading, name) != getattr(Reading(), name)]
    misplaced = [name for name in told if name not in beside]
    if misplaced:
        raise InputError(
            f"{source}: {', '.join(misplaced)} tell{'s' if len(misplaced) == 1 else ''} how a table is read and "
            "a generator has none; leave it out"
        )
    return generated_task(source)
