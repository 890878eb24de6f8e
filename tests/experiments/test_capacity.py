"""The largest number of facts stored, by bisection over nested tables."""

import pytest

from rote.errors import InputError
from rote.experiments.capacity import capacity, largest_stored
from rote.models import AttentionOnly
from rote.progress import SILENT
from rote.tasks.generators import random_associations
from rote.theory.dana2025 import promised

SPEC = AttentionOnly(vocab=12, context=2, dim=6, head_dim=4, heads=4)


def test_theorem_1_stores_what_it_promises_and_no_more():
    found = capacity(SPEC, "dana2025.theorem1", tolerance=0)
    assert found.recalled == promised(SPEC) == 22
    assert found.refused == 23
    assert found.bits_per_parameter == pytest.approx(found.bits / SPEC.parameters())


def test_a_fitted_readout_stores_more():
    found = capacity(SPEC, "rote.readout", tolerance=0.05, steps=300)
    assert found.recalled > 1.5 * promised(SPEC)
    complete = {trial.facts for trial in found.trials if trial.complete}
    assert found.recalled in complete
    assert found.refused is None or found.refused > found.recalled


def test_a_table_may_run_out_first():
    task = random_associations(12, 2, 15, seed=4)
    found = capacity(SPEC, "dana2025.theorem1", task=task)
    assert (found.recalled, found.refused) == (15, None)


def refusing_above(limit: int):
    """An attempt that says why it failed, or none."""
    return lambda facts: None if facts <= limit else "too many"


@pytest.mark.parametrize("limit", [1, 2, 7, 40, 63, 64])
@pytest.mark.parametrize("start", [1, 5, 64])
def test_the_search_finds_the_boundary(limit, start):
    with SILENT.stage("") as stage:
        stored, refused, trials = largest_stored(
            lambda facts: None if facts <= limit else "too many", start, 64, 0.0, stage
        )
    assert stored == limit
    assert refused == (limit + 1 if limit < 64 else None)
    assert len({trial.facts for trial in trials}) == len(trials) <= 14


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InputError, match="not store a single fact"):
        capacity(SPEC, "rote.readout", no_such_option=1)
    with pytest.raises(InputError, match="vocabulary"):
        capacity(SPEC, "rote.readout", task=random_associations(13, 2, 15))
