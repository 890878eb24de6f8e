"""From a table of one's own to an answer: what building and asking take.

    python benchmarks/own_tables.py [tables|ask|folder]

`tables`: every table of tests/tables_of_ones_own.py, and one of 50,000 product codes, built without a flag. `ask`: keys
per second from a list, the latency of one question in a running process, and how many of 10,000 made-up keys are taken
for stored ones. `folder`: bytes of a sparse model's folder beside a zip of the facts. Times are processor seconds of
one thread.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import rote
from rote.experiments.storage import zipped_bytes
from rote.folders import read_folder, verify, write_folder
from rote.tasks.facts import facts
from tables_of_ones_own import TABLES, OwnTable, codes, delimited

LARGEST = 50_000


def large_table() -> OwnTable:
    rng = random.Random(0)
    shelves = [f"shelf {number}" for number in range(200)]
    rows = [(code, rng.choice(shelves)) for code in codes(LARGEST, 1, "AAA-99999")]
    return delimited(["sku", "shelf"], rows, "products.csv")


def tables() -> None:
    print("| table | facts | read | method | seconds | parameters | folder, bytes |\n|---|---|---|---|---|---|---|")
    for name, make in [*TABLES.items(), ("product codes, many", large_table)]:
        table = make()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / table.file
            path.write_bytes(table.content)
            start = time.process_time()
            task = facts(path)
            built = rote.build(task)
            seconds = time.process_time() - start
            written = write_folder(
                Path(folder) / "model", built.model, task.origin, built.provenance, built.certificate
            )  # fmt: skip
            size = sum(file.stat().st_size for file in written.iterdir())
            for words, answer in table.questions:
                told = read_folder(written).model.ask(*words)
                if told.answer != answer:
                    raise SystemExit(f"{name}: {words} gave {told.answer}, not {answer}")
        print(
            f"| {name.replace('_', ' ')} | {task.facts:,} | {task.origin.reading.keys} | {built.provenance['method']} "
            f"| {seconds:.1f} | {built.model.parameters:,} | {size:,} |",
            flush=True,
        )


def ask() -> None:
    task = facts("airports")
    model = rote.build(task).model
    keys = [("".join(task[row].key),) for row in range(task.facts)]
    keys = (keys * 2)[:10_000]
    start = time.process_time()
    told = model.ask_all(keys)
    seconds = time.process_time() - start
    right = sum(answer.answer == task[row % task.facts].answer for row, answer in enumerate(told))
    latencies = []
    for key in keys[:300]:
        start = time.process_time()
        model.ask(*key)
        latencies.append(1000 * (time.process_time() - start))
    print(f"airports: {right:,} of {len(keys):,} keys right, {len(keys) / seconds:,.0f} keys a second,")
    print(f"one question {statistics.median(latencies):.2f} ms in the median")
    for name, made_up in (("airports", codes(12_000, 5, "AAA")), ("countries", None)):
        task = facts(name)
        model = rote.build(task).model
        stored = model.reader.stored
        known = {tuple(task.contexts[row].tolist()) for row in range(task.facts)}
        if made_up is None:
            generator = torch.Generator().manual_seed(1)
            drawn = torch.randint(0, task.shape.key_tokens, (10_000, 2), generator=generator).tolist()
            pairs = [task.vocabulary.words(row) for row in drawn if tuple(row) not in known]
        else:
            pairs = [(code,) for code in made_up]
            ids, _ = model.reader.ids(pairs)
            pairs = [pair for pair, row in zip(pairs, ids.tolist(), strict=True) if tuple(row) not in known][:10_000]
        mistaken = sum(answer.known for answer in model.ask_all(pairs))
        print(
            f"{name}: {mistaken} of {len(pairs):,} made-up keys taken for stored ones (stated: one in "
            f"{1 / stored.sizes.error_rate if stored.sizes.error_rate else float('inf'):,.0f}); the set of keys is "
            f"{stored.sizes.kind}, {stored.bytes:,} bytes for {stored.sizes.keys:,} keys"
        )


def folder() -> None:
    print("| facts | method | weights | keys | words | folder, bytes | zip of the facts | verified |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ("countries", "airports"):
        task = facts(name)
        built = rote.build(task, method="kajitsuka2025.embedding_table")
        with tempfile.TemporaryDirectory() as aside:
            path = write_folder(
                Path(aside) / "model", built.model, task.origin, built.provenance, built.certificate
            )  # fmt: skip
            size = {file.name: file.stat().st_size for file in path.iterdir()}
            holds = verify(read_folder(path), task).holds
        print(
            f"| {name} | {built.provenance['method']} | {size['model.safetensors']:,} | {size['keys.safetensors']:,} "
            f"| {size['vocab.json.xz']:,} | {sum(size.values()):,} | {zipped_bytes(task):,} | {holds} |"
        )


SECTIONS = {"tables": tables, "ask": ask, "folder": folder}

if __name__ == "__main__":
    torch.set_num_threads(1)
    for section in sys.argv[1:] or SECTIONS:
        SECTIONS[section]()
