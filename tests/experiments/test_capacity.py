"""The largest number of facts stored, by bisection over nested tables."""

import pytest

from rote.errors import InputError
from rote.experiments.capacity import METHODS, built_capacity, capacity, largest_recalled, trained_capacity
from rote.models import AttentionOnly
from rote.progress import SILENT
from rote.tasks.generators import random_associations

SPEC = AttentionOnly(vocab=12, context=2, dim=6, head_dim=4, heads=4)
PROMISED = 4 * 4 + 6
"""H k + d of Theorem 1."""


def test_theorem_1_stores_what_it_promises_and_no_more():
    measured = built_capacity(SPEC, "dana2025.theorem1", tolerance=0)
    assert measured.recalled == PROMISED
    assert measured.rejected == 23
    assert measured.bits_per_parameter == pytest.approx(measured.bits / SPEC.parameters())


def test_a_fitted_readout_stores_more():
    measured = built_capacity(SPEC, "rote.readout", tolerance=0.05, steps=300)
    assert measured.recalled > 1.5 * PROMISED
    complete = {attempt.facts for attempt in measured.tries if attempt.complete}
    assert measured.recalled in complete
    assert measured.rejected is None or measured.rejected > measured.recalled


def test_a_table_may_run_out_first():
    task = random_associations(12, 2, 15, seed=4)
    measured = built_capacity(SPEC, "dana2025.theorem1", task=task)
    assert (measured.recalled, measured.rejected) == (15, None)


def refusing_above(limit: int):
    """An attempt that says why it failed, or none."""
    return lambda facts: None if facts <= limit else "too many"


@pytest.mark.parametrize("limit", [1, 2, 7, 40, 63, 64])
@pytest.mark.parametrize("start", [1, 5, 64])
def test_the_search_finds_the_boundary(limit, start):
    with SILENT.stage("") as stage:
        recalled, rejected, tries = largest_recalled(refusing_above(limit), start, 64, 0.0, stage)
    assert recalled == limit
    assert rejected == (limit + 1 if limit < 64 else None)
    assert len({attempt.facts for attempt in tries}) == len(tries) <= 14


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InputError, match="stores not even one fact"):
        built_capacity(SPEC, "rote.readout", no_such_option=1)
    with pytest.raises(InputError, match="vocabulary"):
        built_capacity(SPEC, "rote.readout", task=random_associations(13, 2, 15))


def test_one_call_gives_every_row_with_the_bounds():
    measured = capacity(SPEC, tolerance=0.1, steps=300, methods=["rote.readout"])
    assert measured.rows == (measured.rows[0],)
    again = built_capacity(SPEC, "rote.readout", tolerance=0.1, steps=300)
    assert measured.rows[0].recalled == again.recalled
    document = measured.summary()
    assert document["capacities"][0]["method"] == "rote.readout"
    assert document["capacities"][0]["recalled"] == again.recalled
    assert document["bounds"]["dana2025.theorem1"] == PROMISED
    assert document["parameters"] == SPEC.parameters()
    assert set(METHODS) == {"dana2025.theorem1", "rote.readout"}


def test_capacity_by_training_is_the_same_call():
    small = AttentionOnly(vocab=8, context=2, dim=3, head_dim=3, heads=2)
    options = {"tolerance": 0.3, "seeds": 1, "steps": 100, "polish": 0}
    (row,) = capacity(small, by="training", **options).rows
    again = trained_capacity(small, **options)
    assert (row.method, row.recalled, row.rejected) == ("training", again.recalled, again.rejected)


def test_bad_options_are_named():
    with pytest.raises(InputError, match=r"tolerance=1\.5"):
        capacity(SPEC, tolerance=1.5)


def test_bits_of_a_grid_are_counted_with_its_scales():
    spec = AttentionOnly(vocab=12, context=2, dim=6, head_dim=2, heads=16)
    found = capacity(spec, tolerance=0.1, dtype="int8").rows
    assert [row.method for row in found] == ["dana2025.theorem1"]
    assert 8 * found[0].parameters < found[0].weight_bits < 9 * found[0].parameters
    assert found[0].summary()["bits_per_weight_bit"] == pytest.approx(found[0].bits / found[0].weight_bits)
    task = random_associations(12, 2, 40, seed=4)
    trained = capacity(spec, by="training", task=task, tolerance=0.9, dtype="int8", seeds=1, steps=300).rows[0]
    assert trained.recalled > 0
    assert 8 * spec.parameters() <= trained.weight_bits < 9 * spec.parameters()
