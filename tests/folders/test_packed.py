"""Packed weights: the same bits after unpacking, smaller, and damage is named."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import InputError
from rote.folders.folder import packed, unpacked
from rote.folders.unpacked import LARGEST, PLACES, VALUES

SHAPES = {"before.weight": (6, 5, 5), "bias": (40,), "attention.value": (1, 7), "empty.weight": (3, 4)}


def sparse(seed: int, largest: int = 2**20, dtype: torch.dtype = torch.float64) -> dict[str, torch.Tensor]:
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in SHAPES.items():
        values = rng.integers(-largest, largest + 1, size=shape) * (rng.random(shape) < 0.1)
        weights[name] = torch.from_numpy(values.astype(np.float64) + 0.0).to(dtype)
    return weights


@given(st.integers(0, 1000), st.sampled_from([1, 200, 2**20, LARGEST - 1]))
def test_unpacking_gives_the_same_bits(seed, largest):
    weights = sparse(seed, largest)
    small = packed(weights)
    if small is None:  # so few numbers that compression's own bytes are more
        return
    again = unpacked(small, SHAPES, torch.float64, "here")
    assert all(torch.equal(again[name].view(torch.int64), weights[name].view(torch.int64)) for name in weights)


def test_packing_saves():
    weights = {"w": torch.zeros(200, 11, 11)}
    weights["w"][:, 3, 4] = 7.0
    small = packed(weights)
    assert small is not None
    assert sum(tensor.numel() for tensor in small.values()) < 200 * 121 / 20
    assert torch.equal(unpacked(small, {"w": (200, 11, 11)}, torch.float32, "here")["w"], weights["w"])


@pytest.mark.parametrize(
    "tensor",
    [torch.full((50, 4), 0.5), torch.full((50, 4), 2.0**60), torch.full((50, 4), -0.0), torch.zeros(50, 4).long()],
)
def test_what_is_not_whole_is_left_as_it_is(tensor):
    assert packed({"w": tensor}) is None


def test_dense_numbers_of_many_bits_are_left_as_they_are():
    rng = np.random.default_rng(0)
    assert packed({"w": torch.from_numpy(rng.integers(2**24, size=(60, 60)).astype(np.float32))}) is None


@pytest.mark.parametrize("name", [PLACES, VALUES])
def test_damage_is_named(name):
    weights = {"w": torch.zeros(300, 8)}
    weights["w"][:, 2] = torch.arange(300)
    small = packed(weights)
    assert small is not None
    for damage in (small[name][:-5], small[name].flip(0), small[name].float(), small[name][:0]):
        with pytest.raises(InputError, match="here"):
            unpacked({**small, name: damage}, {"w": (300, 8)}, torch.float32, "here")


def test_more_than_the_specification_asks_for_is_refused_before_it_is_unpacked():
    large = {"w": torch.zeros(2000, 2000)}
    large["w"][:, 0] = 1
    small = packed(large)
    assert small is not None
    with pytest.raises(InputError, match=r"more than the specification asks for|tells of"):
        unpacked(small, {"w": (10, 10)}, torch.float32, "here")
    assert math.prod(small[PLACES].shape) < 5000


def test_other_tensors_are_refused():
    with pytest.raises(InputError, match=r"packed\.places"):
        unpacked({"w": torch.zeros(3)}, {"w": (3,)}, torch.float32, "here")
