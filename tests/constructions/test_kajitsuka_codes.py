"""Codes: sums that tell sequences apart, for at most N - 1 tokens; snap and floor blocks; real tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gmpy2 import mpq
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.constructions.kajitsuka2025.codes import chosen_tokens, sequence_codes
from rote.constructions.kajitsuka2025.real_tokens import project, separation, whole_values
from rote.constructions.kajitsuka2025.sequence_to_sequence import random_sequences
from rote.constructions.kajitsuka2025.transformer import floor, snap
from rote.constructions.vardi2022 import Builder
from rote.constructions.vardi2022.exact import evaluate, exact_values
from rote.constructions.vardi2022.floating import stacked
from rote.errors import InputError

rows = st.integers(1, 4).flatmap(
    lambda length: st.lists(st.lists(st.integers(1, 9), min_size=length, max_size=length), min_size=1, max_size=40)
)


@given(rows)
@settings(max_examples=150)
def test_sums_tell_sequences_apart(given_rows):
    sequences = np.unique(np.sort(np.array(given_rows), axis=1), axis=0)
    codes = sequence_codes(sequences)
    assert len(codes.tokens) <= max(1, len(sequences) - 1)
    assert (codes.codes >= 1).all()
    assert np.array_equal(codes.of(sequences).sum(1), codes.sums)
    assert len(np.unique(codes.sums)) == len(sequences)


def test_tokens_without_a_code_count_nothing():
    codes = sequence_codes(np.array([[5, 7], [5, 8]]))
    assert codes.of(np.array([1, 5, 9])).tolist() == [0, 0, 0]
    assert len(codes.tokens) == 1


def test_codes_are_far_shorter_than_base_n_plus_one():
    sequences = random_sequences(1024, 8, 300)
    codes = sequence_codes(sequences)
    assert int(codes.sums.max()).bit_length() <= 14
    assert len(codes.tokens) < 200


def test_the_same_seed_gives_the_same_codes():
    # Codes are drawn where many rows hold a token.
    sequences = random_sequences(2000, 5, 40)
    first, again, other = (sequence_codes(sequences, seed) for seed in (3, 3, 4))
    assert np.array_equal(first.codes, again.codes)
    assert not np.array_equal(first.codes, other.codes)


def test_sequences_that_differ_in_order_alone_are_refused():
    with pytest.raises(InputError, match="same up to order"):
        chosen_tokens(np.array([[0, 1], [1, 0]]))


def test_random_sequences_differ_and_run_out():
    sequences = random_sequences(500, 3, 20)
    assert len(np.unique(np.sort(sequences, axis=1), axis=0)) == 500
    with pytest.raises(InputError, match="do not give"):
        random_sequences(50, 2, 3)


def test_snap_makes_rounded_numbers_whole():
    builder = Builder(("x",))
    snap(builder, 9)
    stack = stacked(builder.finish("x"), 4, torch.float32)
    whole = torch.arange(512, dtype=torch.float32)
    for error in (-0.25, -1e-3, 0.0, 1e-3, 0.25):
        assert torch.equal(stack.evaluate({"x": whole + error})["x"], whole)


def test_floor_is_exact_below_its_slope():
    builder = Builder(("x",))
    floor(builder, 6, 16)
    net = builder.finish("x")
    parts = exact_values([whole + mpq(part, 16) for whole in range(64) for part in range(16)])
    found = evaluate(net, {"x": parts})["x"]
    assert [int(value) for value in found] == [whole for whole in range(64) for _ in range(16)]


@pytest.mark.parametrize(("count", "dim"), [(2, 1), (300, 8), (2000, 64)])
def test_projection_gives_every_vector_its_own_whole_number(count, dim):
    vectors = np.random.default_rng(0).standard_normal((count, dim))
    projection = project(vectors, 53)
    values = whole_values(projection, vectors)
    assert len(np.unique(values)) == count
    builder = Builder(("x",))
    projection.enter(builder)
    stack = stacked(builder.finish("x"), 4, torch.float64)
    # Summed in another order, as another machine may.
    shuffled = np.random.default_rng(1).permutation(dim)
    entering = vectors[:, shuffled] @ projection.direction[shuffled] + projection.shift
    assert stack.evaluate({"x": torch.from_numpy(entering)})["x"].tolist() == values.tolist()


def test_projection_that_cannot_be_is_refused():
    vectors = np.random.default_rng(0).standard_normal((3000, 4))
    with pytest.raises(InputError, match="in 24 bits"):
        project(vectors, 24)


def test_separation_is_measured():
    found = separation(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.5]]))
    assert (found.tokens, found.distance) == (3, 0.5)
    assert found.radius == pytest.approx(np.hypot(3, 4.5))
