"""Random strings to be memorized: key tokens that make each string its own, then uniform tokens that are counted.

The key is given and not counted. Without distinct keys a model could not know which string is meant, and about
log2(n!) bits of n strings could not be learned by anyone. Look-up facts are strings with one counted token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rote.errors import InputError, problems


@dataclass(frozen=True)
class StringShape:
    """The form of the strings."""

    vocab: int = 64
    key: int = 2
    counted: int = 14
    """Tokens after the key; 1 makes look-up facts."""

    def __post_init__(self) -> None:
        refused = []
        if self.vocab < 2:
            refused.append(f"`vocab`: {self.vocab} tokens carry no information; give at least 2")
        if self.key < 1:
            refused.append(f"`key`: {self.key} key tokens cannot tell strings apart; give at least 1")
        if self.counted < 1:
            refused.append(f"`counted`: {self.counted} tokens after the key leave nothing to memorize; give at least 1")
        if refused:
            raise problems("strings", refused)

    @property
    def length(self) -> int:
        return self.key + self.counted

    @property
    def bits(self) -> float:
        """Bits in one string."""
        return self.counted * math.log2(self.vocab)

    def strings_of(self, bits: float) -> int:
        """How many strings hold about so many bits; at least one, and no more than there are keys."""
        number = max(1, round(bits / self.bits))
        if number > self.vocab**self.key:
            raise InputError(
                f"`key`: {number:,} strings need as many keys, but {self.key} tokens of a vocabulary of {self.vocab} "
                f"make only {self.vocab**self.key:,}; give more key tokens or a larger `vocab`"
            )
        return number


def random_strings(shape: StringShape, number: int, seed: int) -> Tensor:
    """Token ids (number x length), the same for the same seed."""
    rng = np.random.default_rng([seed, 0x57121465])
    strings = rng.integers(shape.vocab, size=(number, shape.length))
    keys = rng.choice(shape.vocab**shape.key, number, replace=False)
    strings[:, : shape.key] = np.stack(np.unravel_index(keys, (shape.vocab,) * shape.key), 1)
    return torch.from_numpy(strings)
