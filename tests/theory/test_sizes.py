"""Sizes chosen for a task: enough, minimal, and refused with the corrected reason."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import InputError
from rote.tasks.shape import TaskShape
from rote.testing.task_shapes import AIRPORTS, shapes
from rote.theory.sizes import fewest_heads, task_rank, theorem1_spec

FIVE = TaskShape(associations=25, vocab=5, context=2, key_tokens=5, last_tokens=5, answers=5, bits=50.0)


def test_default_is_comfortable():
    spec = theorem1_spec(AIRPORTS)
    assert (spec.dim, spec.head_dim, spec.heads, spec.vocab) == (20, 20, 394, 480)


def test_few_tokens_narrow_the_heads():
    spec = theorem1_spec(FIVE)
    assert spec.head_dim <= FIVE.key_tokens + FIVE.context - 2
    assert task_rank(FIVE, spec.dim, spec.head_dim, spec.heads) >= 25


def test_small_tables_get_many_narrow_heads():
    few = theorem1_spec(AIRPORTS.model_copy(update={"associations": 660}))
    assert (few.head_dim, few.heads) == (10, 64)
    assert theorem1_spec(FIVE).head_dim == 1


def test_refusal_names_promise_rank_and_remedy():
    with pytest.raises(InputError) as error:
        theorem1_spec(FIVE, dim=10, head_dim=10, heads=2)
    text = str(error.value)
    for part in ("2 x 10 + 10 = 30", "5 + 2 x 5 = 15", "`heads=4` or more", "25 facts"):
        assert part in text
    assert theorem1_spec(FIVE, dim=10, head_dim=10, heads=4).heads == 4


def test_given_heads_grow_dim():
    spec = theorem1_spec(AIRPORTS, heads=326)
    assert spec.dim > 20
    assert task_rank(AIRPORTS, spec.dim, spec.head_dim, 326) >= 7884
    with pytest.raises(InputError, match="cannot hold"):
        theorem1_spec(AIRPORTS, heads=100)


@pytest.mark.parametrize("given", [{"dim": 0}, {"head_dim": 0}, {"dim": -3, "heads": 5}, {"heads": -1}])
def test_nonsense_is_refused(given):
    with pytest.raises(InputError, match="attention-only"):
        theorem1_spec(FIVE, **given)


def test_without_heads_the_residual_stream_holds_one_fact_per_last_token():
    shape = FIVE.model_copy(update={"associations": 5, "bits": 5 * math.log2(5)})
    assert theorem1_spec(shape, heads=0).heads == 0
    with pytest.raises(InputError, match=r"5 \+ 0 x .* = 5"):
        theorem1_spec(FIVE, heads=0)


@given(shapes())
def test_chosen_heads_suffice_and_are_the_fewest(shape):
    spec = theorem1_spec(shape)
    assert task_rank(shape, spec.dim, spec.head_dim, spec.heads) >= shape.associations
    assert spec.heads == 1 or task_rank(shape, spec.dim, spec.head_dim, spec.heads - 1) < shape.associations
    assert spec.head_dim <= max(1, shape.key_tokens + shape.context - 2)
    assert (spec.vocab, spec.context) == (shape.vocab, shape.context)


@given(
    shapes(),
    st.none() | st.integers(1, 40),
    st.none() | st.integers(1, 40),
    st.none() | st.integers(1, 400),
    st.none() | st.just(1),
)
def test_given_sizes_are_kept_or_refused(shape, dim, head_dim, heads, rank):
    try:
        spec = theorem1_spec(shape, dim, head_dim, heads, rank)
    except InputError as error:
        if "cannot hold" in str(error) and dim is not None and head_dim is not None:
            assert fewest_heads(shape, dim, head_dim) > heads
        return
    assert dim in (None, spec.dim)
    assert head_dim in (None, spec.head_dim)
    assert heads in (None, spec.heads)
    assert spec.query_key_rank == rank
    assert task_rank(shape, spec.dim, spec.head_dim, spec.heads) >= shape.associations
