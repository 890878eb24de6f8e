"""Every kind of figure passes the suite that ships for other people's kinds."""

from dataclasses import replace
from typing import ClassVar

import pytest

from rote.experiments.blocks import queue
from rote.experiments.blocks import queue as block_queue
from rote.experiments.blocks.queue import Studies
from rote.experiments.kind import RunChoices
from rote.experiments.kinds import KINDS
from rote.papers import figure_named, register_figures
from rote.papers.claims import Claim
from rote.papers.kinds.blocks import BlocksDoNotGrow, BlockSearch, RandomSequences, SmallestBlocksFigure, blocks_grow_as
from rote.papers.kinds.vectors import HeadsSplitExamples, IncreasesWithSize, SaturationFigure, VectorSetting
from rote.papers.mahdavi2024.statements import PROPOSITION_2
from rote.testing import FigureCase, FigureKindSuite, kept_registries

pytest.importorskip("optuna")

BLOCKS = SmallestBlocksFigure(
    "toy2026.lengths",
    "Lengths",
    "context",
    tuple(BlockSearch(RandomSequences(context, 10, 2, 4), 8) for context in (2, 40)),
    (1, 2),
    (Claim("flat", "It stays", BlocksDoNotGrow()), Claim("root", "It grows", blocks_grow_as(0.4, 0.6))),
    trials=5,
    quick=(2, 40),
)
VECTORS = SaturationFigure(
    "toy2026.saturation",
    "Saturation",
    ((VectorSetting(2, 3, 4, 4, classes=3), 12),),
    (Claim("split", "They split", HeadsSplitExamples()), Claim("grows", "It grows", IncreasesWithSize())),
    lengths=(5, 10, 15),
    quick_lengths=(5, 10),
)
STATEMENT = replace(
    PROPOSITION_2,
    id="toy2026.small-checked",
    cells=tuple(cell for cell in PROPOSITION_2.cells if cell.x <= 2),
    quick=(1, 2),
)
LOOKUPS = replace(figure_named("dana2025.fig4"), id="toy2026.fig4")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Figures are found by their ids, trainings take a few steps, and no database is made for their settings."""
    monkeypatch.setattr(queue, "STEPS", 30)
    monkeypatch.setattr(block_queue, "Studies", lambda folder: Studies(None))
    with kept_registries():
        register_figures("toy2026", LOOKUPS, VECTORS, BLOCKS, STATEMENT)
        yield


class TestKinds(FigureKindSuite):
    cases: ClassVar = {
        "look-up tables": FigureCase(LOOKUPS),
        "vector tasks": FigureCase(VECTORS),
        "#blocks": FigureCase(BLOCKS),
        "statements": FigureCase(STATEMENT, RunChoices(quick=True, repeats=2)),
    }


def test_no_kind_is_left_out():
    assert set(TestKinds.cases) == set(KINDS)
