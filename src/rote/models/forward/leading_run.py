"""Contexts that begin alike: words padded on the left to the length of the longest.

In a first layer x_s depends on (token, position) alone, so positions that hold the same token in every context of a
batch are the same for all of them. Attention to such a run is that to one position, whose score is the log of the
run's summed exponentials and whose value the run's own mixture; both depend on the context's last token alone. Nouns
of ten letters padded to seventy then cost little more than nouns of ten letters.
"""

from __future__ import annotations

import torch
from jaxtyping import Integer
from torch import Tensor

SHORTEST = 4
"""Shorter runs are treated like other positions."""


def leading_runs(contexts: Integer[Tensor, "batch context"]) -> tuple[int, Integer[Tensor, " batch"]]:
    """The commonest first token, and how many positions of each context hold it before any other token does.

    The last position, which asks, is never part of a run.
    """
    first = int(contexts[:, 0].mode().values)
    return first, (contexts[:, :-1] == first).cumprod(1).sum(1)


def split_by_run(runs: Integer[Tensor, " batch"], positions: int) -> list[tuple[Integer[Tensor, " part"], int]]:
    """Rows in parts, each with the run that all of its rows share.

    The positions left after a part's run are at most a third more than any of its rows needs.
    """
    left = positions - runs
    bounds = [4]
    while bounds[-1] < positions - SHORTEST:
        bounds.append(bounds[-1] + max(2, bounds[-1] // 3))
    bucket = torch.bucketize(left, torch.tensor(bounds))
    parts = []
    for number in range(len(bounds) + 1):
        rows = (bucket == number).nonzero().flatten()
        if len(rows):
            shared = int(runs[rows].min())
            parts.append((rows, shared if shared >= SHORTEST else 0))
    return parts
