"""Bits: how much information about its facts a model holds, from its answers alone.

If a model is right on a share a of T facts whose answers carry H bits each among N choices, someone who has the model
needs at most h(1 - a) + (1 - a) log2(N - 1) further bits a fact (Fano's inequality, h the binary entropy): one code
for which facts are wrong and one for their answers. So the model holds at least

    T ( H - h(1 - a) - (1 - a) log2(N - 1) )

bits, and T H of them when it recalls everything.
"""

from __future__ import annotations

import math


def bits_memorized(entropy_bits: float, facts: int, recalled: int, choices: int) -> float:
    """Bits held by a model that recalls `recalled` of `facts` facts with `entropy_bits` bits in all.

    `choices` is how many answers the model chooses between. Never negative: a model that is worse than nothing holds
    nothing.
    """
    wrong = 1 - recalled / facts
    doubt = 0.0
    if 0 < wrong < 1:
        doubt = -wrong * math.log2(wrong) - (1 - wrong) * math.log2(1 - wrong)
    if wrong > 0 and choices > 1:
        doubt += wrong * math.log2(choices - 1)
    return max(0.0, entropy_bits - facts * doubt)
