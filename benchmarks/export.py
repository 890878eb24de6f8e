"""What exporting costs: parameters, bytes, facts recalled, change of margins and latency, a row per target.

    python benchmarks/export.py [countries|airports] [TARGET ...]

Models are built as `rote build FACTS --method dana2025.theorem1` does by default.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import torch

import rote
from rote.errors import RoteError
from rote.export import TARGETS
from rote.export.runtime import BATCH, Runtime
from rote.export.subject import subject_of
from rote.export.target import read_manifest

SOURCES = ("countries", "airports")


def latency(runtime: Runtime, ids: torch.Tensor, answers: torch.Tensor, times: int) -> float:
    """Median milliseconds for all questions together, the way the runtime takes them."""
    taken = []
    for _ in range(times + 1):
        start = time.perf_counter()
        for part, right in zip(ids.split(BATCH), answers.split(BATCH), strict=True):
            runtime.margins(part, right)
        taken.append(1e3 * (time.perf_counter() - start))
    return median(taken[1:])


def main() -> None:
    torch.set_num_threads(1)
    sources = [word for word in sys.argv[1:] if word in SOURCES] or list(SOURCES)
    targets = [word for word in sys.argv[1:] if word in TARGETS] or list(TARGETS)
    print("| facts | target | parameters | bytes | recalled | change of a margin | one question, ms | a thousand, ms |")
    print("|---|---|---|---|---|---|---|---|")
    for source in sources:
        task = rote.facts(source)
        built = rote.build(task, "dana2025.theorem1")
        subject = subject_of(built, task)
        for name in targets:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / name
                try:
                    stated = rote.export_model(built, name, path, task).certificate
                except RoteError as error:
                    print(f"| {source} | {name} | {str(error).splitlines()[0]} | | | | | |", flush=True)
                    continue
                runtime = TARGETS[name].open(path, subject, read_manifest(path))
                ids = torch.tensor(runtime.meant(subject.contexts))
                answers = torch.from_numpy(task.answers).long()
                thousand = torch.arange(1000) % len(ids)
                one, many = (
                    latency(runtime, ids[rows], answers[rows], times) for rows, times in ((slice(1), 30), (thousand, 3))
                )
                print(
                    f"| {source} | {name} | {stated.parameters:,} | {stated.bytes:,} | {stated.recalled:,} of "
                    f"{stated.facts:,} | {stated.largest_margin_change:.1g} of {stated.min_margin_float64:.2g} | "
                    f"{one:.2g} | {many:,.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
