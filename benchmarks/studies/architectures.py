"""Which architecture holds most per parameter, at equal size and at equal CPU time: many readings of the meter.

Every variant has about the same number of parameters, is offered the same strings in the same way and gets a rate of
its own. Training for half, a quarter and an eighth of the steps says what it would have held with less CPU time;
equal time is that of the quickest variant's full training.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from rote.arguments import typed
from rote.experiments.lm_capacity.meter import lm_capacity
from rote.experiments.lm_capacity.reading import LmCapacity
from rote.lm.capacity.subjects import LmSizes
from rote.progress import SILENT, Progress

STEPS, VOCAB = 600, 32


@dataclass(frozen=True)
class StudyVariant:
    """An architecture of the study, and the question it belongs to."""

    question: str
    name: str
    model: str
    sizes: LmSizes

    @property
    def folder(self) -> str:
        """The name of its run; a variant that answers two questions is measured once."""
        chosen = {name: value for name, value in vars(self.sizes).items() if value != getattr(LmSizes(), name)}
        parts = (
            f"{name}{value:.3g}" if isinstance(value, float) else f"{name}{value}" for name, value in chosen.items()
        )
        return "-".join([self.model, *parts])


VARIANTS = (
    StudyVariant("architecture", "Llama", "llama", LmSizes(dim=8, mlp=4)),
    StudyVariant("architecture", "GPT-2", "gpt2", LmSizes(dim=8, mlp=4.25)),
    StudyVariant("architecture", "Mamba", "mamba", LmSizes(dim=9)),
    StudyVariant("architecture", "attention only, heads of 4", "attention-only", LmSizes(dim=8, heads=7, head_dim=4)),
    StudyVariant(
        "architecture", "attention only, two blocks", "attention-only", LmSizes(dim=8, layers=2, heads=7, head_dim=2)
    ),
    StudyVariant("architecture", "MLP only", "mlp-only", LmSizes(dim=8, mlp=7)),
    StudyVariant("depth against width", "one block, d = 8", "llama", LmSizes(dim=8, mlp=4)),
    StudyVariant("depth against width", "two blocks, d = 6", "llama", LmSizes(dim=6, layers=2, heads=1, mlp=22 / 6)),
    StudyVariant("depth against width", "four blocks, d = 4", "llama", LmSizes(dim=4, layers=4, heads=1, mlp=4.5)),
    StudyVariant("head size", "one head of 8", "llama", LmSizes(dim=8, heads=1, mlp=4)),
    StudyVariant("head size", "two heads of 4", "llama", LmSizes(dim=8, mlp=4)),
    StudyVariant("head size", "four heads of 2", "llama", LmSizes(dim=8, heads=4, mlp=4)),
    StudyVariant("norm", "RMS norm", "plain", LmSizes(dim=8, mlp=5)),
    StudyVariant("norm", "layer norm", "plain", LmSizes(dim=8, mlp=5, norm="layer")),
    StudyVariant("norm", "no norm", "plain", LmSizes(dim=8, mlp=5, norm="none")),
    StudyVariant("tied embeddings", "tied, d = 8", "llama", LmSizes(dim=8, mlp=4)),
    StudyVariant("tied embeddings", "untied, d = 6", "llama", LmSizes(dim=6, heads=1, mlp=7, tied=False)),
)
"""About 1,300 parameters each, over a vocabulary of 32."""


@dataclass(frozen=True)
class Study:
    """The readings, one per variant."""

    variants: tuple[StudyVariant, ...]
    readings: tuple[LmCapacity, ...]

    @property
    def rows(self) -> list[tuple[StudyVariant, LmCapacity]]:
        return list(zip(self.variants, self.readings, strict=True))

    @property
    def distinct(self) -> list[tuple[StudyVariant, LmCapacity]]:
        """Each model once, most bits per parameter first."""
        once = {variant.folder: (variant, reading) for variant, reading in reversed(self.rows)}
        return sorted(once.values(), key=lambda row: -(row[1].bits_per_parameter or 0))

    @property
    def equal_seconds(self) -> float:
        """Processor time of one model's full training, of the variant for which it is shortest."""
        return min(seconds_each(reading) for reading in self.readings)

    def at_equal_time(self, reading: LmCapacity) -> float:
        """Bits per parameter after the CPU time that all variants had, between measured lengths of training.

        Bits rise about evenly with the logarithm of the steps. Not a number where even an eighth took longer.
        """
        steps = reading.points[0].steps * self.equal_seconds / seconds_each(reading)
        known = reading.by_steps
        for (fewer, less), (more, larger) in pairwise(known):
            if fewer <= steps <= more * (1 + 1e-9):
                return less + (larger - less) * math.log(steps / fewer) / math.log(more / fewer)
        return math.nan


def seconds_each(reading: LmCapacity) -> float:
    """Processor time of one full training at the best size."""
    return fmean(point.seconds for point in (reading.points if reading.best is None else reading.at(reading.best)))


@typed
def meter_study(
    folder: str | Path,
    *,
    variants: Sequence[StudyVariant] = VARIANTS,
    steps: int = STEPS,
    seeds: int = 2,
    vocab: int = VOCAB,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> Study:
    """Measure every variant; each has a run below `folder`, and what was measured before is not measured again."""
    readings: dict[str, LmCapacity] = {}
    with progress.stage("architectures", len({variant.folder for variant in variants})) as stage:
        for variant in variants:
            if variant.folder in readings:
                continue
            readings[variant.folder] = lm_capacity(
                variant.model, variant.sizes, steps=steps, seeds=seeds, vocab=vocab,
                folder=Path(folder) / variant.folder, workers=workers,
            )  # fmt: skip
            stage.advance()
    return Study(tuple(variants), tuple(readings[variant.folder] for variant in variants))
