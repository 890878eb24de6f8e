"""Group selection: sorted keys are cut into groups, and a key x fetches the words of its group.

A group j > 0 is entered at x >= a_j, its smallest key: s_j = relu(1 - relu(a_j - x)) is 1 then and 0 before, exactly,
because both are whole numbers. Words telescope: w = w_0 + sum_j (w_j - w_{j-1}) s_j (Vardi, Yehudai and Shamir 2022,
Lemma A.3, with thresholds in place of bumps: bumps are ramps, which a matrix product does not reproduce exactly).

Integers are packed into words, and read from them by threshold neurons, two layers per binary digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rote.constructions.vardi2022.affine import Affine
from rote.constructions.vardi2022.network import Builder


def packed(values: Sequence[int], bits: int, size: int) -> int:
    """`size` fields of `bits` bits, the first the highest; fields without a value are 0."""
    return concatenated((value, bits) for value in [*values, *[0] * (size - len(values))])


def concatenated(fields: Iterable[tuple[int, int]]) -> int:
    """(value, bits) fields of any lengths as one word, the first the highest."""
    word = 0
    for value, bits in fields:
        word = word << bits | value
    return word


def threshold(builder: Builder, value: Affine, level: Affine | int) -> None:
    """Leave in temporary `reached` 1 if value >= level, else 0, for whole numbers; `short` lives one layer."""
    builder.layer(short=level - value)
    builder.layer(reached=1 - builder["short"])


def remainder(builder: Builder, name: str, divisor: int, largest: int) -> None:
    """Register <- register mod divisor, for values up to `largest`: schoolbook division, a digit at a time."""
    for digit in reversed(range(max(0, (largest // divisor).bit_length()))):
        threshold(builder, builder[name], divisor << digit)
        builder[name] -= (divisor << digit) * builder["reached"]


def select(builder: Builder, starts: Sequence[int], words: Mapping[str, Sequence[int]], lanes: int = 1) -> None:
    """Fill registers with the words of the group that register x falls into.

    `starts[j]` is group j's smallest key (the first is never looked at: smaller keys fall into group 0).
    `lanes` thresholds are computed side by side: the depth is (groups - 1) / lanes, the width 1 + 2 lanes + words,
    and partial sums of a word may grow to (lanes + 1) times its size.
    """
    for name, values in words.items():
        builder[name] = values[0]
    compared: list[int] = []
    for first in range(1, len(starts) + lanes, lanes):
        # One layer compares the next groups' starts while the one before it is turned into switches.
        switched, compared = compared, list(range(first, min(first + lanes, len(starts))))
        if not switched and not compared:
            break
        asked = {f"below{lane}": starts[group] - builder["x"] for lane, group in enumerate(compared)}
        turned = {f"entered{lane}": 1 - builder[f"below{lane}"] for lane in range(len(switched))}
        builder.layer(**asked, **turned)
        for lane, group in enumerate(switched):
            for name, values in words.items():
                builder[name] += (values[group] - values[group - 1]) * builder[f"entered{lane}"]
