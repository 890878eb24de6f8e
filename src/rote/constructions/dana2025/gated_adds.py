"""Facts added by heads of their own that are exactly zero on every other key, so that old facts keep every bit.

A head that adds one fact reads a coordinate that is 1 at the last position and 0 at all others. Its scores are

    score(s) = lambda k . x_s  for s < S,    score(S) = lambda (q . x_S + 1/2),

with k . x_s = 0 at the tokens of the added key and at least 1 at any other token of that position, q . x_S = 0 at its
last token and at most -1 at any other. So position S leads by lambda / 2 for the added key, and trails some position by
as much for every other. With lambda / 2 beyond the range of the exponential, attention is exactly 1 or exactly 0 there,
and the head writes its column of W_O or exactly nothing. k and q are found by linear programs. These heads are summed
after all others (`heads_apart`), so that the sums of the others are rounded in the order they were.

Models without such a coordinate get one: a dimension that is zero in all that exists.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rote.errors import CheckFailed, InputError
from rote.measure.matching import rows_at_once, stream_logits
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.tasks import AssociationTask

LEAD = {torch.float64: 2.0**11, torch.float32: 2.0**9}
"""lambda by dtype (narrower ones take float32's). The exponential of minus half of it is exactly zero."""
OTHERWISE = "leave `keep_bits` out: W_O then moves other logits by rounding alone"


def has_indicator(weights: dict[str, Tensor]) -> bool:
    """Whether the last coordinate tells the last position from all others, as threshold heads need."""
    positions = weights["positions"][:, -1]
    return bool(positions[-1] == 1) and not bool(positions[:-1].any()) and not bool(weights["tokens"][:, -1].any())


def has_own_coordinate(weights: dict[str, Tensor]) -> bool:
    """Whether the last coordinate is one that `with_coordinate` added: nothing that was built reads or writes it."""
    return has_indicator(weights) and not bool(weights["unembed"][:, -1].any())


def with_coordinate(model: Model, spec: AttentionOnly) -> Model:
    """The model with one more dimension, 1 at the last position and 0 elsewhere, that no weight reads."""
    pad = torch.nn.functional.pad
    weights = {
        name: pad(tensor, (0, 0, 0, 1)) if name.endswith(".output") else pad(tensor, (0, 1))
        for name, tensor in model.weights.items()
    }
    weights["positions"][-1, -1] = 1
    return Model(spec.model_copy(update={"dim": spec.dim + 1}), weights, model.vocabulary)


def without_coordinate(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Undo `with_coordinate` for tensors that are read along their last axis."""
    return {name: tensor[..., :-1].contiguous() for name, tensor in weights.items()}


def gated_heads(
    model: Model, spec: AttentionOnly, stored: np.ndarray, added: np.ndarray
) -> Float[Tensor, "kinds added head_dim dim"]:
    """Query, key and value maps of one head per added key, open for it and closed for all other keys."""
    if spec.rank < 2:
        raise InputError(
            f"`keep_bits`: a gate takes query-key matrices of rank two, and these have rank one; {OTHERWISE}"
        )
    weights, seen = model.weights, np.concatenate([stored, added])
    everywhere = (weights["tokens"][None] + weights["positions"][:, None]).double()
    everywhere[:, :, -1] = 0
    tokens = [np.unique(seen[:, position]) for position in range(spec.context)]
    strength = LEAD.get(model.dtype, LEAD[torch.float32])
    made = torch.zeros(3, len(added), max(spec.rank, spec.head_dim), spec.dim, dtype=torch.float64)
    for head, key in enumerate(added.tolist()):
        earlier = _told_apart(everywhere[:-1], tokens[:-1], key[:-1])
        last = _told_apart(everywhere[-1:], tokens[-1:], key[-1:])
        if earlier is None or last is None:
            words = " ".join(model.vocabulary.words(key)) if model.vocabulary else str(key)
            raise InputError(
                f"`keep_bits`: in {spec.dim} dimensions no gate tells the key {words!r} from the others; {OTHERWISE}, "
                "or build the model again with a larger `dim`"
            )
        query, keys, value = made[:, head]
        # Row 0: the same question for every key, answered by tokens. Row 1: the last position alone answers it.
        query[0, -1], keys[0] = 1, strength * earlier
        query[1], keys[1, -1] = -strength * (last + earlier), 1
        query[1, -1] = strength / 2
        value[0, -1] = 1
    made[0] *= math.sqrt(spec.head_dim) if spec.scale_scores else 1
    return made


def _told_apart(
    everywhere: Float[Tensor, "positions vocab dim"], tokens: list[np.ndarray], key: list[int]
) -> Float[Tensor, " dim"] | None:
    """A small vector that is 0 at the key's tokens and at least 1 at all other tokens; None if there is none."""
    from scipy.optimize import linprog

    dim = everywhere.shape[2]
    if not key:
        return torch.zeros(dim, dtype=torch.float64)
    own = torch.stack([everywhere[place, token] for place, token in enumerate(key)]).numpy()
    others = np.concatenate(
        [
            everywhere[place, torch.from_numpy(seen[seen != key[place]]).long()].numpy()
            for place, seen in enumerate(tokens)
        ]
    )
    # Unknowns: the vector and a bound of its entries, which is minimised.
    bounded = np.concatenate([np.eye(dim), -np.eye(dim)])
    upper = np.concatenate(
        [np.column_stack([-others, np.zeros(len(others))]), np.column_stack([bounded, -np.ones(2 * dim)])]
    )
    solved = linprog(
        np.append(np.zeros(dim), 1),
        A_ub=upper,
        b_ub=np.concatenate([-np.ones(len(others)), np.zeros(2 * dim)]),
        A_eq=np.column_stack([own, np.zeros(len(own))]),
        b_eq=np.zeros(len(own)),
        bounds=(None, None),
    )
    if solved.status != 0:
        return None
    found = torch.from_numpy(solved.x[:dim])
    found[-1] = 0  # the coordinate of positions, which the program leaves free
    return found


def with_gated_heads(
    model: Model,
    spec: AttentionOnly,
    maps: Float[Tensor, "kinds added head_dim dim"],
    written: Float[Tensor, "added dim"],
) -> Model:
    """The model with these heads, each of which writes its row of `written` where it is open."""
    weights, dtype = dict(model.weights), model.dtype
    for name, tensor, rows in zip(("query", "key", "value"), maps, (spec.rank, spec.rank, spec.head_dim), strict=True):
        old = weights[f"layers.0.{name}"]
        weights[f"layers.0.{name}"] = torch.cat([old, tensor[:, :rows].to(dtype)])
    output = torch.zeros(len(written), spec.dim, spec.head_dim, dtype=dtype)
    output[:, :, 0] = written.to(dtype)
    weights["layers.0.output"] = torch.cat([weights["layers.0.output"], output])
    more = {"heads": spec.heads + len(written), "heads_apart": spec.heads_apart + len(written)}
    return Model(spec.model_copy(update=more), weights, model.vocabulary)


def check_bits(before: Model, after: Model, task: AssociationTask) -> None:
    """Run all old facts through both models; an error if any logit of any of them differs in any bit."""
    rows = min(rows_at_once(before), rows_at_once(after))
    pairs = zip(stream_logits(before, task, rows=rows), stream_logits(after, task, rows=rows), strict=True)
    moved = sum(int((one != other).any(1).sum()) for (_, one), (_, other) in pairs)
    if moved:
        raise CheckFailed(
            f"`keep_bits`: {moved:,} of {task.facts:,} other facts have a logit that differs in {before.dtype_name}; "
            f"{OTHERWISE}"
        )
