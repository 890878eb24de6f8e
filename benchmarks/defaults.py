"""What `rote build` answers without a flag: method, size beside every alternative, time, and what the model then does.

    python benchmarks/defaults.py [-o FOLDER] [TABLE ...] [--stages plan,build,...]

Tables: countries, airports, wordnet, orders (12,000 order numbers to 1,900 places), products (5,000 product codes to
10 categories) and questions (800 questions in words to 120 answers of several words). Each is planned, built by default
and with --smallest, then asked, inspected, edited (one answer) and exported to Llama and GGUF, every command in a
process of its own. Times are CPU seconds of the process, user and system together; `ask` is a cold `rote ask`. Every
stage that ended is kept in FOLDER/results.json (runs/defaults), so that the same command resumes. Exports of WordNet
ask a sample of its facts (`rote export --sample`): questions of 71 letters to 2,734 heads take long in either library.
"""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from tables_of_ones_own import codes

Rows = list[tuple[str, ...]]


def orders() -> Rows:
    rng = random.Random(0)
    places = [f"{rng.choice('ABCDEFGH')}-{aisle:02d}-{shelf}" for aisle in range(95) for shelf in range(20)]
    numbers = rng.sample(range(100_000, 10_000_000), 12_000)
    return [("order", "place"), *((str(number), rng.choice(places)) for number in numbers)]


def products() -> Rows:
    rng = random.Random(0)
    categories = ["Books", "Toys", "Garden", "Grocery", "Clothing", "Sports", "Beauty", "Music", "Health", "Office"]
    return [("sku", "category"), *((code, rng.choice(categories)) for code in codes(5000, 1, "AA-99999"))]


def questions() -> Rows:
    rng = random.Random(0)
    asked = ["Who looks after the", "Where can I return the", "How do I clean the", "When was the"]
    kinds = ["lamp", "desk", "chair", "shelf", "sofa", "mirror", "carpet", "stool", "cabinet", "bench"]
    made = ["oak", "pine", "steel", "glass", "cork", "wool", "linen", "brass", "clay", "paper"]
    rooms = ["bought for the hall?", "in the kitchen?"]
    answers = [f"ask {name} on floor {floor}" for name in made for floor in range(12)]
    keys = [f"{start} {stuff} {kind} {room}" for start in asked for stuff in made for kind in kinds for room in rooms]
    return [("question", "answer"), *((key, rng.choice(answers)) for key in keys)]


OWN: dict[str, Callable[[], Rows]] = {"orders": orders, "products": products, "questions": questions}
NAMES = ("countries", "airports", "wordnet", *OWN)
SAMPLES = {"wordnet": 200}
"""Facts that an export asks, where asking all of them takes hours."""
ALTERNATIVES = ("entropy", "retrieval", "xz", "zip", "trie", "sqlite")


