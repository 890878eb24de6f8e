"""The layers of a graft: one neuron per answer token, gates by `separate`, values that make the token win.

A discriminant is found in three steps: the shortest function that separates its states, rewordings included; the logit
of its class by logistic regression, which tells unseen words better, added at a share; and the nearest function to
their sum that is closed at every state where it must be.

A gate opens where its discriminant passes the threshold, which lies at `locality` between the largest score of any
such state (0) and the gate's own (1). The slope is such that the activation is exactly zero there.

A value points where the unembedding separates its token from all others, long enough that the token still wins when
the gate opens by a twelfth of what it does on its own state. Layers are placed one after another: a later one must also
leave alone what an earlier one has made of its own states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from rote.errors import CheckFailed, InputError
from rote.lm.graft.classification import classify, steps_of
from rote.lm.graft.host import Host, Neurons
from rote.lm.graft.parts import NOTHING_KEPT, Parts
from rote.lm.graft.sentences import Sentence
from rote.lm.graft.separation import ENOUGH, Separated, Start, scored, separate
from rote.progress import Progress

CEILING = 0.72
"""Score that other states may have, the gate's own being 1."""
PRESSED = 1.3
"""Factor by which subjects that are not stored should stay below the ceiling."""
SHARE, LOW = 0.05, 0.8
"""Share of the class logits in a gate's score, and the score of the sum that counts as 1."""
NARROWEST = 0.02
"""Difference of scores below which states count as the same."""
OVERSHOOT = 12.0
MARGIN = 1.0
"""Least logit margin of every stored token."""
DOUBLINGS = 8
ROWS = 256
"""States whose logits are in memory at once."""
INSIDE = 4096
"""States inside prompts that gates are kept closed on."""
BATCH_TOKENS = 1024


@dataclass(frozen=True)
class Targets:
    """The states at which a token is to be said."""

    states: Float[Tensor, "states dim"]
    tokens: Int[Tensor, " states"]
    gates: Int[Tensor, " states"]
    facts: tuple[int, ...]
    """The fact of each gate."""
    sentences: tuple[Sentence, ...] = ()
    """What was read, in the order of the states: as many states per sentence as its answer has tokens."""
    soft: frozenset[int] = frozenset()
    """States of rewordings: the token should be said there as well, but need not be."""

    @property
    def number(self) -> int:
        return len(self.facts)

    def rows(self, soft: bool = False) -> list[list[int]]:
        """The states of each gate: those that must open it, or those that should."""
        found: list[list[int]] = [[] for _ in range(self.number)]
        for row, gate in enumerate(self.gates.tolist()):
            if (row in self.soft) == soft:
                found[gate].append(row)
        return found


def read_states(
    host: Host,
    given: Sequence[Sentence],
    progress: Progress,
    parts: Parts = NOTHING_KEPT,
    reworded: Sequence[Sentence] = (),
) -> tuple[Targets, Tensor]:
    """States at every answer token, and a sample of the states before them; of `reworded` in the guide's dtype."""
    every, must = [*given, *reworded], {id(sentence) for sentence in given}
    order: list[Sentence] = []
    states: list[Tensor] = []
    inside: list[Tensor] = []
    kept = min(1.0, INSIDE / max(1, sum(len(sentence.prompt) - 1 for sentence in every)))
    asked = {sentence.tokens[:end] for sentence in every for end in range(len(sentence.prompt), len(sentence.tokens))}
    chunks = [(host, chunk) for chunk in alike_in_length(given)]
    chunks += [(host.guide, chunk) for chunk in alike_in_length(reworded)]
    with progress.stage(f"reading {host.model.name}", len(every)) as stage:
        for number, (reader, chunk) in enumerate(chunks):
            found = parts(
                f"states-{number}",
                lambda reader=reader, chunk=chunk, number=number: _read(reader, chunk, asked, kept, number),
            )
            order += chunk
            states.append(found[0].to(host.dtype))
            inside.append(found[1].to(host.dtype))
            stage.advance(len(chunk))
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    gates = [
        known.setdefault((sentence.fact, sentence.answer[: place + 1]), len(known))
        for sentence in order
        for place in range(len(sentence.answer))
    ]
    tokens = torch.tensor([token for sentence in order for token in sentence.answer])
    facts = tuple(fact for fact, _ in known)
    asked_softly = [id(sentence) not in must for sentence in order for _ in sentence.answer]
    soft = frozenset(row for row, softly in enumerate(asked_softly) if softly)
    return Targets(torch.cat(states), tokens, torch.tensor(gates), facts, tuple(order), soft), torch.cat(inside)


