"""Where a task came from: enough to read the same facts again."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from rote.tasks.change import Change

Keys = Literal["words", "letters", "spaces"]
"""A key cell is one token, or is spelled out in letters, or is split at its spaces (both padded on the left)."""

Contradictions = Literal["refuse", "keep", "first", "last", "most"]
"""What becomes of a key that has several answers: an error, all of them, the first or last one, or the commonest."""


Encoding = Literal[
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "cp1250", "cp1251", "iso8859-2",
    "iso8859-15", "koi8-r", "mac-roman", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr",
]  # fmt: skip
"""Encodings of text that files are read in."""

UNNAMED = ("in memory", "DataFrame", "-")
"""Sources of facts that cannot be read again."""


class Reading(BaseModel):
    """How a table's cells become tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: tuple[str, ...] | None = None
    """Key columns, in order. Default: every column but the answer and the weight."""
    answer: str | None = None
    """Answer column. Default: the last one that is not the weight."""
    weight: str | None = None
    """Weight column, which makes a distribution task. Default: the one named `weight`."""
    keys: Keys | None = None
    """How key cells become tokens. Default: by the table, keys of several cells as words and keys of one cell in
    letters."""
    context: int | None = None
    """Pad letters, or what spaces divide, to this many tokens instead of the longest key's."""
    contradictions: Contradictions = "refuse"
    """What to do with a key that has several answers and no weights; keeping them all lowers the ceiling."""
    blanks: Literal["refuse", "skip"] = "refuse"
    """What to do with a row whose key or answer is blank."""
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    """The character between cells. Default: by the file's name, or the one that divides its first line."""
    header: Literal["yes", "no"] | None = None
    """Whether the first line names the columns. Default: detected."""
    encoding: Encoding | None = None
    """Text encoding. Default: detected."""
    sheet: str | None = None
    """Sheet of a workbook (.xlsx). Default: the first one that is not hidden."""
    ignore_case: bool = False
    """Whether keys that differ only in upper and lower case are one; questions are read the same way."""
    ignore_punctuation: bool = False
    """Whether punctuation around a key, or around each word of one that is split at its spaces, is left out."""
    unknown: bool = False
    """Whether keys that are not in the table are facts too, answered `unknown` (`rote.tasks.unknown`)."""
    unknown_keys: int | None = Field(default=None, ge=0, le=1_000_000)
    """How many such keys are sampled. Default: all that there are up to 200,000; beyond that none, and `unknown` gets a
    threshold where the build is on a grid."""


class Origin(BaseModel):
    """Provenance of a task, written into every model folder made from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = "in memory"
    """A path, a generator or a named source, as the user wrote it."""
    licence: str | None = None
    citation: str | None = None
    reading: Reading = Reading()
    """How the facts were read, with every default filled in."""
    key_columns: tuple[str, ...] = ()
    """Names of the cells that make a key; empty where there was no table."""
    answer_column: str | None = None
    notes: tuple[str, ...] = ()
    """What was noticed and done while reading."""
    changes: tuple[Change, ...] = ()
    """Changes that were made to the facts since they were read, in order: those of an edited model."""
    templates: tuple[str, ...] = ()
    """Sentences that ask for the facts, given when the model was built; an export reads them as keys."""
