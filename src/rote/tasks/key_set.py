"""Which keys were stored, in few bytes, so that a model can say that a key is unknown.

Two kinds, whichever is smaller:

- `exact`: the tokens that occur at each position (one bit per position and token), then one bit for each sequence of
  such tokens, set where it is a key. It never errs, and it is the smaller one where keys fill a good part of what can
  be spelled: 2,207 bytes for 7,884 codes of three letters, 189 for 987 of 4 x 250 pairs of relation and country.
- `hashed`: every key becomes a whole number below keys x 2^b, and the numbers are kept in order (Elias and Fano): their
  low b bits as they are, and their increments in two bits per key. A stored key is always known; another one is
  taken for one with probability 2^-b. With b = 10 that is one in 1,024, at 12 bits per key.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rote.errors import InputError
from rote.tasks.rows import distinct_rows

BITS = 10
"""b: an unknown key is taken for a stored one with probability 2^-10."""

LARGEST_EXACT = 2**27
"""Sequences of tokens up to which one bit each is considered at all: 16 MiB."""


class KeySetSizes(BaseModel):
    """What the bytes of a key set mean; written beside them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["exact", "hashed"]
    keys: int = Field(ge=1, le=2**32)
    tokens: int = Field(ge=1, le=2**40)
    """Ids below this occur in keys; a vocabulary numbers the tokens of keys before those that are answers only."""
    context: int = Field(ge=1, le=2**40)
    bits: int = Field(ge=0, le=32)
    """b; 0 where the set is exact."""

    @property
    def error_rate(self) -> float:
        """Share of unknown keys that are taken for stored ones."""
        return 0.0 if self.kind == "exact" else 2.0**-self.bits


@dataclass(frozen=True, eq=False)
class KeySet:
    """The keys of a task. `data` is what is kept on disk."""

    sizes: KeySetSizes
    data: dict[str, np.ndarray]
    _numbers: np.ndarray
    """The bit of each sequence (exact), or the keys' numbers in order (hashed)."""
    _used: np.ndarray | None = None
    """Which tokens occur at each position, context x tokens (exact)."""

    @classmethod
    def of(cls, contexts: np.ndarray, bits: int = BITS) -> KeySet:
        """The set of these keys (keys x context token ids), in the kind that takes fewer bytes."""
        context, tokens = contexts.shape[1], int(contexts.max()) + 1
        keys = len(distinct_rows(contexts, tokens)[0])
        hashed = KeySetSizes(kind="hashed", keys=keys, tokens=tokens, context=context, bits=bits)
        most = min(LARGEST_EXACT, keys * (bits + 2))
        if context * tokens < most:
            used = np.zeros((context, tokens), dtype=bool)
            used[np.arange(context), contexts] = True
            if context * tokens + (sequences := math.prod(used.sum(1).tolist())) <= most:
                bit = np.zeros(sequences, dtype=bool)
                bit[_places(contexts, used)] = True
                sizes = hashed.model_copy(update={"kind": "exact", "bits": 0})
                return cls(sizes, {"map": np.packbits(np.concatenate([used.ravel(), bit]))}, bit, used)
        numbers = np.sort(np.unique(_hashes(contexts)) % np.uint64(_universe(hashed)))
        return cls(hashed, _encoded(numbers, hashed), numbers)

    @classmethod
    def read(cls, checked: KeySetSizes, data: dict[str, np.ndarray], where: str) -> KeySet:
        """The set that was written as these bytes; `where` names the file in messages."""
        wanted = {"map"} if checked.kind == "exact" else {"low", "high"}
        if set(data) != wanted or any(part.dtype != np.uint8 or part.ndim != 1 for part in data.values()):
            raise InputError(
                f"{where}: a set of keys of kind {checked.kind} is bytes named {', '.join(sorted(wanted))}"
            )
        if checked.kind == "exact":
            return cls(checked, data, *_mapped(data["map"], checked, where))
        return cls(checked, data, _decoded(data, checked, where))

    @property
    def bytes(self) -> int:
        return sum(len(part) for part in self.data.values())

    def knows(self, contexts: np.ndarray) -> np.ndarray:
        """For each sequence of token ids whether it was stored: never wrong on a stored one."""
        spelled = np.asarray((contexts < self.sizes.tokens).all(1))
        if self._used is not None:
            spelled[spelled] = self._used[np.arange(self.sizes.context), contexts[spelled]].all(1)
            spelled[spelled] = self._numbers[_places(contexts[spelled], self._used)]
            return spelled
        numbers = _hashes(contexts) % np.uint64(_universe(self.sizes))
        at = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return spelled & (self._numbers[at] == numbers)


