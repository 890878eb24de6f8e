"""The layers of a graft: one neuron per answer token, gates by `separate`, values that make the token win.

A gate opens where its discriminant passes the threshold, which lies at `locality` between the largest score of any
other known state (0) and the gate's own (1). The slope is such that the activation is exactly zero at every known other
state.

A value points where the unembedding separates its token from all others, long enough that the token still wins when
the gate opens by a quarter of what it does on its own state. Layers are placed one after another: the states that an
earlier one has changed are among those that a later one must leave alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rote.errors import CheckFailed, InputError
from rote.lm.graft.host import Host, Neurons
from rote.lm.graft.sentences import Sentence
from rote.lm.graft.separation import Separated, scored, separate
from rote.progress import Progress

CEILING = 0.65
"""Score that other states may have, the gate's own being 1."""
NARROWEST = 0.02
"""Difference of scores below which states count as the same."""
OVERSHOOT = 4.0
MARGIN = 1.0
"""Least logit margin of every stored token."""
DOUBLINGS = 8
ROWS = 256
"""States whose logits are in memory at once."""
INSIDE = 4096
"""States inside prompts that gates are kept closed on."""
BATCH_TOKENS = 512


@dataclass(frozen=True)
class Targets:
    """The states at which a token is to be said."""

    states: Float[Tensor, "states dim"]
    tokens: Int[Tensor, " states"]
    gates: Int[Tensor, " states"]
    facts: tuple[int, ...]
    """The fact of each gate."""

    @property
    def number(self) -> int:
        return len(self.facts)


