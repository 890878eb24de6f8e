"""What the run of a figure about vector tasks consists of: which trials are wanted, given those that ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.errors import InputError
from rote.experiments.findings import FigureSchedule
from rote.experiments.vectors.capacity import wanted_trials
from rote.experiments.vectors.trial import Results, VectorTrial
from rote.papers.kinds.vectors import CapacityFigure, GridFigure, SaturationFigure, VectorFigure, VectorSetting
from rote.training.query_attention.protocol import protocol_for


@dataclass(frozen=True)
class VectorSchedule(FigureSchedule[VectorFigure]):
    figure: VectorFigure
    protocol: str
    quick: bool
    repeats: int

    @classmethod
    def of(
        cls, figure: VectorFigure, *, protocol: str = "fast", quick: bool = False, repeats: int | None = None
    ) -> VectorSchedule:
        """`quick` (the `laptop` preset) keeps fewer cells and repeats. Default: the figure's `repeats`."""
        if repeats is None:
            repeats = 1 if quick else figure.repeats
        if repeats < 1:
            raise InputError(f"`repeats={repeats}`: must be at least 1")
        if isinstance(figure, SaturationFigure) and protocol == "best":
            raise InputError(
                f"{figure.id}: training length is what it varies; protocol best has one. Use fast or paper"
            )
        return cls(figure, protocol, quick, repeats)

    @property
    def run(self) -> str:
        """Capacity figures share a run: a setting that several of them ask about is searched once."""
        return "mahdavi2024.capacity" if isinstance(self.figure, CapacityFigure) else self.figure.id

    @property
    def size(self) -> int:
        return 0 if isinstance(self.figure, SaturationFigure) and not self.lengths else len(self.cells)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Training lengths of a saturation figure; under protocol paper its own."""
        if not isinstance(self.figure, SaturationFigure):
            return ()
        if self.protocol == "paper":
            return (50_000,)
        return self.figure.quick_lengths if self.quick else self.figure.lengths

    @property
    def cells(self) -> list[tuple[VectorSetting, int | None]]:
        """Settings with their numbers of examples, which a search has none of."""
        figure = self.figure
        if isinstance(figure, SaturationFigure):
            return list(figure.cells)
        if isinstance(figure, GridFigure):
            return [] if self.quick else list(figure.cells)
        kept = figure.quick
        return [
            (setting, None)
            for setting in figure.settings
            if not self.quick or (getattr(setting, figure.size) in kept.x and (setting.shared or kept.fresh))
        ]

    def trials(self) -> list[VectorTrial]:
        """Every trial of a grid or of a saturation figure; a search finds its own."""
        trials = []
        for seed in range(self.repeats):
            for setting, count in self.cells:
                if count is None:
                    continue
                if isinstance(self.figure, SaturationFigure):
                    for steps in self.lengths:
                        protocol = protocol_for(self.protocol, count, None, steps=steps, stop=False)
                        trials.append(VectorTrial(setting, count, protocol, seed, heads_measured=True))
                else:
                    trials.append(VectorTrial(setting, count, self._grid_protocol(setting, count), seed))
        return trials

    def wanted(self, results: Results) -> list[VectorTrial]:
        if isinstance(self.figure, CapacityFigure):
            return wanted_trials([setting for setting, _ in self.cells], self.protocol, range(self.repeats), results)
        return [trial for trial in self.trials() if trial.key not in results]

    def _grid_protocol(self, setting: VectorSetting, count: int) -> Any:
        protocol = protocol_for(self.protocol, count, None if setting.classes else 1)
        fewest = self.figure.fewest_steps if isinstance(self.figure, GridFigure) else 0
        return protocol.changed(steps=max(protocol.steps, fewest)) if self.protocol == "paper" else protocol