def _universe(sizes: KeySetSizes) -> int:
    return sizes.keys << sizes.bits


def _places(contexts: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Each sequence read as the digits of a number; a digit is the place of a token among those of its position."""
    numbers = np.zeros(len(contexts), dtype=np.int64)
    for column, tokens in zip(contexts.T, used, strict=True):
        numbers = numbers * int(tokens.sum()) + (np.cumsum(tokens) - 1)[column]
    return numbers


def _mapped(data: np.ndarray, sizes: KeySetSizes, where: str) -> tuple[np.ndarray, np.ndarray]:
    """The bits of sequences, and the tokens that occur at each position."""
    pairs = sizes.context * sizes.tokens
    if pairs > min(LARGEST_EXACT, 8 * len(data)):
        raise InputError(f"{where}: the bit map of keys does not hold {sizes.tokens} tokens at {sizes.context} places")
    used = np.unpackbits(data[: -(-pairs // 8)], count=pairs).astype(bool).reshape(sizes.context, sizes.tokens)
    sequences = math.prod(used.sum(1).tolist())
    if sequences > LARGEST_EXACT or len(data) != -(-(pairs + sequences) // 8):
        raise InputError(
            f"{where}: the bit map of keys does not fit its {sequences:,} sequences; build the model again"
        )
    return np.unpackbits(data, count=pairs + sequences)[pairs:].astype(bool), used


def _hashes(contexts: np.ndarray) -> np.ndarray:
    """A 64-bit number for each sequence: the finaliser of splitmix64 (Steele, Lea and Flood 2014) after every token."""
    state = np.full(len(contexts), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in contexts.T:
        state = state + np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state


def _encoded(numbers: np.ndarray, sizes: KeySetSizes) -> dict[str, np.ndarray]:
    """Low bits side by side; high parts as ones in a row of bits, the i-th at its high part + i."""
    low = (numbers[:, None] >> np.arange(sizes.bits, dtype=np.uint64)) & np.uint64(1)
    high = (numbers >> np.uint64(sizes.bits)).astype(np.int64) + np.arange(len(numbers))
    rising = np.zeros(2 * sizes.keys + 1, dtype=bool)
    rising[high] = True
    return {"low": np.packbits(low.astype(np.uint8).ravel()), "high": np.packbits(rising)}


def _decoded(data: dict[str, np.ndarray], sizes: KeySetSizes, where: str) -> np.ndarray:
    if len(data["high"]) != -(-(2 * sizes.keys + 1) // 8):
        raise InputError(f"{where}: the set of keys is not that of {sizes.keys} keys; build the model again")
    ones = np.flatnonzero(np.unpackbits(data["high"]))
    if not 0 < len(ones) <= sizes.keys or len(data["low"]) != -(-(len(ones) * sizes.bits) // 8):
        raise InputError(f"{where}: the set of keys is damaged; build the model again")
    high = (ones - np.arange(len(ones))).astype(np.uint64) << np.uint64(sizes.bits)
    low = np.unpackbits(data["low"], count=len(ones) * sizes.bits).reshape(len(ones), sizes.bits)
    for bit in range(sizes.bits):
        high |= low[:, bit].astype(np.uint64) << np.uint64(bit)
    return high
