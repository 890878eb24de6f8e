"""Named sources of real facts, one file each."""

from __future__ import annotations

import dataclasses

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rote.errors import InputError
from rote.tasks.grammar import checked, options_of
from rote.tasks.origin import Contradictions, Keys, Origin, Reading
from rote.tasks.reading import task_from_table
from rote.tasks.sources.airports import AIRPORTS
from rote.tasks.sources.countries import COUNTRIES
from rote.tasks.sources.source import Source as Source
from rote.tasks.sources.wordnet import WORDNET
from rote.tasks.table import Table
from rote.tasks.token_task import TokenTask
from rote.tasks.vocabulary import Vocabulary

SOURCES: dict[str, Source] = {source.name: source for source in (AIRPORTS, COUNTRIES, WORDNET)}


def register_source(source: Source) -> Source:
    """Add a named source, which every argument called `facts` then accepts.

    >>> import rote.extend
    >>> rote.extend.register_source(rote.extend.SOURCES["countries"])
    Traceback (most recent call last):
    rote.errors.InputError: source countries: this name is registered already; give another
    """
    if source.name in SOURCES:
        raise InputError(f"source {source.name}: this name is registered already; give another")
    SOURCES[source.name] = source
    return source


class _Options(BaseModel):
    """What may follow a source's name: how its table is read, and how many of its facts are taken."""

    model_config = ConfigDict(extra="forbid")

    facts: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0)
    key: str | None = None
    answer: str | None = None
    keys: Keys | None = None
    context: int | None = Field(None, ge=1)
    contradictions: Contradictions | None = None


def named_task(written: str, asked: Reading) -> TokenTask:
    """The task of a named source with options, as in `airports:answer=country,facts=1000,seed=1`.

    Options in the text and reading options mean the same; where both are given, reading options win.
    Rows without an answer are left out.
    """
    source = SOURCES[written.partition(":")[0]]
    options = checked(_Options, options_of(written), written)
    stated = options.model_dump(exclude={"facts", "seed"}, exclude_none=True)
    if "key" in stated:
        stated["key"] = tuple(stated["key"].split("+"))
    beside = {name: value for name, value in asked if value != getattr(Reading(), name)}
    reading = source.reading.model_copy(update={**stated, **beside})
    origin = Origin(source=written, licence=source.licence, citation=source.citation, reading=reading)
    task = task_from_table(_answered(source.load(), reading), origin)
    if options.facts is None:
        return task
    if options.facts > task.facts:
        raise InputError(f"{written}: facts={options.facts}, but {source.name} has {task.facts}; ask for fewer")
    rows = np.sort(np.random.default_rng(options.seed).permutation(task.facts)[: options.facts])
    sample = task.take(rows)
    return sample.in_vocabulary(Vocabulary(sample.vocabulary.words(sample.used)))


def _answered(table: Table, reading: Reading) -> Table:
    """The rows that have an answer; real sources have gaps."""
    cells = table.columns.get(reading.answer or "", [])
    if "" not in cells:
        return table
    rows = [row for row, cell in enumerate(cells) if cell]
    columns = {name: [column[row] for row in rows] for name, column in table.columns.items()}
    return dataclasses.replace(table, columns=columns, lines=table.lines[rows])
