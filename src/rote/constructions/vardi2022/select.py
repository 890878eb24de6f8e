"""Group selection: sorted keys are cut into groups, and a key x fetches the words of its group.

A group j > 0 is entered at x >= a_j, its smallest key: s_j = relu(1 - relu(a_j - x)) is 1 then and 0 before, exactly,
because both are whole numbers. Words telescope: w = w_0 + sum_j (w_j - w_{j-1}) s_j (Vardi, Yehudai and Shamir 2022,
Lemma A.3, with thresholds in place of bumps: bumps are ramps, which a matrix product does not reproduce exactly).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rote.constructions.vardi2022.network import Builder


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
