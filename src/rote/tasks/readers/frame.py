"""DataFrames and Parquet files: polars frames by their own casts, others (pandas) cell by cell."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from rote.errors import InputError, problems
from rote.panics import quiet
from rote.tasks.cells import cell_text
from rote.tasks.table import Table, checked_table

MOST_CELLS = 2**26
MOST_TEXT = 2**28
"""Bytes of text in one column."""


def table_from_parquet(data: bytes, where: str) -> Table:
    """A table from the bytes of a Parquet file; `where` names them in messages."""
    import polars

    try:
        with quiet():
            columns = len(polars.read_parquet_schema(io.BytesIO(data)))
            rows = int(polars.scan_parquet(io.BytesIO(data)).select(polars.len()).collect().item())
            if rows * columns > MOST_CELLS:
                raise InputError(
                    f"{where}: {rows:,} rows of {columns:,} columns are too many; rote reads {MOST_CELLS:,} cells"
                )
            frame = polars.read_parquet(data)
    except polars.exceptions.PanicException:
        # What polars takes for impossible is possible in a damaged file.
        raise InputError(f"{where}: is not a readable Parquet file (damaged inside); write it again") from None
    except (polars.exceptions.PolarsError, OSError, ValueError) as error:
        raise InputError(f"{where}: is not a readable Parquet file ({str(error).splitlines()[0]})") from None
    return table_of(frame, where)


def table_of(frame: Any, where: str) -> Table:
    """A table from a DataFrame; missing values become empty cells."""
    names = list(frame.columns)
    other = [name for name in names if not isinstance(name, str)]
    if other:
        raise InputError(f"{where}: column names are text, found {', '.join(map(repr, other))}; rename the columns")
    columns = _polars_columns(frame, where) if type(frame).__module__.split(".")[0] == "polars" else None
    if columns is None:
        columns = [_texts(frame[name]) for name in names]
    if not names or not columns[0]:
        raise InputError(f"{where}: there are no rows; give one fact per row")
    return checked_table(where, names, columns, np.arange(1, len(columns[0]) + 1), "row")


def _polars_columns(frame: Any, where: str) -> list[list[str]]:
    import polars

    if isinstance(frame, polars.LazyFrame):
        frame = frame.collect()
    columns, wrong = [], []
    for series in frame.get_columns():
        if series.dtype.is_nested() or series.dtype == polars.Object or series.dtype == polars.Binary:
            wrong.append(f"column {series.name!r} holds {series.dtype}, not text or numbers; drop or convert it")
            continue
        try:
            texts = _written(series).fill_null("")
        except polars.exceptions.InvalidOperationError:
            wrong.append(f"column {series.name!r} holds {series.dtype}, not text or numbers; drop or convert it")
            continue
        # A value that compresses well is stored once and would be written out in every row.
        if (letters := int(texts.str.len_bytes().sum())) > MOST_TEXT:
            wrong.append(f"column {series.name!r} holds {letters:,} bytes of text; rote reads {MOST_TEXT:,}")
            continue
        columns.append(texts.to_list())
    if wrong:
        raise problems(where, wrong)
    return columns


def _written(series: Any) -> Any:
    """The cells of a polars column as text; moments and times as Python writes them, so that `ask` takes them."""
    import polars

    if series.dtype == polars.Time or (series.dtype == polars.Datetime and not _has_nanoseconds(series)):
        texts = [None if cell is None else cell_text(cell) for cell in series.to_list()]
        return polars.Series(series.name, texts, dtype=polars.String)
    return series.cast(polars.String)


def _has_nanoseconds(series: Any) -> bool:
    return series.dtype.time_unit == "ns" and bool((series.dt.nanosecond() % 1000 != 0).any())


def _texts(cells: Any) -> list[str]:
    """Cells of a column as text, those the frame's own library calls missing as empty ones."""
    missing = cells.isna() if hasattr(cells, "isna") else [cell is None or cell != cell for cell in cells]
    return ["" if absent else cell_text(cell) or str(cell) for cell, absent in zip(cells, missing, strict=True)]