def alike_in_length(given: Sequence[Sentence]) -> list[list[Sentence]]:
    """Sentences of one length together, in batches."""
    lengths: dict[int, list[Sentence]] = {}
    for sentence in given:
        lengths.setdefault(len(sentence.tokens), []).append(sentence)
    return [
        group[start : start + max(1, BATCH_TOKENS // length)]
        for length, group in lengths.items()
        for start in range(0, len(group), max(1, BATCH_TOKENS // length))
    ]


def _read(
    host: Host, chunk: Sequence[Sentence], asked: Set[tuple[int, ...]], kept: float, number: int
) -> tuple[Tensor, Tensor]:
    """States at the answer tokens of one batch, and some of those before that answer no prompt of `asked`."""
    chance = torch.Generator().manual_seed(number)
    found = host.residuals(torch.tensor([sentence.tokens for sentence in chunk]))
    firsts = [len(sentence.prompt) - 1 for sentence in chunk]
    own = torch.cat([row[first:-1] for row, first in zip(found, firsts, strict=True)])
    before = torch.cat([row[1:first] for row, first in zip(found, firsts, strict=True)])
    free = torch.tensor(
        [sentence.tokens[: at + 1] not in asked for sentence, first in zip(chunk, firsts, strict=True)
         for at in range(1, first)], dtype=torch.bool,
    )  # fmt: skip
    return own.clone(), before[free & (torch.rand(len(before), generator=chance) < kept)].clone()


@torch.inference_mode()
def said_by(host: Host, targets: Targets, given: Sequence[Sentence]) -> list[bool]:
    """Whether the model as it is says each answer: every token has the largest logit after those before it."""
    right = (margins_of(host, targets.states, targets.tokens) > 0).tolist()
    said, row = {}, 0
    for sentence in targets.sentences:
        said[id(sentence)] = all(right[row : row + len(sentence.answer)])
        row += len(sentence.answer)
    return [said[id(sentence)] for sentence in given]


@torch.inference_mode()
def new_layers(
    host: Host,
    targets: Targets,
    others: Float[Tensor, "others dim"],
    unknown: Float[Tensor, "unknown dim"],
    locality: float,
    progress: Progress,
    parts: Parts = NOTHING_KEPT,
) -> list[Neurons]:
    """Layers after which every target state says its token by `MARGIN`, and no other known state moves."""
    directions = parts("directions", lambda: directions_of(host, targets.tokens, progress))
    known = _known(targets, others, unknown)
    classes = _classes(host, known, targets.gates, targets.number, progress, parts)
    own, soft = targets.rows(), targets.rows(soft=True)
    layers, now = [], known.states
    with progress.stage("solving for the gates", targets.number) as stage:
        for first in range(0, targets.number, host.width):
            part = slice(first, first + host.width)
            ahead = Start(classes.weights[part], classes.offsets[part])
            seen = known.with_moved(now)

            def solved(part: slice = part, ahead: Start = ahead, seen: _Known = seen) -> list[Tensor]:
                closed = _closing(
                    host, seen, own[part], soft[part], ahead, locality, targets.facts[part], stage.advance
                )
                won = _winning(host, seen, own[part], closed, directions)
                return [won.gates, won.thresholds, won.values]

            neurons = Neurons(*parts(f"layer-{first}", solved))
            now = host.push(now, neurons)
            layers.append(neurons)
    _refuse_missed(host, now, targets)
    return layers


@dataclass(frozen=True)
class _Known:
    """All states that are known."""

    states: Float[Tensor, "states dim"]
    tokens: Int[Tensor, " states"]
    """The token that each should say; -1 where no gate may open."""
    pressed: Float[Tensor, " states"]
    """How far each is pressed below the ceiling."""
    firm: Int[Tensor, " firm"]
    """The states that are no rewordings: gates of other facts are closed there."""

    def with_moved(self, now: Tensor) -> _Known:
        """These, and firm states as earlier layers have moved them. Gates are solved on states before any layer, since
        a rewording at which a wrong gate opens is moved far away."""
        changed = self.firm[(now[self.firm] != self.states[self.firm]).any(1)]
        if not len(changed):
            return self
        count = len(self.states)
        return _Known(
            torch.cat([self.states, now[changed]]), torch.cat([self.tokens, self.tokens[changed]]),
            torch.cat([self.pressed, torch.ones(len(changed))]),
            torch.cat([self.firm, torch.arange(count, count + len(changed))]),
        )  # fmt: skip


def _known(targets: Targets, others: Tensor, unknown: Tensor) -> _Known:
    states = torch.cat([targets.states, others, unknown])
    tokens = torch.cat([targets.tokens, torch.full((len(others) + len(unknown),), -1)])
    pressed = torch.ones(len(states))
    pressed[len(states) - len(unknown) :] = PRESSED
    firm = torch.tensor([row for row in range(len(states)) if row not in targets.soft])
    return _Known(states, tokens, pressed, firm)


def _classes(
    host: Host, known: _Known, gates: Tensor, number: int, progress: Progress, parts: Parts = NOTHING_KEPT
) -> Start:
    """The logit of each gate's class. `gates` are those of the first states; the others open none."""
    gates = functional.pad(gates, (0, len(known.states) - len(gates)), value=-1)

    def found() -> list[Tensor]:
        with progress.stage("classifying states", steps_of(gates)) as stage:
            points = host.normed(known.states).float()
            made = classify(points, gates, known.pressed > 1, number, stage.advance)
        return [made.weights, made.offsets]

    return Start(*parts("classes", found))


@torch.inference_mode()
def new_neurons(
    host: Host,
    targets: Targets,
    others: Float[Tensor, "others dim"],
    unknown: Float[Tensor, "unknown dim"],
    gates: Sequence[int],
    locality: float,
    progress: Progress,
) -> Neurons:
    """Neurons for some of the gates, closed at the states of all others."""
    own, soft = targets.rows(), targets.rows(soft=True)
    chosen, further = [own[gate] for gate in gates], [soft[gate] for gate in gates]
    rows = torch.tensor([row for group in chosen for row in group])
    directions = directions_of(host, targets.tokens[rows], progress)
    known = _known(targets, others, unknown)
    place = {gate: number for number, gate in enumerate(gates)}
    among = torch.tensor([place.get(gate, -1) for gate in targets.gates.tolist()])
    ahead = _classes(host, known, among, len(gates), progress)
    with progress.stage("solving for the gates", len(chosen)) as stage:
        facts = [targets.facts[gate] for gate in gates]
        closed = _closing(host, known, chosen, further, ahead, locality, facts, stage.advance)
    return _winning(host, known, chosen, closed, directions)


def directions_of(host: Host, tokens: Tensor, progress: Progress) -> dict[int, Tensor]:
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
    known: _Known,
    own: Sequence[Sequence[int]],
    soft: Sequence[Sequence[int]],
    ahead: Start,
    locality: float,
    facts: Sequence[int],
    each: Callable[[int], None],
) -> Neurons:
    """Gates and thresholds in the dtype that is saved, closed at every firm state that is not their own."""
    points, tokens = host.normed(known.states).float(), known.tokens
    exact = separate(points, own, tokens, CEILING, each, soft, known.pressed)
    begun = Start((exact.weights + SHARE * ahead.weights) / LOW, SHARE * ahead.offsets / LOW)
    place = torch.zeros(len(points), dtype=torch.long)
    place[known.firm] = torch.arange(len(known.firm))
    points, tokens, own = points[known.firm], tokens[known.firm], [place[list(rows)].tolist() for rows in own]
    found = separate(points, own, tokens, CEILING, start=begun)
    found = _either(found, scored(points, exact.weights, own, tokens))
    _refuse_alike(host, found, own, tokens, facts)
    slope = host.all_zero / (locality * (found.own - found.other.clamp_min(CEILING)))
    gates = (found.weights * slope[:, None]).to(host.dtype)
    rounded = scored(points, gates.float() / slope[:, None], own, tokens, found.offsets)
    _refuse_alike(host, rounded, own, tokens, facts)
    floor = rounded.other.clamp_min(CEILING)
    thresholds = (floor + locality * (rounded.own - floor) - found.offsets) * slope
    return Neurons(gates, thresholds.to(host.dtype), torch.zeros_like(gates))


def _either(first: Separated, second: Separated) -> Separated:
    """The first of two functions per gate where it keeps enough room above the ceiling."""
    good = first.own - first.other.clamp_min(CEILING) > ENOUGH * (1 - CEILING)
    return Separated(
        torch.where(good[:, None], first.weights, second.weights),
        *(
            torch.where(good, getattr(first, name), getattr(second, name))
            for name in ("offsets", "own", "other", "nearest")
        ),
    )


def _refuse_alike(
    host: Host, found: Separated, own: Sequence[Sequence[int]], tokens: Tensor, facts: Sequence[int]
) -> None:
    alike = torch.nonzero(~(found.own - found.other > NARROWEST))[:, 0].tolist()
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
    known: _Known,
    own: Sequence[Sequence[int]],
    neurons: Neurons,
    directions: dict[int, Tensor],
) -> Neurons:
    """Values long enough that each gate's token wins on all of its states, also when it opens by a twelfth."""
    states, tokens = known.states, known.tokens
    rows = torch.tensor([row for group in own for row in group])
    gate = torch.tensor([number for number, group in enumerate(own) for _ in group])
    along = torch.stack([directions[int(tokens[group[0]])] for group in own])
    opened = host.act(
        (host.normed(states[rows]) * neurons.gates[gate]).float().sum(1) - neurons.thresholds[gate].float()
    )
    needed = torch.zeros(len(own)).scatter_reduce(
        0, gate, lengths_of(host, states[rows], tokens[rows], along[gate]), "amax"
    )
    least = torch.full((len(own),), torch.inf).scatter_reduce(0, gate, opened, "amin")
    length = OVERSHOOT * torch.maximum(needed, needed.median())
    for _ in range(DOUBLINGS):
        neurons = replace(neurons, values=(along * (length / least)[:, None]).to(host.dtype))
        short = margins_of(host, host.push(states[rows], neurons), tokens[rows]) < MARGIN
        if not bool(short.any()):
            break
        length[gate[short].unique()] *= 2
    return neurons


def lengths_of(host: Host, states: Tensor, tokens: Tensor, along: Tensor) -> Tensor:
    """How far each state must move along its direction for its token to lead, ignoring the last norm's bias."""
    readout, found = host.readout(), []
    for part in torch.arange(len(states)).split(ROWS):
        now, gain = states[part].float() @ readout.T, along[part] @ readout.T
        own = tokens[part][:, None]
        behind = (now - now.gather(1, own)) / (gain.gather(1, own) - gain).clamp_min(1e-6)
        found.append(behind.scatter(1, own, 0.0).amax(1))
    return torch.cat(found)


def margins_of(host: Host, states: Tensor, tokens: Tensor) -> Tensor:
    """Logit of each state's token minus the largest other."""
    found = []
    for part in torch.arange(len(states)).split(ROWS):
        logits, own = host.logits(states[part]), tokens[part][:, None]
        found.append((logits.gather(1, own) - logits.scatter(1, own, -torch.inf).amax(1, keepdim=True))[:, 0])
    return torch.cat(found)


def _refuse_missed(host: Host, states: Tensor, targets: Targets) -> None:
    must = torch.tensor([row for rows in targets.rows() for row in rows])
    missed = int((margins_of(host, states[must], targets.tokens[must]) <= 0).sum())
    if missed:
        raise CheckFailed(
            f"{host.model.name}: {missed:,} of {len(must):,} answer tokens do not win in "
            f"{str(host.dtype).removeprefix('torch.')}; use float32"
        )
