"""Sizes of the memory layer for given facts, and the hash functions that its embeddings compute.

A key's coordinates are sums of random whole numbers, one per position and token, folded below a modulus by thresholds:
tabulation hashing. The first coordinate decides the group, through the ends of intervals that share the facts evenly;
the others are slots. Each group reads the three of them with which its equations could be solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from rote.errors import InputError
from rote.models.deep_relu import MANTISSA_BITS
from rote.models.memory_transformer import MemoryTransformer
from rote.tasks import AssociationTask
from rote.theory.rote_peeling import UNKNOWNS, unknowns_per_head

FACTS_PER_GROUP, MOST_GROUPS = 8192, 256
"""Facts that are solved together, up to so many groups; beyond, twice as many until there are no more groups."""
COORDINATES = UNKNOWNS + 1
"""Slot coordinates, of which each group reads three."""
CHOICES = tuple(combinations(range(COORDINATES), UNKNOWNS))
EVEN_LEVELS = 64
"""Values of the gate coordinate per group from which the ends of intervals are placed by the facts."""
AT_ONCE = 2**16
"""Keys that are hashed together."""


@dataclass(frozen=True, eq=False)
class Layout:
    """How facts, one per key, are laid out in a memory layer; everything but the values of its slots."""

    task: AssociationTask
    dtype: str
    facts_per_group: int
    seed: int
    attempt: int = 0

    def __post_init__(self) -> None:
        if not self.fits:
            raise InputError(
                f"rote.memory_layer: {self.task.facts:,} facts of {self.task.context} tokens need larger whole numbers "
                f"than {self.dtype} has; use `dtype=float64`"
            )

    @property
    def fits(self) -> bool:
        """Whether every sum is a whole number that the dtype has."""
        logits = 2 * self.digits * self.base**2
        gate = self.gate_levels >= self.groups
        return gate and max(logits, self.task.context * self.slots) <= self.whole

    @property
    def whole(self) -> int:
        """Up to which every whole number is exact."""
        return 2 ** MANTISSA_BITS[self.dtype]

    @property
    def groups(self) -> int:
        return -(-self.task.facts // self.facts_per_group)

    @cached_property
    def gate_levels(self) -> int:
        """Values of the gate coordinate: as many as keep sums and gate scores exact."""
        most = min(self.whole // (2 * self.groups), self.whole // self.task.context, 2**20)
        return most if most >= EVEN_LEVELS * self.groups else most // self.groups * self.groups

    @cached_property
    def ordered(self) -> bool:
        """Whether positions must enter: a token occurs at two of them."""
        return self.task.shape.groups < self.task.context

    @cached_property
    def key_tokens(self) -> int:
        return int(self.task.contexts.max()) + 1

    @cached_property
    def answers(self) -> np.ndarray:
        """Tokens that are answers, in order."""
        return np.unique(self.task.answers)

    @cached_property
    def digits(self) -> int:
        """Digits of an answer's number: the fewest for which logits are exact."""
        digits = 1
        while 2 * digits * _root(len(self.answers), digits) ** 2 > self.whole and 2**digits < len(self.answers):
            digits += 1
        return digits

    @property
    def base(self) -> int:
        return _root(len(self.answers), self.digits)

    @cached_property
    def gate_table(self) -> np.ndarray:
        """Gate numbers of tokens (positions x key tokens)."""
        return self._random(0).integers(self.gate_levels, size=self._table_shape)

    @cached_property
    def slot_table(self) -> np.ndarray:
        """Slot numbers of tokens (positions x key tokens x coordinates)."""
        return self._random(1).integers(self.slots, size=(*self._table_shape, COORDINATES))

    @property
    def _table_shape(self) -> tuple[int, int]:
        return (self.task.context if self.ordered else 1, self.key_tokens)

    def _random(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.attempt, stream])

    def _sums(self, table: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        places = np.arange(self.task.context) if self.ordered else 0
        return table[places, contexts].sum(1)

    @cached_property
    def _gated(self) -> np.ndarray:
        """Gate coordinate of every fact."""
        gated = np.empty(self.task.facts, dtype=np.int32)
        for start in range(0, self.task.facts, AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            gated[rows] = self._sums(self.gate_table, self.task.contexts[rows]) % self.gate_levels
        return gated

    @cached_property
    def ends(self) -> np.ndarray:
        """The gate coordinate at which each group but the first begins."""
        share = np.arange(1, self.groups)
        if self.gate_levels >= EVEN_LEVELS * self.groups:
            below = np.cumsum(np.bincount(self._gated, minlength=self.gate_levels))
            ends = np.searchsorted(below, share * self.task.facts / self.groups) + 1
            if bool((np.diff(ends) > 0).all()) and (not len(ends) or ends[-1] < self.gate_levels):
                return ends
        return share * (self.gate_levels // self.groups)

    @cached_property
    def rows_of_groups(self) -> list[np.ndarray]:
        """The facts of each group, in order."""
        group = np.searchsorted(self.ends, self._gated, side="right").astype(np.int32)
        counts = np.bincount(group, minlength=self.groups)
        return np.split(np.argsort(group, kind="stable").astype(np.int32), np.cumsum(counts)[:-1])

    @cached_property
    def slots(self) -> int:
        """Memory slots of a head in a group: enough for the group with most facts."""
        return unknowns_per_head(max(map(len, self.rows_of_groups)))

    def precompute(self) -> None:
        """Compute what groups share, before threads read it."""
        _ = (self.slot_table, self.rows_of_groups, self.answers)

    def slots_of(self, rows: np.ndarray) -> np.ndarray:
        """Slot coordinates of facts (facts x coordinates)."""
        return self._sums(self.slot_table, self.task.contexts[rows]) % self.slots

    def numbers_of(self, rows: np.ndarray) -> np.ndarray:
        """Digits of the numbers of these facts' answers (facts x digits)."""
        return self._spelled(np.searchsorted(self.answers, self.task.answers[rows]))

    def _spelled(self, numbers: np.ndarray) -> np.ndarray:
        return numbers[:, None] // self.base ** np.arange(self.digits) % self.base

    @property
    def spec(self) -> MemoryTransformer:
        task = self.task
        return MemoryTransformer(
            vocab=task.vocab,
            context=task.context,
            key_tokens=self.key_tokens,
            dim=1 + COORDINATES,
            groups=self.groups,
            heads=UNKNOWNS,
            slots=self.slots,
            digits=self.digits,
            neurons=task.context - 1,
            answer_neurons=UNKNOWNS - 1,
            ordered=self.ordered,
            word_bits=MANTISSA_BITS[self.dtype],
        )

    def tensors(self) -> dict[str, np.ndarray]:
        """All weights but the values of slots and the slots that groups read, in whole numbers."""
        moduli = np.array([self.gate_levels] + [self.slots] * COORDINATES)
        folds, wraps = np.arange(1, self.task.context), np.arange(1, UNKNOWNS)
        middle = self.groups // 2
        # Line j + 1 passes line j half a step before its group begins; the middle line has constant zero.
        steps = np.concatenate([[0], -np.cumsum(2 * self.ends - 1)])
        unembed = np.zeros((self.task.vocab, self.digits), dtype=np.int64)
        unembed[self.answers] = self._spelled(np.arange(len(self.answers)))
        constants = np.full(self.task.vocab, -1)
        constants[self.answers] = -(unembed[self.answers] ** 2).sum(1)
        return {
            "table": np.concatenate([self.gate_table[:, :, None], self.slot_table], axis=2),
            "fold.bias": moduli[:, None] * folds,
            "fold.output": -moduli[:, None] * np.ones_like(folds),
            "gate.weight": 2 * (np.arange(self.groups) - middle),
            "gate.bias": steps - steps[middle],
            "slots": np.arange(self.slots),
            "answer.bias": np.tile(self.base * wraps, (self.digits, 1)),
            "answer.output": np.full((self.digits, len(wraps)), -self.base),
            "unembed.weight": 2 * unembed,
            "unembed.bias": constants,
        }


def _root(number: int, digits: int) -> int:
    """The smallest base in which so many numbers have so many digits."""
    base = max(1, round(number ** (1 / digits)) - 1)
    while base**digits < number:
        base += 1
    return base


def default_group(facts: int) -> int:
    """Facts per group, where nobody says."""
    group = FACTS_PER_GROUP
    while group * MOST_GROUPS < facts:
        group *= 2
    return group
