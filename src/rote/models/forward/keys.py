"""Exact look-up of token sequences in a table of keys.

A sequence is read as the digits of a whole number, so that a look-up is a binary search. Where that number could
exceed 63 bits, it is replaced by its rank among those of the keys, which keeps the order, and further digits are added.
"""

from __future__ import annotations

import torch
from jaxtyping import Integer
from torch import Tensor

from rote.errors import InputError


def rows_of(
    keys: Integer[Tensor, "rows context"], contexts: Integer[Tensor, "batch context"]
) -> Integer[Tensor, " batch"]:
    """The row of `keys` that equals each context. Any order of keys works; lexicographic order is fastest."""
    keys, contexts = keys.long(), contexts.long()
    if len(contexts) == 0:
        return contexts.new_zeros(0)
    lowest, base = int(min(keys.min(), contexts.min())), int(max(keys.max(), contexts.max())) + 1
    if lowest < 0:
        raise InputError(f"keys: token ids are not negative, found {lowest}; build the model again")
    key_numbers = keys.new_zeros(len(keys))
    numbers = contexts.new_zeros(len(contexts))
    known = torch.ones(len(contexts), dtype=torch.bool, device=contexts.device)
    size = 1
    for position in range(keys.shape[1]):
        if size * base >= 2**63:
            distinct, key_numbers = torch.unique(key_numbers, return_inverse=True)
            numbers, present = _search(distinct, numbers)
            known &= present
            size = len(distinct)
        key_numbers = key_numbers * base + keys[:, position]
        numbers = numbers * base + contexts[:, position]
        size *= base
    order = None
    steps = key_numbers.diff()
    if bool((steps < 0).any()):
        key_numbers, order = key_numbers.sort()
        steps = key_numbers.diff()
    if bool((steps == 0).any()):
        twice = int((steps == 0).nonzero()[0])
        row = twice if order is None else int(order[twice])
        raise InputError(f"keys: the key {keys[row].tolist()} appears twice; a context needs one row")
    rows, present = _search(key_numbers, numbers)
    known &= present
    if not bool(known.all()):
        raise InputError(_unknown(contexts[~known]))
    return rows if order is None else order[rows]


def _search(ordered: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Place of each number in an ordered list, and whether it is there at all."""
    places = torch.searchsorted(ordered, numbers).clamp_(max=len(ordered) - 1)
    return places, ordered[places] == numbers


def _unknown(missing: Tensor) -> str:
    shown = ", ".join(str(key) for key in missing[:3].tolist())
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    plural = "s" if len(missing) > 1 else ""
    return (
        f"unknown key{plural} {shown}{more} (token ids): this model holds one row per key it was built for and nothing "
        "for others; ask only those, or use an architecture that reads tokens"
    )
