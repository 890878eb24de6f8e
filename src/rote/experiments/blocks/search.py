"""The smallest #blocks that recall given sequences: the ladder from below, a search over settings on each rung.

Where a search stands is a pure function of the trials that ended: it says which trials to run next, or what it ended
with. More blocks do not always train better, so that the ladder is climbed and not bisected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.experiments.blocks.trial import BlockResult, BlockTrial, Proposal, Results, Tried, proposals, trained_result
from rote.papers.kajitsuka2025.choices import BATCH
from rote.papers.kinds.blocks import BlockSearch, RandomSequences, Sequences


@dataclass(frozen=True)
class SearchState:
    """The state of a search for the smallest #blocks, given the trials that ended."""

    wanted: tuple[BlockTrial, ...]
    """Trials to run next, of one stack; none when the search has ended."""
    smallest: int | None
    """#blocks of the first rung on which the sequences were recalled; none if there was none, or not yet."""
    tried: tuple[tuple[int, float], ...]
    """(#blocks, best accuracy or least error) of every rung that was tried to its end, the last one included."""
    trials: int
    seconds: float
    parameters: int | None = None
    """Of the smallest networks, everything that is trained."""

    @property
    def exhausted(self) -> bool:
        return not self.wanted and self.smallest is None


def search(
    asked: BlockSearch, ladder: tuple[int, ...], trials: int, seed: int, results: Results, *, whole: bool
) -> SearchState:
    """Replay a search with the results that are known. `whole` runs all trials of a rung even if one recalls all."""
    tried: list[tuple[int, float]] = []
    count, seconds = 0, 0.0
    for blocks in ladder:
        ended: list[BlockResult] = []
        met = False
        for first in range(0, trials, BATCH):
            if met and not whole:
                break
            size = min(BATCH, trials - first)
            batch = stacked(asked.kind, asked.sequences, blocks, seed, first, size, results)
            missing = tuple(trial for trial in batch if trial.key not in results)
            if missing:
                return SearchState(missing, None, tuple(tried), count, seconds)
            ended += [trained_result(results, trial) for trial in batch]
            met = any(result.recalled(asked.kind) for result in ended)
        count += len(ended)
        seconds += sum(result.seconds for result in ended)
        tried.append((blocks, _best(asked.kind, ended)))
        if met:
            return SearchState((), blocks, tuple(tried), count, seconds, ended[0].parameters)
    return SearchState((), None, tuple(tried), count, seconds)


def stacked(
    kind: Sequences, sequences: int, blocks: int, seed: int, first: int, size: int, results: Results
) -> list[BlockTrial]:
    """The trials of one stack, numbers `first` on, with the settings that the trials before them lead to."""

    def named(number: int, stack: tuple[Proposal, ...] = ()) -> BlockTrial:
        return BlockTrial(kind, sequences, blocks, number, seed, stack, first)

    earlier = tuple(tried_as(kind, trained_result(results, named(number))) for number in range(first))
    drawn = np.random.SeedSequence([seed, sequences, kind.context, blocks, first]).generate_state(1)
    proposed = proposals(earlier, size, int(drawn[0]))
    return [named(first + place, proposed) for place in range(size)]


def tried_as(kind: Sequences, result: BlockResult) -> Tried:
    """A trial as its study sees it: the highest accuracy, or minus the least error."""
    proposal = Proposal(result.learning_rate, result.warm_up)
    value = result.score(kind)
    # A study takes no infinity; an error that never was a number is as bad as any.
    return Tried(proposal, max(float(value), -1e30) if value == value else -1e30)


def _best(kind: Sequences, ended: list[BlockResult]) -> float:
    best = max(result.score(kind) for result in ended)
    return -best if isinstance(kind, RandomSequences) else best
