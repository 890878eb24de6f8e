"""Exact look-up of keys, against a dictionary."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import InputError
from rote.models import SequenceEncoder
from rote.models.forward.keys import rows_of
from rote.testing.random_models import random_keys, random_model


@given(
    vocab=st.sampled_from([1, 2, 3, 50, 2**20, 2**40]),
    context=st.sampled_from([1, 2, 3, 7, 40]),
    rows=st.integers(1, 40),
    ordered=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_rows_are_those_of_a_dictionary(vocab, context, rows, ordered, seed):
    rows = min(rows, vocab ** min(context, 41))
    keys = random_keys(rows, context, vocab, seed)
    generator = np.random.default_rng(seed)
    if not ordered:
        keys = keys[generator.permutation(rows)]
    place = {tuple(key): row for row, key in enumerate(keys.tolist())}
    assert len(place) == rows
    asked = keys[generator.integers(rows, size=30)]
    assert rows_of(torch.from_numpy(keys), torch.from_numpy(asked)).tolist() == [
        place[tuple(key)] for key in asked.tolist()
    ]


@given(seed=st.integers(0, 2**31), context=st.sampled_from([1, 3, 30]))
def test_a_key_that_differs_in_one_token_is_unknown_and_named(seed, context):
    keys = random_keys(20, context, 1000, seed)
    generator = np.random.default_rng(seed)
    asked = keys[generator.integers(20, size=5)].copy()
    wrong = int(generator.integers(5))
    asked[wrong, generator.integers(context)] = 1000
    with pytest.raises(InputError, match="unknown key ") as caught:
        rows_of(torch.from_numpy(keys), torch.from_numpy(asked))
    assert str(asked[wrong].tolist()) in str(caught.value)


def test_many_unknown_keys_are_counted():
    with pytest.raises(InputError, match=r"unknown keys \[1, 1\], \[2, 2\], \[3, 3\] and 6 more"):
        rows_of(torch.tensor([[0, 1]]), torch.arange(1, 10)[:, None].expand(9, 2))


def test_a_key_twice_is_refused():
    model = random_model(SequenceEncoder(vocab=5, context=2, contexts=3, dim=2))
    model.weights["keys"][:] = torch.tensor([[4, 1], [0, 2], [4, 1]])
    with pytest.raises(InputError, match=r"\[4, 1\] appears twice"):
        model.logits(np.array([[0, 2]]))


def test_negative_keys_are_refused():
    with pytest.raises(InputError, match="not negative"):
        rows_of(torch.tensor([[0, -1]]), torch.tensor([[0, 0]]))


def test_all_sequences_can_be_keys():
    keys = random_keys(81, 4, 3)
    assert keys.tolist() == sorted(keys.tolist())
    assert len({tuple(key) for key in keys.tolist()}) == 81
