"""`airports`: the three letters of an IATA code -> time zone, country or city.

From the package `airportsdata` (MIT licence). Codes are unique, so that no key contradicts another: 7,884 facts over
359 time zones at version 20260905; cities are known for 7,068 of them.
"""

from __future__ import annotations

import numpy as np

from rote.errors import InputError
from rote.tasks.origin import Reading
from rote.tasks.sources.source import Source
from rote.tasks.table import Table
from rote.version import pip_install

COLUMNS = {"code": "iata", "city": "city", "country": "country", "timezone": "tz"}
"""Our names of columns, and those of the package."""


def load() -> Table:
    try:
        import airportsdata
    except ImportError:
        raise InputError(f"airports: the package airportsdata is not installed; {pip_install('data')}") from None
    airports = sorted(airportsdata.load("IATA").values(), key=lambda airport: airport["iata"])
    columns = {name: [str(airport[field]) for airport in airports] for name, field in COLUMNS.items()}
    return Table("airports", columns, np.arange(1, len(airports) + 1), "row")


AIRPORTS = Source(
    name="airports",
    summary="IATA code in three letters -> timezone, country or city (answer=...)",
    licence="MIT",
    citation="Mike Borsetti, airportsdata, https://github.com/mborsetti/airportsdata",
    reading=Reading(key=("code",), answer="timezone", keys="letters"),
    load=load,
)
