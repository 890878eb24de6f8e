"""The laws of a run: every sweep among its trials with the forms fitted to it, and the exponents by size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rote.arguments import typed
from rote.display import DataFrame, Tabular
from rote.errors import InputError
from rote.experiments.ledgers.file import foreign
from rote.experiments.ledgers.ledger import Ledger
from rote.experiments.size_laws import FEWEST, SweepLaw, laws_frame, sweep_laws
from rote.papers.kinds.lookups import Weighting
from rote.progress import SILENT, Progress


class SizeExponent(NamedTuple):
    """Exponents with which capacity grows in one size of one architecture, over the run's sweeps."""

    architecture: str
    size: str
    median_exponent: float
    least: float
    most: float
    sweeps: int


@dataclass(frozen=True)
class RunLaws(Tabular):
    """How capacity grows with the sizes of a run's models; `rote.fit_run` gives it."""

    folder: Path
    identity: dict[str, Any]
    weighting: Weighting
    trials: int
    laws: list[SweepLaw]

    @property
    def sizes(self) -> list[SizeExponent]:
        """Exponents gathered by architecture and size."""
        gathered: dict[tuple[str, str], list[float]] = {}
        for law in self.laws:
            if law.power is not None:
                key = (law.sweep.architecture, law.sweep.size)
                gathered.setdefault(key, []).append(law.power.values["exponent"])
        return [
            SizeExponent(*key, float(np.median(exponents)), min(exponents), max(exponents), len(exponents))
            for key, exponents in gathered.items()
        ]

    def frame(self) -> DataFrame:
        """A row per sweep, fitted form and parameter."""
        return laws_frame(self.laws)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "run": str(self.folder),
            **self.identity,
            "weighting": self.weighting,
            "trials": self.trials,
            "sizes": [size._asdict() for size in self.sizes],
            "sweeps": [law.summary() for law in self.laws],
        }


@typed
def fit_run(run: str | Path, weighting: Weighting = "uniform", progress: Progress = SILENT) -> RunLaws:
    """The laws that the trials of a run's folder follow, with every accuracy in one weighting of contexts.

    Models of different architectures, or trained otherwise, are never fitted together.

    >>> import rote, tempfile
    >>> folder = tempfile.mkdtemp() + "/run"
    >>> grid = {"vocab": 8, "context": 2, "dim": 4, "head_dim": 2, "heads": "1:5"}
    >>> _ = rote.sweep(grid, folder=folder, seeds=1, steps=20)
    >>> [fitted.sweep.size for fitted in rote.fit_run(folder).laws]
    ['heads']
    """
    about, rows = Ledger.read(run)
    if any("spec" not in row.cell for row in rows):
        raise InputError(f"{run}: its trials train no models of one size each; `rote reproduce` says what they show")
    with foreign(run):
        laws = sweep_laws(rows, weighting, progress=progress)
    if not laws:
        raise InputError(
            f"{run}: {len(rows)} trials make no sweep of {FEWEST} values below saturation; let the run continue"
        )
    return RunLaws(Path(run), about["identity"], weighting, len(rows), laws)
