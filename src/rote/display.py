"""Results as tables: text in a terminal, HTML in a notebook, data frames for everything else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from rote.errors import InputError
from rote.words import markup, visible

if TYPE_CHECKING:
    from polars import DataFrame as DataFrame
else:
    DataFrame = Any  # polars is imported when a frame is made

T = TypeVar("T")

WIDEST = 60
"""Characters of a cell that a table in a terminal shows."""
LEFT = "text-align:left"
MOST_SPELLED = 10**7
"""Whole numbers that are floats, such as ticks of an axis, are written out below this."""
MOST_ROWS = 60
"""Rows of a table that are shown; a frame has them all."""


def number(value: Any, digits: int = 4) -> str:
    """A value as people read it, in tables, charts and messages: 7,884; 0.0853; 1.2e-09; yes; - where there is none."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else f"{float(value):.3g}" if abs(value) < 10**300 else "huge"
    if not math.isfinite(value):
        return f"{value:g}"
    if value == int(value) and abs(value) < MOST_SPELLED:
        return f"{int(value):,}"
    if not 1e-3 <= abs(value) < 1e6:
        return f"{value:.{min(digits, 3)}g}"
    return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


@dataclass(frozen=True)
class ResultTable:
    """Rows under columns; `total` marks the last row as a sum."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    total: bool = False

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers alone."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return [all(isinstance(cell, int | float | None) for cell in column) and bool(column) for column in columns]


def html_pairs(title: str, pairs: Mapping[str, Any]) -> str:
    """Names and values as a small HTML table."""
    rows = "".join(
        f"<tr><th style='{LEFT}'>{markup(name)}</th><td style='{LEFT}'>{markup(number(value))}</td></tr>"
        for name, value in pairs.items()
    )
    return f"<table><caption style='{LEFT}'>{markup(title)}</caption>{rows}</table>"


def html_rows(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows as an HTML table; of many, the first ones."""
    head = "".join(f"<th style='{LEFT}'>{markup(name.replace('_', ' '))}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='{LEFT}'>{markup(number(cell))}</td>" for cell in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<tr><td>{len(rows) - MOST_ROWS} more</td></tr>" if len(rows) > MOST_ROWS else ""
    caption = f"<caption style='{LEFT}'>{markup(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"


def frame_of(rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Rows as a polars frame; values that are not plain numbers or text become text."""
    import polars

    plain = [{name: value if _plain(value) else str(value) for name, value in row.items()} for row in rows]
    return polars.DataFrame(plain, infer_schema_length=None)


def pandas_of(frame: DataFrame) -> Any:
    """A polars frame as a pandas one, where pandas is installed."""
    try:
        import pandas
    except ImportError:
        raise InputError("pandas is not installed: `pip install pandas`, or take `.frame()`, a polars frame") from None
    return pandas.DataFrame(frame.to_dict(as_series=False))


class Tabular:
    """An object with rows, as a polars or pandas frame."""

    def frame(self) -> DataFrame:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        return pandas_of(self.frame())


class Records(list[T], Tabular):
    """A list of records that shows itself as a table."""

    def __init__(self, records: Iterable[T] = (), columns: Sequence[str] = ()) -> None:
        super().__init__(records)
        self.columns = tuple(columns)
        """The fields of a record that are shown; a frame has all of them."""

    def frame(self) -> DataFrame:
        """One row per record, with all its fields."""
        return frame_of(_values(record) for record in self)

    def __repr__(self) -> str:
        columns, rows = self._shown()
        if not rows:
            return "[]"
        cells = [[_cut(visible(number(cell))) for cell in row] for row in rows[:MOST_ROWS]]
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in (columns, *cells)]
        more = [f"... {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []
        return "\n".join([*lines, *more])

    def _repr_html_(self) -> str:
        return html_rows("", *self._shown())

    def _shown(self) -> tuple[list[str], list[list[Any]]]:
        rows = [_values(record) for record in self]
        columns = list(self.columns or (rows[0] if rows else ()))
        return columns, [[row.get(name) for name in columns] for row in rows]


def _values(record: Any) -> dict[str, Any]:
    return record.summary() if hasattr(record, "summary") else record.model_dump()


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | None)


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
