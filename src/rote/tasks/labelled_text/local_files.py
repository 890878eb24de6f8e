"""Labelled texts out of a local file: JSON lines, CSV, TSV or Parquet, as MultiNLI and IMDb are passed on."""

from __future__ import annotations

from pathlib import Path

from rote.errors import InputError, problems
from rote.tasks.labelled_text.texts import LabelledTexts
from rote.tasks.readers.delimited import read_delimited
from rote.tasks.readers.frame import read_parquet
from rote.tasks.readers.jsonl import read_jsonl
from rote.tasks.table import Table

TEXT_COLUMNS = ("text", "premise", "sentence1")
"""Columns that hold the text, the first that there is: IMDb's, and MultiNLI's on the hub and as released."""
LABEL_COLUMNS = ("label", "gold_label")
UNLABELLED = ("", "-", "-1")
"""Labels that mean there is none: MultiNLI's, where annotators did not agree, and IMDb's of its unlabelled part."""

READERS = {
    ".csv": lambda path: read_delimited(path, ","),
    ".tsv": lambda path: read_delimited(path, "\t"),
    ".jsonl": read_jsonl,
    ".parquet": read_parquet,
}


def texts_of_file(path: Path) -> LabelledTexts:
    """Texts and labels by the columns' names; rows without a label are left out."""
    if path.suffix.lower() not in READERS:
        raise InputError(f"texts: {path} is none of {', '.join(READERS)}; convert it, or name a source")
    table = READERS[path.suffix.lower()](path)
    text, label = _column(table, TEXT_COLUMNS), _column(table, LABEL_COLUMNS)
    wrong = [
        f"no column holds the {what}; name one of them {' or '.join(names)} (columns: {', '.join(table.columns)})"
        for what, name, names in (("texts", text, TEXT_COLUMNS), ("labels", label, LABEL_COLUMNS))
        if name is None
    ]
    if text is None or label is None:
        raise problems(str(path), wrong)
    rows = [
        row
        for row, (words, kind) in enumerate(zip(table.columns[text], table.columns[label], strict=True))
        if words.strip() and kind.strip() not in UNLABELLED
    ]
    if not rows:
        raise InputError(f"{path}: no row has both a {text} and a {label}")
    return LabelledTexts(
        path.name,
        tuple(table.columns[text][row] for row in rows),
        tuple(table.columns[label][row].strip() for row in rows),
    )


def _column(table: Table, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in table.columns), None)
