"""Grids: levels, packing and exact bits."""

import math

import numpy as np
import pytest

from rote.errors import InputError
from rote.models.grid import (
    LEVELS,
    Precision,
    TensorGrid,
    least_squares_grid,
    packed_codes,
    packed_length,
    unpacked_codes,
    word_of,
)


@pytest.mark.parametrize("levels", [2, 3, 5, 8, 12, 15, 16, 31, 63, 64, 255, 256])
@pytest.mark.parametrize("count", [0, 1, 16, 17, 18, 1000])
def test_codes_come_back(levels: int, count: int) -> None:
    codes = np.random.default_rng(levels + count).integers(0, levels, count).astype(np.uint8)
    data = packed_codes(codes, levels)
    assert len(data) == packed_length(count, levels)
    assert (unpacked_codes(data, (count,), levels) == codes).all()


@pytest.mark.parametrize(("levels", "word"), [(255, (1, 8)), (16, (1, 4)), (8, (1, 3)), (12, (17, 61)), (3, (29, 46))])
def test_words_waste_little(levels: int, word: tuple[int, int]) -> None:
    assert word_of(levels) == word
    digits, bits = word
    assert levels**digits <= 2**bits
    assert bits / digits < math.log2(levels) + 0.01


@pytest.mark.parametrize("levels", [3, 12])
def test_codes_beyond_the_last_level_are_refused(levels: int) -> None:
    digits, _ = word_of(levels)
    data = np.full(packed_length(digits, levels), 255, dtype=np.uint8)
    with pytest.raises(InputError, match="beyond the last level"):
        unpacked_codes(data, (digits,), levels)


@pytest.mark.parametrize("levels", sorted(LEVELS.values()))
def test_values_are_exact_and_idempotent(levels: int) -> None:
    rng = np.random.default_rng(levels)
    values = rng.normal(size=(6, 5, 4))
    grid = least_squares_grid(values, levels, shared=(0, 2))
    assert grid.scales.shape == (1, 5, 1)
    rounded = grid.nearest(values)
    assert grid.holds(rounded)
    assert (rounded.astype(np.float64) == (grid.codes(rounded) - grid.middle) * grid.scales.astype(np.float64)).all()
    assert np.square(rounded - values).mean() < 2 / levels**1.5


def test_zero_is_a_level_of_odd_grids_alone() -> None:
    assert TensorGrid(3, np.ones((1,), np.float16)).nearest(np.zeros(1))[0] == 0
    assert abs(TensorGrid(4, np.ones((1,), np.float16)).nearest(np.zeros(1))[0]) == 0.5


def test_bits_count_codes_and_scales() -> None:
    grid = TensorGrid(16, np.ones((3, 1), np.float16))
    assert grid.bits((3, 10)) == 3 * 10 * 4 + 3 * 16
    precision = Precision("int4", {"a": grid, "b": TensorGrid(255, np.ones((1,), np.float16))})
    assert precision.bits({"a": (3, 10), "b": (7,)}) == 168 + 7 * 8 + 16


def test_what_is_off_the_grid_is_named() -> None:
    grid = TensorGrid(16, np.ones((1, 1), np.float16))
    precision = Precision("int4", {"a": grid})
    assert precision.misfits({"a": np.full((2, 2), 0.5, np.float32)}) == []
    assert "not on its grid" in precision.misfits({"a": np.full((2, 2), 0.4, np.float32)})[0]
    assert "do not fit" in precision.misfits({"a": np.full((4,), 0.5, np.float32)})[0]
    assert "grids are given for" in precision.misfits({"b": np.full((2, 2), 0.5, np.float32)})[0]


@pytest.mark.parametrize("scales", [np.array([np.inf], np.float16), np.array([-1], np.float16), np.ones(1)])
def test_strange_scales_are_refused(scales: np.ndarray) -> None:
    with pytest.raises(InputError, match="scales"):
        TensorGrid(16, scales)
