"""The paper as data: grids, released values, protocols and costs."""

import pytest

from rote.errors import InputError
from rote.experiments.ledgers.ledger import TrialKey
from rote.experiments.lookups.kind import lookup_cost
from rote.experiments.lookups.schedule import LookupSchedule, cell_protocol
from rote.papers import figures_named
from rote.papers.dana2025 import DANA2025, released
from rote.training.protocol import paper

BY_NAME = {figure.id.partition(".")[2]: figure for figure in DANA2025}


def keys(plan: LookupSchedule) -> set[TrialKey]:
    return {trial.key for trial in plan.trials()}


def test_every_figure_is_there_once():
    assert list(BY_NAME) == [f"fig{name}" for name in ("1a", "1b", "2a", "2b", "3", "4", "5", "6", "7", "8", "9", "10")]


@pytest.mark.parametrize(
    ("name", "cells", "released_values"),
    [
        ("1a", 77, 77),
        ("1b", 20, 10),
        ("2a", 22, 11),
        ("3", 42, 42),
        ("4", 6, 6),
        ("5", 18, 18),
        ("6", 22, 11),
        ("7", 36, 36),
        ("8", 18, 18),
        ("9", 20, 10),
        ("10", 36, 36),
    ],
)
def test_grids(name, cells, released_values):
    grid = BY_NAME[f"fig{name}"].experiment.cells
    assert len(grid) == cells
    assert sum(cell.published is not None for cell in grid) == released_values
    assert len({str(cell.spec) for cell in grid}) == cells
    assert all(cell.spec.scale_scores for cell in grid)


def test_released_values_are_attached_to_the_models_they_were_measured_on():
    for cell in BY_NAME["fig1a"].experiment.cells:
        spec = cell.spec
        row = released.BY_DIM_AND_HEADS[spec.dim]
        assert cell.published == row[released.HEADS.index(spec.heads)]
        assert spec.dim == spec.head_dim
    for cell in BY_NAME["fig1b"].experiment.cells:
        # What was released for k < d is the shared compression; equation (2) has no released values.
        expected = released.BY_HEAD_DIM[cell.spec.head_dim] if cell.series == "shared" else None
        assert cell.published == expected


@pytest.mark.parametrize("figure", BY_NAME.values(), ids=list(BY_NAME))
def test_mlp_models_have_the_parameters_of_their_attention_twins(figure):
    by_name = {}
    for cell in figure.experiment.cells:
        by_name.setdefault(cell.series, []).append(cell.spec)
    for name, specs in by_name.items():
        if name.startswith("MLP"):
            for mlp, attention in zip(specs, by_name[name.replace("MLP", "attention")], strict=True):
                assert mlp.parameters() - attention.parameters() == mlp.layers * mlp.width  # the bias


def test_the_papers_protocol_is_the_released_one():
    cell = BY_NAME["fig1a"].experiment.cells[0]
    assert cell_protocol(cell, "paper") == paper(64, 256, 64, 1e-2, 5e-4)
    deep = BY_NAME["fig8"].experiment.cells[0]
    protocol = cell_protocol(deep, "paper")
    assert (protocol.schedule, protocol.peak, protocol.batch, protocol.steps) == ("constant", 2.5e-3, 512, 128 * 64)
    assert (deep.spec.layers, deep.spec.positions) == (3, "attention")
    # Other protocols draw as many samples, so that pairs are weighted alike.
    assert cell_protocol(cell, "fast").samples == protocol.samples // 4 == 64 * 256


@pytest.mark.parametrize("protocol", ["fast", "paper", "best"])
@pytest.mark.parametrize("name", ["fig3", "fig7", "fig10"])
def test_models_that_are_compared_have_one_focus(name, protocol):
    for cell in BY_NAME[name].experiment.cells:
        expected = {"fast": 0.3 if cell.spec.layers > 1 else 0.1, "paper": 0.0, "best": 0.3}[protocol]
        assert cell_protocol(cell, protocol).focus == expected


def test_variant_and_quick_choose_cells():
    both = LookupSchedule.of(BY_NAME["fig1b"])
    shared = LookupSchedule.of(BY_NAME["fig1b"], variant="shared")
    assert len(both.cells) == 2 * len(shared.cells)
    assert {cell.spec.variant for cell in shared.cells} == {"shared"}
    assert len(LookupSchedule.of(BY_NAME["fig1a"], variant="shared").cells) == 77, (
        "with d = k there is nothing to choose"
    )
    for figure in BY_NAME.values():
        quick, whole = LookupSchedule.of(figure, quick=True), LookupSchedule.of(figure)
        assert keys(quick) < keys(whole), "a quick run is part of the whole run"


@pytest.mark.parametrize("name", ["fig8", "fig9", "fig10"])
@pytest.mark.parametrize("protocol", ["paper", "fast"])
def test_positions_are_part_of_a_runs_name_and_of_its_trials(name, protocol):
    released_ones = LookupSchedule.of(BY_NAME[name], protocol=protocol)
    others = LookupSchedule.of(BY_NAME[name], protocol=protocol, positions="every-layer")
    assert {cell.spec.positions for cell in released_ones.cells} == {"attention"}
    assert {cell.spec.positions for cell in others.cells} == {"every-layer"}
    assert released_ones.identity["positions"] == "attention"
    assert others.identity == released_ones.identity | {"positions": "every-layer"}
    assert others.default_folder.name == f"{released_ones.default_folder.name}-every-layer"
    assert not keys(released_ones) & keys(others)
    assert all(cell.published is None for cell in others.cells), "released values are of the released positions"
    named = LookupSchedule.of(BY_NAME[name], protocol=protocol, positions="attention")
    assert (named.identity, named.cells) == (released_ones.identity, released_ones.cells)


def test_one_layer_has_its_own_positions_whatever_it_is_called():
    plain = LookupSchedule.of(BY_NAME["fig4"])
    assert LookupSchedule.of(BY_NAME["fig4"], positions="every-layer") == plain
    beside = LookupSchedule.of(BY_NAME["fig4"], positions="attention")
    assert plain.identity["positions"] == "stream"
    assert beside.identity["positions"] == "attention"
    assert not keys(plain) & keys(beside)


def test_figures_of_one_experiment_share_a_run():
    assert LookupSchedule.of(BY_NAME["fig2b"]).default_folder == LookupSchedule.of(BY_NAME["fig1a"]).default_folder
    five, seven = LookupSchedule.of(BY_NAME["fig5"]), LookupSchedule.of(BY_NAME["fig7"])
    assert five.identity == seven.identity
    assert keys(five) < keys(seven)


def test_costs_grow_with_the_work():
    quick, fast, released_protocol = (
        lookup_cost(LookupSchedule.of(BY_NAME["fig1a"], **choice))[1]
        for choice in ({"quick": True}, {}, {"protocol": "paper"})
    )
    assert 0 < quick < fast < released_protocol
    assert lookup_cost(LookupSchedule.of(BY_NAME["fig1a"], repeats=10))[1] == pytest.approx(2 * fast)


def test_unknown_names():
    with pytest.raises(InputError, match=r"did you mean .dana2025\.fig1"):
        figures_named("dana2025.fig1")
