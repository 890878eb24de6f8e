"""Which architecture holds most bits per parameter, at equal size: the study in docs/language_models.md.

`python benchmarks/meter.py FOLDER [full]` keeps every point in a ledger below FOLDER and goes on where it was cut
short; `full` takes 3,000 steps and two seeds instead of 1,000 and one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rote.experiments.meter import meter
from rote.lm.meter.subjects import Sizes
from rote.report.meter_figure import meter_figure

STUDY: dict[str, tuple[str, Sizes]] = {
    "gpt2": ("gpt2", Sizes(dim=16)),
    "llama": ("llama", Sizes(dim=16)),
    "mamba": ("mamba", Sizes(dim=18)),
    "llama, one wide head": ("llama", Sizes(dim=16, heads=1)),
    "llama, eight thin heads": ("llama", Sizes(dim=16, heads=8)),
    "llama, embeddings apart": ("llama", Sizes(dim=14, tied=False)),
    "llama, narrow MLP": ("llama", Sizes(dim=19, mlp=1, heads=1)),
    "llama, wide MLP": ("llama", Sizes(dim=12, mlp=8)),
    "llama, two blocks": ("llama", Sizes(dim=12, layers=2)),
    "llama, four blocks": ("llama", Sizes(dim=8, layers=4)),
}

if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/meter-study")
    quick = "full" not in sys.argv[2:]
    print(
        "| architecture | parameters | embeddings | bits per parameter | without embeddings | endless steps | CPU s |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, (model, sizes) in STUDY.items():
        run = folder / name.replace(", ", "-").replace(" ", "-")
        # An even number of steps and the same loads for all: only the architecture differs.
        reading = meter(
            model, sizes, steps=1000 if quick else 3000, seeds=1 if quick else 2, folder=run,
            loads=(2.5, 3.1) if quick else None,
        )  # fmt: skip
        meter_figure(reading, run / "held.png")
        seconds = sum(point.seconds for point in (*reading.points, *reading.shorter))
        print(
            f"| {name} | {reading.parameters.total:,} | {reading.parameters.embeddings:,} | "
            f"{reading.bits_per_parameter:.2f} ± {reading.half_width:.2f} | {reading.without_embeddings:.2f} | "
            f"{reading.extrapolated:.2f} | {seconds:.0f} |",
            flush=True,
        )
