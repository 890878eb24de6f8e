"""What Theorem 4.1 and its variants let one set, and what sets them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rote.constructions.construction import Options

Mixing = Literal["softmax", "sum"]


class MemorizerOptions(Options):
    storage: Literal["auto", "faithful", "lean", "hashed"] = "auto"
    """How F2 holds its labels; auto takes the fewest non-zero weights of lean and hashed."""
    ordered: bool = True
    """Whether positions enter the tokens of a fact table; otherwise a key is a multiset of tokens."""


@dataclass(frozen=True)
class Variant:
    """What sets one result of the paper apart from Theorem 4.1."""

    id: str
    """Of the construction, for messages."""
    mixing: Mixing = "softmax"
    table: bool = False
    """Whether an embedding table gives the codes, in place of F1."""
    asked: bool = False
    """Whether the last token asks for its label within the sequence of the others."""
    bits: int | None = None
    """Bits of every weight and value, where they are limited further than by the dtype."""
