"""Key sets: stored keys are always known, others are mistaken at the stated rate, bytes are as stated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rote.errors import InputError
from rote.tasks.key_set import BITS, KeySet, KeySetSizes


def drawn(vocab: int, context: int, keys: int, seed: int = 0) -> np.ndarray:
    return np.unique(np.random.default_rng(seed).integers(vocab, size=(keys, context), dtype=np.int32), axis=0)


def again(keys: KeySet) -> KeySet:
    return KeySet.read(keys.sizes, keys.data, "here")


@given(st.integers(1, 2000), st.integers(1, 6), st.integers(1, 400), st.integers(0, 100))
def test_a_stored_key_is_always_known(vocab, context, count, seed):
    contexts = drawn(vocab, context, count, seed)
    keys = KeySet.of(contexts)
    assert keys.sizes.keys == len(contexts)
    assert keys.knows(contexts).all()
    assert again(keys).knows(contexts).all()


def test_unknown_keys_are_mistaken_at_the_stated_rate():
    contexts = drawn(400, 3, 20_000)
    keys = KeySet.of(contexts)
    assert keys.sizes.kind == "hashed"
    others = drawn(400, 3, 200_000, seed=1)
    stored = {tuple(row) for row in contexts.tolist()}
    others = np.array([row for row in others.tolist() if tuple(row) not in stored], dtype=np.int32)
    expected = len(others) * keys.sizes.error_rate
    assert abs(int(keys.knows(others).sum()) - expected) < 5 * np.sqrt(expected)


def test_keys_that_fill_what_can_be_spelled_are_kept_exactly():
    contexts = drawn(26, 3, 10_000)
    keys = KeySet.of(contexts)
    assert keys.sizes.kind == "exact"
    assert keys.sizes.error_rate == 0
    assert keys.bytes == -(-(26**3 + 3 * 26) // 8)
    every = np.stack(np.unravel_index(np.arange(26**3), (26,) * 3), 1).astype(np.int32)
    assert int(keys.knows(every).sum()) == len(contexts)
    assert again(keys).knows(contexts).all()


def test_positions_with_tokens_of_their_own_make_a_small_exact_set():
    grid = np.stack(np.meshgrid(np.arange(4), np.arange(4, 254), indexing="ij"), -1).reshape(-1, 2).astype(np.int32)
    keys = KeySet.of(grid[:987])
    assert (keys.sizes.kind, keys.bytes) == ("exact", -(-(2 * 254 + 4 * 250) // 8))
    assert again(keys).knows(grid).tolist() == [True] * 987 + [False] * 13
    assert not keys.knows(grid[:, ::-1]).any()


@pytest.mark.parametrize("change", [{"tokens": 2**40}, {"context": 2**40}, {"context": 3}, {"tokens": 25}])
def test_a_bit_map_that_does_not_fit_its_sizes_is_rejected(change):
    keys = KeySet.of(drawn(26, 2, 600))
    with pytest.raises(InputError, match="here: the bit map of keys"):
        KeySet.read(keys.sizes.model_copy(update=change), keys.data, "here")


def test_a_hashed_set_takes_twelve_bits_a_key():
    keys = KeySet.of(drawn(5000, 4, 50_000))
    assert keys.bytes <= keys.sizes.keys * (BITS + 2) / 8 + 2


def test_tokens_that_no_key_has_are_unknown():
    for contexts in (drawn(26, 3, 10_000), drawn(400, 3, 500)):
        keys = KeySet.of(contexts)
        assert not keys.knows(contexts[:20] + np.array([0, 0, 1000], dtype=np.int32)).any()


def test_a_key_counts_once():
    contexts = np.repeat(drawn(50, 2, 30), 3, axis=0)
    assert KeySet.of(contexts).sizes.keys == len(contexts) // 3


@pytest.mark.parametrize("part", ["low", "high"])
def test_damaged_bytes_are_named(part):
    keys = KeySet.of(drawn(5000, 4, 500))
    with pytest.raises(InputError, match="here"):
        KeySet.read(keys.sizes, {**keys.data, part: keys.data[part][:-3]}, "here")


@pytest.mark.parametrize(
    "sizes", [{}, {"kind": "exact", "keys": -1, "tokens": 3, "context": 2, "bits": 0}, {"kind": "bloom"}]
)
def test_other_sizes_are_refused(sizes):
    with pytest.raises(ValidationError):
        KeySetSizes(**sizes)


def test_a_bit_map_that_does_not_fit_is_refused():
    sizes = KeySetSizes(kind="exact", keys=5, tokens=26, context=63, bits=0)
    with pytest.raises(InputError, match="does not hold 26 tokens at 63 places"):
        KeySet.read(sizes, {"map": np.zeros(2, dtype=np.uint8)}, "here")
