"""What the run of a figure about #blocks consists of: which trials are wanted, given those that ended."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.blocks.search import SearchState, search, stacked
from rote.experiments.blocks.trial import AnyTrial, BlockTrial, BuiltTrial, Results
from rote.experiments.findings import FigureSchedule
from rote.papers.kajitsuka2025.choices import BATCH
from rote.papers.kinds.blocks import (
    BlockCurvesFigure,
    BlockFigure,
    BlockSearch,
    Sequences,
    SmallestBlocksFigure,
    TextSequences,
)
from rote.tasks.labelled_text.sources import DEFINITIONS


@dataclass(frozen=True)
class BlockSchedule(FigureSchedule[BlockFigure]):
    figure: BlockFigure
    protocol: str
    quick: bool
    repeats: int
    texts: str = DEFINITIONS

    @classmethod
    def of(
        cls, figure: BlockFigure, *, protocol: str = "fast", quick: bool = False, repeats: int | None = None,
        texts: str = DEFINITIONS,
    ) -> BlockSchedule:  # fmt: skip
        """`fast` stops a stack, and its rung, when one trial recalls the sequences; `paper` trains all to the end.

        `quick` keeps fewer points and five trials on each rung; `repeats` draws so many sets of sequences.
        """
        wrong = []
        if protocol not in ("fast", "paper"):
            wrong.append(f"`protocol={protocol}`: is not defined for {figure.id}; use fast or paper")
        if repeats is not None and repeats < 1:
            wrong.append(f"repeats: {repeats} must be at least 1")
        if wrong:
            raise InputError("; ".join(wrong))
        return cls(figure, protocol, quick, figure.repeats if repeats is None else repeats, texts)

    @property
    def size(self) -> int:
        return len(self.searches) + len(self.blocks)

    @property
    def published(self) -> int:
        return len(self.figure.published)

    @property
    def asked(self) -> dict[str, Any]:
        return {**super().asked, **({"texts": self.texts} if self.reads_texts else {})}

    @property
    def conditions(self) -> list[str]:
        protocol, _ = super().conditions
        repeats = [f"{self.repeats} sets of sequences"] if self.repeats > 1 else []
        return [protocol, f"{self.trials} trials per #blocks", *repeats]

    @property
    def reads_texts(self) -> bool:
        if isinstance(self.figure, BlockCurvesFigure):
            return True
        return any(isinstance(asked.kind, TextSequences) for asked in self.figure.searches)

    @property
    def identity(self) -> dict[str, Any]:
        return {**super().identity, **({"texts": texts_identity(self.texts)} if self.reads_texts else {})}

    @property
    def whole(self) -> bool:
        """Whether every trial is trained to its end."""
        return self.protocol == "paper" or isinstance(self.figure, BlockCurvesFigure)

    @property
    def searches(self) -> list[BlockSearch]:
        figure = self.figure
        if isinstance(figure, BlockCurvesFigure):
            return []
        return [asked for asked in figure.searches if not self.quick or x_of(figure, asked) in figure.quick]

    @property
    def blocks(self) -> tuple[int, ...]:
        """#blocks of a figure of curves."""
        if not isinstance(self.figure, BlockCurvesFigure):
            return ()
        return self.figure.quick if self.quick else self.figure.blocks

    @property
    def ladder(self) -> tuple[int, ...]:
        """#blocks that are tried, from below; none for a figure of curves."""
        return self.figure.ladder if isinstance(self.figure, SmallestBlocksFigure) else ()

    @property
    def trials(self) -> int:
        if self.quick and isinstance(self.figure, SmallestBlocksFigure):
            return min(self.figure.trials, self.figure.quick_trials)
        return self.figure.trials

    def search_state(self, asked: BlockSearch, seed: int, results: Results) -> SearchState:
        if not isinstance(self.figure, SmallestBlocksFigure):
            raise TypeError(f"{self.figure.id} has no searches")
        return search(asked, self.figure.ladder, self.trials, seed, results, whole=self.whole)

    def wanted(self, results: Results) -> list[AnyTrial]:
        """Trials to run next: the next stack of every series, and what is built on the same sequences."""
        trials: list[AnyTrial] = []
        for seed in range(self.repeats):
            stopped: set[Any] = set()
            for asked in self.searches:
                built = BuiltTrial(asked.kind, asked.sequences, seed)
                if isinstance(asked.kind, TextSequences) and built.key not in results:
                    trials.append(built)
                if (series := series_of(asked)) in stopped:
                    continue
                state = self.search_state(asked, seed, results)
                trials += state.wanted
                # Points of a series go in order, and beyond one where no #blocks sufficed none is tried.
                if state.wanted or state.exhausted:
                    stopped.add(series)
            for blocks in self.blocks:
                trials += [trial for trial in self.curve_trials(blocks, seed, results) if trial.key not in results]
        return trials

    def rungs(self) -> list[tuple[Sequences, int, int]]:
        """Everything that settings are searched for: sequences, how many, and #blocks."""
        figure = self.figure
        if isinstance(figure, BlockCurvesFigure):
            return [(figure.kind, figure.sequences, blocks) for blocks in self.blocks]
        return [(asked.kind, asked.sequences, blocks) for asked in self.searches for blocks in figure.ladder]

    def curve_trials(self, blocks: int, seed: int, results: Results) -> list[BlockTrial]:
        """The trials of one #blocks of a figure of curves; fewer than a batch."""
        figure = self.figure
        if not isinstance(figure, BlockCurvesFigure):
            raise TypeError(f"{figure.id} has no curves")
        return stacked(figure.kind, figure.sequences, blocks, seed, 0, min(BATCH, figure.trials), results)


def series_of(asked: BlockSearch) -> Any:
    """What goes in order of the number of sequences; lengths are searched each by itself."""
    return asked.kind if isinstance(asked.kind, TextSequences) else (asked.kind.in_words, asked.kind.context)


def x_of(figure: SmallestBlocksFigure, asked: BlockSearch) -> int:
    return asked.sequences if figure.x == "sequences" else asked.kind.context


def texts_identity(texts: str) -> str:
    """A source by its name, a file by its contents."""
    path = Path(texts)
    if not path.is_file():
        return texts
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