def read_states(host: Host, given: Sequence[Sentence], progress: Progress) -> tuple[Targets, Tensor]:
    """States at every answer token, and a sample of the states before them."""
    lengths: dict[int, list[Sentence]] = {}
    for sentence in given:
        lengths.setdefault(len(sentence.tokens), []).append(sentence)
    states: list[Tensor] = []
    inside: list[Tensor] = []
    tokens: list[int] = []
    gates: list[int] = []
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    chance = torch.Generator().manual_seed(0)
    kept = min(1.0, INSIDE / max(1, sum(len(sentence.prompt) - 1 for sentence in given)))
    with progress.stage(f"reading {host.model.name}", len(given)) as stage:
        for length, group in lengths.items():
            size = max(1, BATCH_TOKENS // length)
            for start in range(0, len(group), size):
                chunk = group[start : start + size]
                found = host.residuals(torch.tensor([sentence.tokens for sentence in chunk]))
                for sentence, row in zip(chunk, found, strict=True):
                    first = len(sentence.prompt) - 1
                    states.append(row[first:-1])
                    before = row[1:first]
                    inside.append(before[torch.rand(len(before), generator=chance) < kept])
                    tokens += sentence.answer
                    for place in range(len(sentence.answer)):
                        key = (sentence.fact, sentence.answer[: place + 1])
                        gates.append(known.setdefault(key, len(known)))
                stage.advance(len(chunk))
    facts = tuple(fact for fact, _ in known)
    return Targets(torch.cat(states), torch.tensor(tokens), torch.tensor(gates), facts), torch.cat(inside)


@torch.inference_mode()
def new_layers(
    host: Host, targets: Targets, others: Float[Tensor, "others dim"], locality: float, progress: Progress
) -> list[Neurons]:
    """Layers after which every target state says its token by `MARGIN`, and no other known state moves."""
    directions = _directions(host, targets.tokens, progress)
    own: list[list[int]] = [[] for _ in range(targets.number)]
    for row, gate in enumerate(targets.gates.tolist()):
        own[gate].append(row)
    tokens = torch.cat([targets.tokens, torch.full((len(others),), -1)])
    states = torch.cat([targets.states, others])
    layers = []
    with progress.stage("solving for the gates", targets.number) as stage:
        for first in range(0, targets.number, host.width):
            chosen = own[first : first + host.width]
            points = host.normed(states).float()
            found = separate(points, chosen, tokens, CEILING, stage.advance)
            neurons = _closing(host, points, chosen, tokens, found, locality, targets.facts[first:], states)
            neurons = _winning(host, states, chosen, tokens, neurons, directions)
            states = host.push(states, neurons)
            layers.append(neurons)
    _refuse_missed(host, states[: len(targets.tokens)], targets)
    return layers


def _directions(host: Host, tokens: Tensor, progress: Progress) -> dict[int, Tensor]:
    """For each token a residual direction that gives it the largest logit, by 1 over the runner-up."""
    readout, distinct = host.readout(), tokens.unique()
    with progress.stage("solving for the values", len(distinct)) as stage:
        found = separate(readout, [[int(token)] for token in distinct], torch.arange(len(readout)), 0.5, stage.advance)
    gained = found.own - found.other
    if not bool((gained > NARROWEST).all()):
        worst = int(distinct[gained.argmin()])
        raise InputError(
            f"{host.model.name}: no residual state makes the token {host.model.decode([worst])!r} the largest, since "
            f"the unembedding of {host.model.decode([int(found.nearest[gained.argmin()])])!r} covers it; spell the "
            "answer differently"
        )
    return dict(zip(distinct.tolist(), found.weights / gained[:, None], strict=True))


def _closing(
    host: Host,
    points: Tensor,
    own: Sequence[Sequence[int]],
    tokens: Tensor,
    found: Separated,
    locality: float,
    facts: Sequence[int],
    states: Tensor,
) -> Neurons:
    """Gates and thresholds in the dtype that is saved, closed at every point that is not their own."""
    _refuse_alike(host, found, own, tokens, facts)
    slope = host.all_zero / (locality * (found.own - found.other.clamp_min(CEILING)))
    gates = (found.weights * slope[:, None]).to(host.dtype)
    rounded = scored(points, gates.float(), own, tokens)
    floor = torch.maximum(rounded.other, CEILING * slope)
    thresholds = (floor + locality * (rounded.own - floor)).to(host.dtype)
    _refuse_alike(host, rounded, own, tokens, facts)
    return Neurons(gates, thresholds, torch.zeros_like(gates))


def _refuse_alike(
    host: Host, found: Separated, own: Sequence[Sequence[int]], tokens: Tensor, facts: Sequence[int]
) -> None:
    apart = (found.own - found.other) / found.own.abs().clamp_min(1e-9)
    alike = torch.nonzero(~(apart > NARROWEST))[:, 0].tolist()
    if not alike:
        return
    gate = alike[0]
    other = int(tokens[found.nearest[gate]])
    said = host.model.decode([int(tokens[own[gate][0]])])
    against = f"one that says {host.model.decode([other])!r}" if other >= 0 else "one of other text"
    raise InputError(
        f"{host.model.name}: {len(alike)} of {len(own)} answer tokens cannot be told apart from other states, for "
        f"example {said!r} of fact {facts[gate] + 1} from {against}; give fewer or other templates, leave facts that "
        "look alike to this model out, or use float32"
    )


def _winning(
    host: Host,
    states: Tensor,
    own: Sequence[Sequence[int]],
    tokens: Tensor,
    neurons: Neurons,
    directions: dict[int, Tensor],
) -> Neurons:
    """Values long enough that each gate's token wins on all of its states, also when it opens by a quarter."""
    rows = torch.tensor([row for group in own for row in group])
    gate = torch.tensor([number for number, group in enumerate(own) for _ in group])
    along = torch.stack([directions[int(tokens[group[0]])] for group in own])
    opened = host.act(
        (host.normed(states[rows]) * neurons.gates[gate]).float().sum(1) - neurons.thresholds[gate].float()
    )
    needed = torch.zeros(len(own)).scatter_reduce(
        0, gate, _lengths(host, states[rows], tokens[rows], along[gate]), "amax"
    )
    least = torch.full((len(own),), torch.inf).scatter_reduce(0, gate, opened, "amin")
    length = OVERSHOOT * torch.maximum(needed, needed.median())
    for _ in range(DOUBLINGS):
        neurons = replace(neurons, values=(along * (length / least)[:, None]).to(host.dtype))
        short = _margins(host, host.push(states[rows], neurons), tokens[rows]) < MARGIN
        if not bool(short.any()):
            break
        length[gate[short].unique()] *= 2
    return neurons


def _lengths(host: Host, states: Tensor, tokens: Tensor, along: Tensor) -> Tensor:
    """How far each state must move along its direction for its token to lead, ignoring the last norm's bias."""
    readout, found = host.readout(), []
    for part in torch.arange(len(states)).split(ROWS):
        now, gain = states[part].float() @ readout.T, along[part] @ readout.T
        own = tokens[part][:, None]
        behind = (now - now.gather(1, own)) / (gain.gather(1, own) - gain).clamp_min(1e-6)
        found.append(behind.scatter(1, own, 0.0).amax(1))
    return torch.cat(found)


def _margins(host: Host, states: Tensor, tokens: Tensor) -> Tensor:
    """Logit of each state's token minus the largest other."""
    found = []
    for part in torch.arange(len(states)).split(ROWS):
        logits, own = host.logits(states[part]), tokens[part][:, None]
        found.append((logits.gather(1, own) - logits.scatter(1, own, -torch.inf).amax(1, keepdim=True))[:, 0])
    return torch.cat(found)


def _refuse_missed(host: Host, states: Tensor, targets: Targets) -> None:
    missed = int((_margins(host, states, targets.tokens) <= 0).sum())
    if missed:
        raise CheckFailed(
            f"{host.model.name}: {missed:,} of {len(states):,} answer tokens do not win in "
            f"{str(host.dtype).removeprefix('torch.')}; use float32"
        )
