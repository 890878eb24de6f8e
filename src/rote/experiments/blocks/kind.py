"""Figures about #blocks: F2 . uniform attention . F1 trained on texts, the smallest searched for or curves drawn.

Cost: a step of a stack takes a fixed time, a time per block, and a time per number that a block computes for a token or
a sequence. The number of rungs that a search climbs is estimated from the runs behind docs/kajitsuka2025.md. The
constants were fitted to the same runs, on a shared core. Expect a factor of two either way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rote.experiments.blocks.schedule import BlockSchedule
from rote.experiments.findings import Findings
from rote.experiments.kind import FigureKind, RunChoices
from rote.experiments.runner import Rows, Schedule
from rote.papers.kajitsuka2025.choices import BATCH, STEPS
from rote.papers.kinds.blocks import (
    BlockCurvesFigure,
    BlockFigure,
    BlockSearch,
    RandomSequences,
    Sequences,
    SmallestBlocksFigure,
)
from rote.tasks.labelled_text.sources import DEFINITIONS
from rote.training.protocol import EngineName

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


def _schedule(figure: BlockFigure, choices: RunChoices) -> BlockSchedule:
    return BlockSchedule.of(
        figure, protocol=choices.protocol, quick=choices.quick, repeats=choices.repeats,
        texts=choices.texts or DEFINITIONS,
    )  # fmt: skip


def _run(schedule: BlockSchedule, folder: Path, engine: EngineName) -> Schedule[Any, Any]:
    from rote.experiments.blocks.queue import BlockRun
    from rote.tasks.labelled_text import labelled_texts

    if schedule.reads_texts:
        labelled_texts(schedule.texts)  # rejected before a folder is made
    return BlockRun.into(schedule, folder)


def _findings(schedule: BlockSchedule, rows: Rows) -> Findings[BlockFigure, BlockSchedule]:
    from rote.experiments.blocks.findings import block_findings

    return block_findings(schedule, rows)


BLOCKS = FigureKind(
    name="#blocks",
    figures=(SmallestBlocksFigure, BlockCurvesFigure),
    schedule=_schedule,
    run=_run,
    findings=_findings,
    cost=block_cost,
    options=frozenset({"protocol", "texts"}),
)