def rote(*words: object) -> tuple[Any, float, str]:
    """The JSON that a command prints, its CPU seconds, and what it said when it failed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([sys.executable, "-m", "rote", *map(str, words), "--json"], stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, said = out.read(), err.read()
    seconds = used.ru_utime + used.ru_stime
    if process.returncode:
        return None, seconds, (said.strip().splitlines() or ["failed"])[-1]
    return json.loads(text), seconds, ""


def folder_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def planned(place: Place) -> dict[str, Any]:
    rows, seconds, said = rote("plan", place.facts)
    if rows is None:
        return {"plan": said, "plan_seconds": seconds, "sizes": {}}
    return {"plan_seconds": seconds, "sizes": {row["id"]: row["bytes"] for row in rows if row["id"] in ALTERNATIVES}}


def built(place: Place) -> dict[str, Any]:
    told, seconds, said = rote("build", place.facts, "-o", place.model, "--force")
    if told is None:
        return {"failed": said, "build_seconds": seconds}
    names = ("facts", "recalled", "method", "spec", "parameters", "min_margin", "attempts", "runner_up")
    weights = (place.model / "model.safetensors").stat().st_size
    return {
        **{name: told[name] for name in names},
        "weights": weights, "folder": folder_bytes(place.model), "build_seconds": seconds,
    }  # fmt: skip


def smallest(place: Place) -> dict[str, Any]:
    folder = place.folder / f"{place.name}-smallest"
    told, seconds, said = rote("build", place.facts, "--smallest", "-o", folder, "--force")
    size = folder_bytes(folder) if told else 0
    return {"smallest": told["method"] if told else said, "smallest_folder": size, "smallest_seconds": seconds}


def asked(place: Place) -> dict[str, Any]:
    told, seconds, said = rote("ask", place.model, *place.key)
    return {"ask": "yes" if told and told["known"] else said, "ask_seconds": seconds}


def inspected(place: Place) -> dict[str, Any]:
    told, seconds, said = rote("inspect", place.model, *place.key)
    return {"inspect": "yes" if told else said, "inspect_seconds": seconds}


def edited(place: Place) -> dict[str, Any]:
    """Whether one answer can be changed, with every other fact kept."""
    change = f"{' '.join(place.key)}={place.other_answer}"
    told, seconds, said = rote(
        "edit", place.model, "--set", change, "-o", place.folder / f"{place.name}-edited", "--force"
    )
    held = f"{told['recalled']:,} of {told['facts']:,}" if told else said
    return {"edit": held, "edit_seconds": seconds}


def exported(target: str) -> Callable[[Place], dict[str, Any]]:
    """Facts that the exported model recalled, or why it was not exported."""

    def export(place: Place) -> dict[str, Any]:
        to = place.folder / f"{place.name}-{target}"
        sample = ("--sample", SAMPLES[place.name]) if place.name in SAMPLES else ()
        told, seconds, said = rote("export", place.model, "--to", target, "-o", to, "--force", *sample)
        held = f"{told['recalled']:,} of {told['asked'] or told['facts']:,}" if told else said
        return {target: held, f"{target}_seconds": seconds}

    return export


STAGES = {
    "plan": planned, "build": built, "smallest": smallest, "ask": asked, "inspect": inspected,
    "edit": edited, "llama": exported("llama"), "gguf": exported("gguf"),
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A table, and where its models are."""

    name: str
    folder: Path

    @property
    def facts(self) -> str:
        return self.name if self.name not in OWN else str(written(self.name, self.folder))

    @property
    def model(self) -> Path:
        return self.folder / f"{self.name}-model"

    @property
    def key(self) -> tuple[str, ...]:
        """The cells of some key, as one types them."""
        if self.name in OWN:
            return OWN[self.name]()[1][:-1]
        return {"countries": ("capital", "France"), "airports": ("JFK",), "wordnet": ("waxwing",)}[self.name]

    @property
    def other_answer(self) -> str:
        """An answer of another key."""
        if self.name in OWN:
            rows = OWN[self.name]()[1:]
            return next(row[-1] for row in rows if row[-1] != rows[0][-1])
        return {"countries": "Tokyo", "airports": "Europe/Paris", "wordnet": "organism #1"}[self.name]


def written(name: str, folder: Path) -> Path:
    path = folder / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(OWN[name]())
    return path


def show(results: dict[str, Any]) -> None:
    rows = [(name, results[name]) for name in NAMES if "method" in results.get(name, {})]
    print("| table | facts | method | parameters | weights | folder | " + " | ".join(ALTERNATIVES) + " |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, row in rows:
        others = " | ".join(f"{row.get('sizes', {}).get(id) or 0:,}" for id in ALTERNATIVES)
        print(
            f"| {name} | {row['facts']:,} | {row['method']} | {row['parameters']:,} | {row['weights']:,} "
            f"| {row['folder']:,} | {others} |"
        )
    print(
        "\n| table | recalled | margin | plan, s | build, s | ask, s | inspect | edit | Llama | GGUF "
        "| smallest | folder | s |"
    )
    print("|---|---:|---:|---:|---:|---:|---|---|---|---|---|---:|---:|")
    for name, row in rows:
        ended = [row.get(stage, "not run") for stage in ("inspect", "edit", "llama", "gguf", "smallest")]
        print(
            f"| {name} | {row['recalled']:,} | {row['min_margin']:.3g} | {row.get('plan_seconds', 0):.1f} "
            f"| {row['build_seconds']:.1f} | {row.get('ask_seconds', 0):.2f} | {' | '.join(ended)} "
            f"| {row.get('smallest_folder', 0):,} | {row.get('smallest_seconds', 0):.1f} |"
        )
    for name, row in results.items():
        if "failed" in row:
            print(f"\n{name}: {row['failed']}")


def main(words: list[str]) -> None:
    folder = Path(words.pop(words.index("-o") + 1)) if "-o" in words else Path("runs") / "defaults"
    stages = words.pop(words.index("--stages") + 1).split(",") if "--stages" in words else list(STAGES)
    names = [word for word in words if word not in ("-o", "--stages")] or list(NAMES)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    for name in names:
        row = results.setdefault(name, {"done": []})
        for stage in stages:
            if stage in row["done"] or "failed" in row:
                continue
            row.update(STAGES[stage](Place(name, folder)))
            row["done"].append(stage)
            kept.write_text(json.dumps(results, indent=1))
    show(results)


if __name__ == "__main__":
    main(sys.argv[1:])
