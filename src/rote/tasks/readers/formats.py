"""A file's bytes to a table: the name tells the format, and `.gz` behind it that it is compressed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from rote.errors import InputError
from rote.tasks.origin import Reading
from rote.tasks.readers.delimited import table_from_text
from rote.tasks.readers.frame import table_from_parquet
from rote.tasks.readers.jsonl import table_from_lines
from rote.tasks.readers.text import decoded, not_empty, read_bytes
from rote.tasks.table import Table

DELIMITED = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
LINES = (".jsonl", ".ndjson")
WORKBOOKS = (".xlsx", ".xlsm")
SUFFIXES = (*DELIMITED, *LINES, ".parquet", *WORKBOOKS)
GZIP, GZIP_MARK, ZIP_MARK = ".gz", b"\x1f\x8b", b"PK\3\4"
OLD = {
    ".xls": "save it as .xlsx or .csv", ".xlsb": "save it as .xlsx or .csv", ".ods": "save it as .xlsx or .csv",
    ".zip": "unpack it and name the file in it", ".xz": "unpack it, or pack it by gzip",
    ".bz2": "unpack it, or pack it by gzip", ".zst": "unpack it, or pack it by gzip",
    ".json": "write one object per line and call it .jsonl",
}  # fmt: skip
"""Formats that are not read, and what helps."""


def read_table(path: Path, reading: Reading | None = None, written: str | None = None) -> Table:
    """The table of a file; `written` is the path as the user wrote it."""
    suffix = suffix_of(path.name)
    if suffix not in SUFFIXES:
        what = None if os.path.exists(path) else "there is no such file"
        if os.path.isdir(path):
            what = "is a folder; name a file in it"
        raise InputError(f"{written or path}: {what or _unknown(suffix)}; {_known()}")
    return table_in(read_bytes(path), path.name, str(path), reading)


def table_in(data: bytes, name: str, where: str, reading: Reading | None = None) -> Table:
    """The table in the bytes of a file of this name; `where` names it in messages."""
    from rote.unpacking import unpacked_gzip

    suffix, reading = suffix_of(name), reading or Reading()
    if suffix not in SUFFIXES:
        raise InputError(f"{where}: {_unknown(suffix)}; {_known()}")
    if name.lower().endswith(GZIP):
        data = unpacked_gzip(not_empty(data, where), where)
    if suffix in WORKBOOKS:
        from rote.tasks.readers.workbook import table_from_workbook

        return table_from_workbook(not_empty(data, where), where, reading)
    if reading.sheet is not None:
        raise InputError(f"{where}: `sheet={reading.sheet}`: only workbooks (.xlsx) have sheets; leave it out")
    if suffix == ".parquet":
        return table_from_parquet(not_empty(data, where), where)
    text, notes = decoded(data, where, reading.encoding)
    if suffix in LINES:
        table = table_from_lines(text, where)
    else:
        table = table_from_text(text, where, DELIMITED[suffix], reading)
    return replace(table, notes=(*notes, *table.notes))


def table_of_stream(data: bytes, where: str, reading: Reading) -> Table:
    """A table whose name nobody gave: what it begins like tells the format, and cells are divided by commas."""
    from rote.unpacking import unpacked_gzip

    if data.startswith(GZIP_MARK):
        data = unpacked_gzip(data, where)
    if data.startswith(ZIP_MARK):
        return table_in(data, "table.xlsx", where, reading)
    begins = data[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return table_in(data, "table.jsonl" if begins == b"{" else "table.csv", where, reading)


_LOOKED_AT = 4096


def suffix_of(name: str) -> str:
    """The suffix that tells a file's format: the one before `.gz` where it is compressed."""
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix == GZIP else path.suffix


def _unknown(suffix: str) -> str:
    hint = f" ({OLD[suffix]})" if suffix in OLD else ""
    return f"the suffix {suffix!r} tells no known format{hint}"


def _known() -> str:
    return f"facts are read from files that end in {', '.join(SUFFIXES)}, or in one of these and {GZIP}"
