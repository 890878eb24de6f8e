"""Values of Python as a table writes them: numbers, truth values, dates and times."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

Cell: TypeAlias = str | float | Decimal | date | time | np.number | np.bool_ | np.datetime64
"""What a cell of a key may be in Python: text, a number, a truth value, a date or a time."""


def cell_text(value: Any) -> str | None:
    """A value as the text of a cell; None if it is neither text, a number, a truth value, a date nor a time.

    >>> from datetime import datetime
    >>> cell_text(True), cell_text(7), cell_text(datetime(2024, 5, 1, 9, 30)), cell_text([7])
    ('true', '7', '2024-05-01 09:30:00', None)
    """
    value = _plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float | Decimal | np.number | date | time) else None


def cell_texts(value: Any) -> tuple[str, ...]:
    """Every way in which tables write a value, the one of `cell_text` first; none if that is None.

    >>> from datetime import date
    >>> cell_texts("7"), cell_texts(7.0), cell_texts(date(2024, 5, 1))
    (('7',), ('7.0', '7'), ('2024-05-01', '2024-05-01 00:00:00'))
    """
    text, value = cell_text(value), _plain(value)
    if text is None:
        return ()
    others: list[str] = []
    if isinstance(value, bool):
        others = [text.capitalize(), text.upper()]
    elif isinstance(value, int | np.integer):
        others = [f"{text}.0"]
    elif isinstance(value, float | np.floating) and float(value).is_integer():
        others = [str(int(value))]
    elif isinstance(value, datetime):
        midnight = value.time() == time() and value.tzinfo is None
        others = [value.isoformat(), *([str(value.date())] if midnight else [])]
    elif isinstance(value, date):
        others = [f"{text} 00:00:00"]
    elif isinstance(value, time) and text.endswith(":00"):
        others = [text.removesuffix(":00")]
    return (text, *others)


def _plain(value: Any) -> Any:
    """The value with NumPy's truth values and moments as Python's; others as they are."""
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.datetime64):
        days = np.datetime_data(value)[0] in ("Y", "M", "W", "D")
        return value.astype("datetime64[D]" if days else "datetime64[us]").item()
    return value
