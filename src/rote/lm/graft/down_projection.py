"""The exact change of the last down-projection that stores facts, as a LoRA: W + B A.

The input of that matrix at an answer token is the token's *key* k. A change D of the matrix adds D k to the last
residual state. Values v make each token win by a margin; the D of least tr(D C D') with D k = v at every key is

    D = V (K' C^-1 K)^-1 K' C^-1,

C being the second moment of keys in control text, so ordinary text moves least. It exists if the keys are linearly
independent, so at most as many tokens as the matrix has inputs. Its rank is at most the number of keys, and of outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rote.errors import CheckFailed, InputError, cut
from rote.lm.graft.host import Host
from rote.lm.graft.layers import directions_of, lengths_of, margins_of
from rote.lm.graft.sentences import Sentence
from rote.progress import Progress

RIDGE = 1e-3
"""Of the mean second moment, added to every direction."""
DEPENDENT = 1e-7
"""Share of the largest eigenvalue of K' C^-1 K below which keys count as dependent."""
MARGIN, OVERSHOOT, DOUBLINGS = 1.0, 1.2, 8
BATCH_TOKENS = 1024


@dataclass(frozen=True)
class Keys:
    """Inputs of the last down-projection and residual states after it, at answer tokens."""

    keys: Float[Tensor, "tokens inputs"]
    states: Float[Tensor, "tokens dim"]
    tokens: Int[Tensor, " tokens"]


@dataclass(frozen=True)
class LowRank:
    """The factors of a LoRA, in float32."""

    a: Float[Tensor, "rank inputs"]
    b: Float[Tensor, "outputs rank"]


@torch.inference_mode()
def keys_of(host: Host, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Keys and last residual states at every token."""
    keys: list[Tensor] = []
    down = host.model.module.get_submodule(host.down_projection)
    handle = down.register_forward_pre_hook(lambda module, given: keys.append(given[0]))
    try:
        states = host.residuals(ids)
    finally:
        handle.remove()
    return keys[0].clone(), states


def read_keys(host: Host, given: Sequence[Sentence], progress: Progress) -> Keys:
    """Keys and states at every answer token."""
    alike: dict[int, list[Sentence]] = {}
    for sentence in given:
        alike.setdefault(len(sentence.tokens), []).append(sentence)
    keys, states, tokens = [], [], []
    with progress.stage(f"reading {host.model.name}", len(given)) as stage:
        for length, group in alike.items():
            step = max(1, BATCH_TOKENS // length)
            for start in range(0, len(group), step):
                chunk = group[start : start + step]
                found = keys_of(host, torch.tensor([sentence.tokens for sentence in chunk]))
                for sentence, key, state in zip(chunk, *found, strict=True):
                    places = slice(len(sentence.prompt) - 1, -1)
                    keys.append(key[places])
                    states.append(state[places])
                    tokens += sentence.answer
                stage.advance(len(chunk))
    return Keys(torch.cat(keys), torch.cat(states), torch.tensor(tokens))


@torch.inference_mode()
def exact_change(host: Host, read: Keys, control: Tensor, rank: int | None, progress: Progress) -> LowRank:
    """The change after which every token wins by a margin; truncated to `rank` where one is given."""
    keys, inputs = read.keys.double(), read.keys.shape[1]
    _refuse_many(host, len(keys), inputs)
    background = torch.cat([keys_of(host, part)[0].flatten(0, 1).double() for part in control.split(8)])
    moment = background.T @ background / len(background)
    moment += RIDGE * moment.diag().mean() * torch.eye(inputs, dtype=torch.double)
    try:
        weighted = torch.linalg.solve(moment, keys.T)
        values, vectors = torch.linalg.eigh(keys @ weighted)
    except torch.linalg.LinAlgError as error:  # pyright: ignore[reportPrivateImportUsage]
        raise InputError(
            f"{host.model.name}: the inputs of its last down-projection cannot be solved for ({cut(error)}); are its "
            "weights finite?"
        ) from error
    if float(values[0]) < DEPENDENT * float(values[-1]):
        dependent = int((values < DEPENDENT * values[-1]).sum())
        raise InputError(
            f"{host.model.name}: {dependent} of {len(keys)} answer tokens have keys that depend on others, so no "
            "change of one matrix stores them all; give fewer facts or templates, or write a checkpoint"
        )
    reading = (vectors / values) @ vectors.T @ weighted.T
    directions = directions_of(host, read.tokens, progress)
    along = torch.stack([directions[int(token)] for token in read.tokens])
    length = OVERSHOOT * lengths_of(host, read.states, read.tokens, along).clamp_min(1e-3)
    for _ in range(DOUBLINGS):
        moved = (read.states.float() + along * length[:, None]).to(host.dtype)
        short = margins_of(host, moved, read.tokens) < MARGIN
        if not bool(short.any()):
            break
        length[short] *= 1.5
    written = (along * length[:, None]).double().T
    return _factors(written, reading, rank)


def _factors(values: Tensor, reading: Tensor, rank: int | None) -> LowRank:
    """B A = values reading, of the least rank that is exact or of the rank that is asked for."""
    left, scale, right = torch.linalg.svd(values @ reading, full_matrices=False)
    kept = len(scale) if rank is None else min(rank, len(scale))
    kept = min(kept, int((scale > 1e-12 * scale[0]).sum()), len(reading))
    root = scale[:kept].sqrt()
    return LowRank((root[:, None] * right[:kept]).float().contiguous(), (left[:, :kept] * root).float().contiguous())


def _refuse_many(host: Host, tokens: int, inputs: int) -> None:
    if tokens > inputs:
        raise InputError(
            f"{host.model.name}: {tokens:,} answer tokens are more than the {inputs:,} inputs of its last "
            "down-projection, so no change of that matrix is exact; give fewer facts or templates, or write a "
            "checkpoint"
        )


def check_recalled(recalled: int, facts: int, rank: int | None) -> None:
    """Refuse an exact change that misses facts; a truncated one may."""
    if rank is None and recalled < facts:
        raise CheckFailed(f"{facts - recalled:,} of {facts:,} facts are missed after the exact change; use float32")
