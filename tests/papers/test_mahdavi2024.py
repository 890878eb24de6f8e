"""The data of Mahdavi et al. 2024: published grids as they are, and sizes the paper states."""

import pytest

from rote.errors import InputError
from rote.papers import FIGURES, figures_named
from rote.papers.kinds.vectors import CapacityFigure, VectorSetting
from rote.papers.mahdavi2024 import MAHDAVI2024
from rote.papers.mahdavi2024.grids import GRIDS


def test_models_have_the_published_numbers_of_parameters():
    assert VectorSetting(20, 32).spec.parameters() == 177_060
    assert VectorSetting(20, 32, classes=None).spec.parameters() == 170_625


def test_bounds_are_those_of_the_theorem():
    assert VectorSetting(20, 32).guaranteed == 20 * 31 + 1
    assert VectorSetting(20, 32, head_dim=10).guaranteed == 20 * 9 + 1
    assert VectorSetting(20, 32, head_dim=10).rank == 20 * 31 + 1
    assert VectorSetting(20, 32, shared=False).rank == 20 * 64


def test_published_grids_are_complete():
    cells = {figure.id: len(figure.cells) for figure in GRIDS}
    assert cells == {
        "mahdavi2024.n-fit-fresh": 8 * 5,
        "mahdavi2024.n-fit": 8 * 4,
        "mahdavi2024.h-fit-fresh": 8 * 5,
        "mahdavi2024.h-fit": 8 * 5,
        "mahdavi2024.h-fresh": 8 * 6,
        "mahdavi2024.h": 8 * 4,
        "mahdavi2024.n-fresh": 8 * 5,
        "mahdavi2024.n": 8 * 4,
        "mahdavi2024.k": 12 * 3,
    }
    assert all(figure.repeats == 6 for figure in GRIDS)
    widest = next(figure for figure in GRIDS if figure.size == "head_dim")
    assert {(setting.heads, setting.context) for setting, _ in widest.cells} == {(30, 32)}
    assert {count for _, count in widest.cells} == {10_000, 15_000, 20_000}


def test_every_figure_has_claims_and_an_id_of_its_own():
    assert all(figure.claims for figure in MAHDAVI2024)
    assert len({figure.id for figure in MAHDAVI2024}) == len(MAHDAVI2024)
    for figure in MAHDAVI2024:
        assert len({claim.id for claim in figure.claims}) == len(figure.claims)
        assert all(claim.rule.in_words for claim in figure.claims)


def test_capacity_is_asked_at_the_sizes_of_the_claims():
    sizes = {
        figure.size: sorted({getattr(setting, figure.size) for setting in figure.settings})
        for figure in MAHDAVI2024
        if isinstance(figure, CapacityFigure)
    }
    assert sizes == {"heads": [1, 2, 5, 10, 20], "context": [1, 5, 10, 32, 60], "head_dim": [10, 31, 32, 64]}


def test_figures_are_found_by_their_names():
    assert figures_named("mahdavi2024") == list(FIGURES["mahdavi2024"])
    assert [figure.id for figure in figures_named("mahdavi2024.heads")] == ["mahdavi2024.heads"]
    with pytest.raises(InputError, match=r"no such paper or figure \(did you mean 'mahdavi2024.heads'\?\)"):
        figures_named("mahdavi2024.head")
