"""Facts that a memory layer stores when each head reads a hashed slot: as many equations as peeling solves.

A group of n facts is n equations of three unknowns each, one per head. Peeling solves random ones where there are more
than 1.222 unknowns per equation, as n grows (Molloy 2005). Measured for finite n: 1.23 n + 1.3 sqrt(n) + 3 unknowns
were enough in 97 % of 60 draws at n = 1,024, and in all of 60 at n = 4,096.
"""

from __future__ import annotations

import math

from rote.models.memory_transformer import MemoryTransformer
from rote.theory.bound import Refusal, Value
from rote.theory.result import result

UNKNOWNS = 3
"""Unknowns of an equation, one per head."""
PER_EQUATION, SPARE = 1.23, 1.3


def unknowns_per_head(equations: int) -> int:
    """Slots of each head with which peeling mostly solves so many equations."""
    return math.ceil((PER_EQUATION * equations + SPARE * math.sqrt(equations) + UNKNOWNS) / UNKNOWNS)


def equations_solved(slots: int) -> int:
    """Equations that peeling mostly solves with so many slots of each head."""
    spare = UNKNOWNS * (slots - 1)
    return int(((math.sqrt(SPARE**2 + 4 * PER_EQUATION * spare) - SPARE) / (2 * PER_EQUATION)) ** 2)


@result(
    "rote.peeling",
    where="a rule from measured peeling; threshold by Molloy 2005",
    kind="estimate",
    about=MemoryTransformer,
    statement="T ~ G n with 1.23 n + 1.3 sqrt(n) + 3 = 3 M, for 3 heads, G groups of M slots per head",
)
def peeling(spec: MemoryTransformer) -> Value | Refusal:
    """What hashed groups of facts were seen to need."""
    if spec.heads != UNKNOWNS:
        return Refusal(f"the rule was measured for {UNKNOWNS} heads, given {spec.heads}", spec.parameters())
    each = equations_solved(spec.slots)
    # There are no more keys than sequences of tokens; the power is bounded, so that it stays a number.
    keys = spec.key_tokens ** min(spec.context, 41)
    return Value(
        min(spec.groups * each, keys),
        spec.parameters(),
        f"{each} equations in each of {spec.groups} groups, solved by peeling",
    )
