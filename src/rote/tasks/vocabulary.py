"""The tokens of a task, so that facts stay readable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from rote.errors import InputError

PAD = "<pad>"
"""Fills short keys on the left, so that the last token is always one of the key's own."""

SEPARATOR = "<sep>"
"""Stands between the cells of a key that is spelled in letters."""


class Vocabulary:
    """Tokens in a fixed order; the id of a token is its index."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens: tuple[str, ...] = tuple(tokens)
        if len(set(self.tokens)) != len(self.tokens):
            seen: set[str] = set()
            twice = next(token for token in self.tokens if token in seen or seen.add(token))
            raise InputError(f"vocabulary: the token {twice!r} appears twice; every token needs one id")

    @classmethod
    def numbered(cls, size: int) -> Vocabulary:
        """Tokens "0", "1", ... for random tasks."""
        return cls(str(token) for token in range(size))

    @cached_property
    def index(self) -> dict[str, int]:
        return {token: id for id, token in enumerate(self.tokens)}

    @cached_property
    def places(self) -> np.ndarray:
        """The place of each token in alphabetical order."""
        places = np.empty(len(self.tokens), dtype=np.int64)
        places[sorted(range(len(self.tokens)), key=self.tokens.__getitem__)] = np.arange(len(self.tokens))
        return places

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(self.tokens)

    def __repr__(self) -> str:
        shown = ", ".join(self.tokens[:4])
        return f"Vocabulary({len(self)} tokens: {shown}{', ...' if len(self) > 4 else ''})"

    def ids(self, tokens: Sequence[str]) -> np.ndarray:
        """Ids of tokens; every unknown token is named in one error."""
        unknown = sorted({token for token in tokens if token not in self.index})
        if unknown:
            raise InputError(self.unknown_message(unknown))
        return np.array([self.index[token] for token in tokens], dtype=np.int32)

    def words(self, ids: np.ndarray | Iterable[int]) -> tuple[str, ...]:
        return tuple(self.tokens[int(id)] for id in ids)

    def places_in(self, other: Vocabulary, used: np.ndarray) -> np.ndarray:
        """For each own id the id of the same token in `other`; only ids in `used` must be known there."""
        places = np.array([other.index.get(token, -1) for token in self.tokens], dtype=np.int32)
        unknown = [self.tokens[id] for id in used if places[id] < 0]
        if unknown:
            raise InputError(other.unknown_message(sorted(unknown)))
        return places

    def known_to(self, other: Vocabulary) -> np.ndarray:
        """For each own id whether `other` has the same token."""
        return np.array([token in other.index for token in self.tokens], dtype=bool)

    def unknown_message(self, unknown: Sequence[str]) -> str:
        from difflib import get_close_matches

        shown = ", ".join(repr(token) for token in unknown[:5])
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        near = get_close_matches(unknown[0], self.tokens, n=1) if len(self) <= 50_000 else []
        hint = f"; nearest known to {unknown[0]!r}: {near[0]!r}" if near else ""
        return (
            f"unknown token{'s' if len(unknown) > 1 else ''} {shown}{more}: the model's vocabulary has "
            f"{len(self)} tokens and not {'these' if len(unknown) > 1 else 'this'}{hint}. "
            "Check spelling and the way keys are read (`keys=words` or `keys=letters`)"
        )


def token_ids(array: np.ndarray, dimensions: int, vocab: int, name: str) -> np.ndarray:
    """Token ids checked against a vocabulary's size, as a contiguous int32 array."""
    ids = np.asarray(array)
    if ids.ndim != dimensions:
        raise InputError(f"{name}: expected {dimensions} dimensions of token ids, found shape {ids.shape}")
    if ids.size and not np.issubdtype(ids.dtype, np.integer):
        raise InputError(f"{name}: token ids are integers, found {ids.dtype}")
    if ids.size and (ids.min() < 0 or ids.max() >= vocab):
        raise InputError(f"{name}: token ids must lie in 0..{vocab - 1}, found {ids.min()}..{ids.max()}")
    return np.ascontiguousarray(ids, dtype=np.int32)
