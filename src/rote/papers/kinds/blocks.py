"""Figures about F2 . uniform attention . F1: which sequences, whether #blocks is searched for or given, and rules.

Notation: `sequences` is N, `context` n, `blocks` the paper's #blocks (of F1 and of F2 each).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from rote.papers.claims import Claim, GrowsAs, Rule

Embedding = Literal["trained", "fixed"]


@dataclass(frozen=True)
class TextSequences:
    """Real texts cut to their first tokens, the label of each to be recalled."""

    words: int | None
    """Words that have a token; other words are spelled. Default: every word."""
    embedding: Embedding = "trained"
    classes: int = 3
    context: int = 8
    width: int = 2
    inner: int = 8

    @property
    def in_words(self) -> str:
        vocabulary = "every word" if self.words is None else f"{self.words:,} words"
        return vocabulary if self.embedding == "trained" else f"{vocabulary}, embedding fixed"


@dataclass(frozen=True)
class RandomSequences:
    """Random token vectors with labels +1 or -1, fitted as real targets."""

    context: int
    vectors: int = 1000
    """Vectors that all tokens after the first are drawn from; the first token of each sequence is one of its own."""
    width: int = 6
    inner: int = 24
    in_words = "random tokens"


Sequences = TextSequences | RandomSequences


@dataclass(frozen=True)
class BlockSearch:
    """One point of a figure: the smallest #blocks that recall this many sequences."""

    kind: Sequences
    sequences: int


@dataclass(frozen=True)
class SmallestBlocksFigure:
    """The smallest #blocks against N or n, found by trying the ladder from below."""

    id: str
    title: str
    x: Literal["sequences", "context"]
    searches: tuple[BlockSearch, ...]
    ladder: tuple[int, ...]
    claims: tuple[Claim, ...]
    trials: int
    """Of the search over learning rate and warm-up, at each #blocks."""
    quick: tuple[int, ...]
    """Values of x that `quick` keeps."""
    published: tuple[tuple[int, int], ...] = ()
    """(x, #blocks), read off the published figure."""
    repeats: int = 1
    quick_trials: int = 5
    note: str = ""
    trains = True

    @property
    def x_label(self) -> str:
        return "sequences N" if self.x == "sequences" else "length n"


@dataclass(frozen=True)
class BlockCurvesFigure:
    """Loss and accuracy along training, against #blocks."""

    id: str
    title: str
    kind: TextSequences
    sequences: int
    blocks: tuple[int, ...]
    quick: tuple[int, ...]
    """#blocks that `quick` keeps."""
    claims: tuple[Claim, ...]
    trials: int = 2
    repeats: int = 1
    published: tuple[tuple[int, int], ...] = ()
    note: str = ""
    trains = True

    x_label = "#blocks"


BlockFigure = SmallestBlocksFigure | BlockCurvesFigure


FLOOR_AND_TOP = (
    "Two points alone refute it if they are too steep. Of the N at which one block suffices the largest counts; an N "
    "at which no #blocks tried did says only that more are needed"
)


def blocks_grow_as(low: float, high: float) -> GrowsAs:
    """The smallest #blocks grow as N^e; they are whole numbers, at least one and at most the top of the ladder."""
    return GrowsAs(low, high, every=True, offset=False, note=FLOOR_AND_TOP)


@dataclass(frozen=True)
class BlocksDoNotGrow(Rule):
    words: ClassVar[str] = (
        "the smallest #blocks differ by at most {within} between any two x; refuted where the one at the "
        "largest x is greater than at the smallest by more, or none sufficed"
    )

    within: int = 1


class NoMoreThanPublished(Rule):
    words: ClassVar[str] = (
        "the smallest #blocks are at most the published ones, at every x and in every series that has both"
    )


@dataclass(frozen=True)
class MoreBlocksRecallMore(Rule):
    words: ClassVar[str] = (
        "the best trial of every #blocks above 1 recalls at least {by:g} more than the best of one block; "
        "refuted where none does"
    )

    by: float = 0.01
