"""The builder, group selection, arithmetic by thresholds, networks on disk."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rote.constructions.vardi2022 import Builder, memorize
from rote.constructions.vardi2022.exact import evaluate, exact_values
from rote.constructions.vardi2022.floating import peak, stacked
from rote.constructions.vardi2022.network import remainder, select
from rote.errors import CheckFailed


def outputs(net, **inputs):
    found = evaluate(net, {name: exact_values(values) for name, values in inputs.items()})
    return {name: [int(value) for value in values] for name, values in found.items()}


def test_registers_are_carried_and_temporaries_are_not():
    builder = Builder(("x", "z"))
    builder.layer(over=builder["x"] - 3)
    builder.layer()
    with pytest.raises(KeyError):
        builder["over"]
    builder["x"] = 2 * builder["x"] + builder["z"] - 10
    net = builder.finish("x", "z")
    assert outputs(net, x=[1, 9], z=[5, 0]) == {"x": [0, 8], "z": [5, 0]}
    assert (net.depth, net.width) == (3, 3)


def test_a_constant_register_needs_no_neuron():
    builder = Builder(("x",))
    builder["sum"] = 7
    builder.layer()
    assert builder.finish("sum", "x").layers[0][0].name == "x"


def test_parameters_are_counted_from_the_neurons():
    builder = Builder(("x",))
    builder.layer(q=5 - builder["x"])
    net = builder.finish("x")
    # x carried, q = -x + 5, x carried.
    assert (net.nonzeros, net.dense_parameters, net.largest_bits) == (4, 2 * 2 + 1 * 3, 3)
    assert net.total_bits == 2 + 2 + 4 + 2


@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=30, unique=True),
    st.integers(1, 5),
    st.integers(0, 2**80),
)
def test_selection_fetches_the_words_of_the_group(starts, lanes, largest):
    starts = sorted(starts)
    words = [(place * 7919) % (largest + 1) for place in range(len(starts))]
    builder = Builder(("x",))
    select(builder, starts, {"w": words}, lanes)
    net = builder.finish("w")
    asked = list(range(starts[0], 320))
    expected = [words[np.searchsorted(starts, x, side="right") - 1] for x in asked]
    assert outputs(net, x=asked)["w"] == expected
    assert net.width <= 2 + 2 * lanes


@given(st.integers(1, 50), st.integers(0, 2000))
def test_remainder(divisor, largest):
    builder = Builder(("x",))
    remainder(builder, "x", divisor, largest)
    asked = list(range(0, largest + 1, 7))
    assert outputs(builder.finish("x"), x=asked)["x"] == [x % divisor for x in asked]


def test_checking_mode_finds_values_that_are_not_whole():
    builder = Builder(("x",))
    memorize(builder, [3, 9, 20, 41], [1, 0, 2, 3], "faithful")
    stack = stacked(builder.finish("y"), 12, torch.float64)
    assert peak(stack, {"x": torch.tensor([3, 9])}) > 0
    with pytest.raises(CheckFailed, match="layer 0 of"):
        peak(stack, {"x": torch.tensor([3.5])})
