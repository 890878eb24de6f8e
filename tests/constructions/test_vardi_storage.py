"""The one-dimensional memorizer: every key its label, in every storage and both arithmetics."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.constructions.vardi2022 import Builder, faithful, lean, memorize
from rote.constructions.vardi2022.exact import evaluate, exact_values, hidden
from rote.constructions.vardi2022.floating import peak, stacked
from rote.constructions.vardi2022.memorizer import bits_needed
from rote.errors import InputError
from rote.models.forward.deep_relu import relu_layers

STORAGES = ("faithful", "lean", "hashed")


def network(keys, labels, storage, meaning="interval", limit_bits=None):
    builder = Builder(("x",))
    memorize(builder, keys, labels, storage, meaning, limit_bits)
    return builder.finish("y")


def exact_answers(net, keys):
    return [int(label) for label in evaluate(net, {"x": exact_values(keys)})["y"]]


def random_pairs(count, labels, largest, seed=0):
    rng = np.random.default_rng(seed)
    keys = np.sort(rng.choice(largest, count, replace=False)) + 1
    return keys.tolist(), rng.integers(0, labels, count).tolist()


pairs = st.dictionaries(st.integers(1, 500), st.integers(0, 20), min_size=1, max_size=40)


@given(pairs, st.sampled_from(STORAGES))
@settings(max_examples=60)
def test_every_key_has_its_label(stored, storage):
    keys, labels = list(stored), list(stored.values())
    net = network(keys, labels, storage)
    assert exact_answers(net, keys) == labels
    assert net.width <= 14


@given(pairs, st.sampled_from(["faithful", "lean"]))
@settings(max_examples=30)
def test_match_is_zero_away_from_the_keys(stored, storage):
    net = network(list(stored), list(stored.values()), storage, "match")
    everything = list(range(1, 520))
    assert exact_answers(net, everything) == [stored.get(key, 0) for key in everything]


@given(pairs)
@settings(max_examples=20)
def test_interval_answers_with_the_largest_key_not_above(stored):
    net = network(list(stored), list(stored.values()), "lean", "interval")
    asked = list(range(min(stored), 520))
    below = [max(key for key in stored if key <= x) for x in asked]
    assert exact_answers(net, asked) == [stored[key] for key in below]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(("dtype", "bits"), [(torch.float64, 53), (torch.float32, 24)])
@pytest.mark.parametrize("labels", [2, 50])
def test_every_sum_stays_within_the_bits_given(storage, dtype, bits, labels):
    keys, answers = random_pairs(600, labels, 20_000)
    net = network(keys, answers, storage, "interval", bits)
    stack = stacked(net, 14, dtype)
    inputs = {"x": torch.tensor(keys)}
    assert peak(stack, inputs) < 2**bits
    assert torch.equal(stack.evaluate(inputs)["y"], torch.tensor(answers, dtype=dtype))


@pytest.mark.parametrize("storage", STORAGES)
def test_exact_and_floating_agree_on_every_hidden_value(storage):
    keys, labels = random_pairs(256, 50, 5000)
    net = network(keys, labels, storage, "interval", 53)
    stack = stacked(net, 14, torch.float64)
    floats = relu_layers(stack.weight, stack.bias, stack.placed({"x": torch.tensor(keys)}))
    layers = 0
    for layer, exact, state in zip(net.layers, hidden(net, {"x": exact_values(keys)}), floats, strict=True):
        for row, neuron in enumerate(layer):
            assert state[row].tolist() == [float(value) for value in exact[neuron.name]]
        assert not state[len(layer) :].any()
        layers += 1
    assert layers == net.depth


def test_faithful_depth_is_its_formula():
    keys, labels = random_pairs(500, 30, 4000)
    builder = Builder(("x",))
    layout = memorize(builder, keys, labels, "faithful")
    net = builder.finish("y")
    reading = layout["group"] * (layout["key_bits"] + layout["label_bits"] + 6)
    assert net.depth == layout["groups"] + reading + 1
    assert net.width == 11
    assert layout["group"] == faithful.best_group(500, layout["key_bits"], layout["label_bits"])


def test_words_of_faithful_storage_hold_a_group_of_keys():
    keys, labels = random_pairs(500, 2, 4000)
    builder = Builder(("x",))
    layout = memorize(builder, keys, labels, "faithful")
    layers = hidden(builder.finish("y"), {"x": exact_values(keys)})
    longest = max(int(max(values)) for layer in layers for values in layer.values()).bit_length()
    assert layout["group"] * layout["key_bits"] <= longest <= layout["group"] * layout["key_bits"] + 2


def test_neighbours_with_one_label_share_an_entry():
    assert lean.merged([1, 4, 5, 9], [3, 3, 2, 2]) == ([1, 5], [3, 2])


def test_lean_layout_respects_word_length():
    keys, labels = random_pairs(300, 50, 9000)
    layout = lean.best_layout(keys, 6, word_bits=22, most_words=5, lanes=3)
    assert max(layout.lengths) <= 22
    builder = Builder(("x",))
    lean.store(builder, keys, labels, layout, "match", 3)
    assert exact_answers(builder.finish("y"), keys) == labels


@pytest.mark.parametrize("storage", STORAGES)
def test_too_few_bits_are_refused_with_the_number_needed(storage):
    keys, labels = random_pairs(50, 9, 2**30)
    needed = bits_needed(keys, labels, storage)
    with pytest.raises(InputError, match=f"needs whole numbers of {needed} bits, given 24"):
        network(keys, labels, storage, "interval", 24)
    assert exact_answers(network(keys, labels, storage, "interval", needed + 8), keys) == labels


def test_hashed_storage_cannot_match():
    with pytest.raises(InputError, match="cannot tell keys"):
        network([1, 2], [0, 1], "hashed", "match")


def test_long_words_are_refused_by_every_float():
    """A silent cast would be wrong: words longer than the mantissa lose their lowest keys."""
    keys, labels = random_pairs(2000, 2, 60_000)
    net = network(keys, labels, "faithful")
    assert net.largest_bits > 53
    with pytest.raises(InputError, match=f"weights of {net.largest_bits} bits"):
        stacked(net, 14, torch.float64)
