"""What a figure about #blocks costs, before it is run: rough CPU time.

A step of a stack takes a fixed time, one for each block, and one for each number that a token or a sequence makes a
block compute. How many rungs a search climbs is guessed from the runs behind docs/kajitsuka2025.md, where the
constants were fitted too, on a core that was shared; expect a factor of two either way.
"""

from __future__ import annotations

from rote.experiments.blocks.schedule import BlockSchedule
from rote.papers.kajitsuka2025.choices import BATCH, STEPS
from rote.papers.kinds.blocks import BlockCurvesFigure, BlockSearch, RandomSequences, Sequences

PER_STEP = 1.8e-3
PER_BLOCK = 2e-4
"""For F1's block and F2's together, whatever the size."""
PER_NUMBER = 5e-9
"""For each number inside a block, of every network, token and sequence, forward and back."""
PER_SHARE = 6e-9
"""For each token of each sequence and each number it carries, averaged and given back."""
PER_PRODUCT = 1e-10
"""For each token and each sequence, where most sequences hold most tokens."""
RECALLED_AFTER = 0.25
"""Steps of the stack that recalls the sequences, as a share of all."""
WORDS_PER_SEQUENCE = {1000: 0.7, 3000: 1.1, None: 2.4}
"""Tokens that occur, for each sequence, about."""
MOST_RECALLED = {1000: 400, 3000: 1000, None: 10_000}
"""Sequences that one or two blocks are expected to recall, by the words that have a token; more are expected to be too
many for every rung."""
MOST_RECALLED_FIXED = 60
"""The same, where the embedding is not trained."""


def stack_seconds(kind: Sequences, sequences: int, blocks: int, networks: int) -> float:
    """CPU time of one stack that takes all its steps."""
    if isinstance(kind, RandomSequences):
        tokens = sequences + kind.vectors
    else:
        tokens = round(sequences * WORDS_PER_SEQUENCE.get(kind.words, 1.0))
    numbers = networks * (kind.width + 1) * sequences
    averaging = numbers * min(PER_SHARE * kind.context, PER_PRODUCT * tokens)
    inside = (tokens + sequences) * (kind.inner + 1) * networks
    return STEPS * (PER_STEP + averaging + blocks * (PER_BLOCK + PER_NUMBER * inside))


def block_cost(schedule: BlockSchedule) -> tuple[int, float]:
    """Trials and estimated CPU seconds of a schedule; searches are guessed at."""
    figure = schedule.figure
    if isinstance(figure, BlockCurvesFigure):
        each = [stack_seconds(figure.kind, figure.sequences, blocks, figure.trials) for blocks in schedule.blocks]
        return len(each) * figure.trials * schedule.repeats, sum(each) * schedule.repeats
    trials, seconds = 0, 0.0
    for asked in schedule.searches:
        counted, taken = _search_cost(schedule, asked)
        trials, seconds = trials + counted * schedule.repeats, seconds + taken * schedule.repeats
    return trials, seconds


def _search_cost(schedule: BlockSchedule, asked: BlockSearch) -> tuple[int, float]:
    """All stacks of the rungs that are expected to fail, and one that stops early."""
    failing = _rungs_that_fail(schedule, asked)
    if failing is None:
        return 0, 0.0
    per_rung = -(-schedule.trials // BATCH)
    seconds = sum(
        per_rung * stack_seconds(asked.kind, asked.sequences, blocks, BATCH) for blocks in schedule.ladder[:failing]
    )
    if failing < len(schedule.ladder):
        last = stack_seconds(asked.kind, asked.sequences, schedule.ladder[failing], BATCH)
        seconds += last * (per_rung if schedule.whole else RECALLED_AFTER)
    return (failing * per_rung + 1) * BATCH, seconds


def _rungs_that_fail(schedule: BlockSchedule, asked: BlockSearch) -> int | None:
    """Rungs below the one that suffices; nothing where a smaller number of sequences is expected to end the series."""
    kind = asked.kind
    if isinstance(kind, RandomSequences):
        return 1
    most = MOST_RECALLED_FIXED if kind.embedding == "fixed" else MOST_RECALLED.get(kind.words, 1000)
    if asked.sequences <= most:
        return 0
    first = min(other.sequences for other in schedule.searches if other.kind == kind and other.sequences > most)
    return len(schedule.ladder) if asked.sequences == first else None
