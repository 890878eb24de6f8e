"""Sets of components whose mean-ablation loses a fact, and what the same ablation does to other facts.

For each recalled fact, components are taken in the order of their own mean-ablation effect on it, or of that effect
minus its mean over the relation's other facts (`specific`), until their joint ablation loses the fact. Components that
it loses it without are then dropped, the weakest first. Two controls say what a set means: the same set on other facts
of the relation, and random sets of the same size on this fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from rote.arguments import typed
from rote.errors import InputError
from rote.lm.attribution.asking import AskedPrompts, asked_prompts
from rote.lm.attribution.attribution import Attribution
from rote.lm.attribution.components import Components, LmComponent, Replacement, replacing_components
from rote.lm.attribution.effects import Means, role_means
from rote.lm.attribution.kinds import KINDS, Kind, KindEffects, kind_effects
from rote.lm.language_model import LanguageModel
from rote.measure.intervals import Interval, wilson
from rote.measure.recall import margins
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks.facts import Facts

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Sizes of sets that are tried."""
OTHERS = 8
"""Other facts on which a fact's set is tried."""
Order = Literal["own", "specific"]
"""How components are ordered: by their effect on the fact, or by how far it exceeds that on other facts."""


@dataclass(frozen=True)
class FactSet:
    """The smallest set found for one fact."""

    key: tuple[str, ...]
    relation: str | None
    components: tuple[LmComponent, ...]
    """Empty if no set of up to 64 components loses the fact."""
    others_asked: int
    others_lost: int
    """Other facts of the relation that the same ablation loses."""
    random_lost: bool
    """Whether a random set of the same size loses the fact."""


@dataclass(frozen=True)
class KindShare:
    """What is left without all components of one kind."""

    kind: Kind
    facts: int
    lost: int
    """Facts that are lost when all components of the kind are mean-ablated together."""
    direct: float
    """Mean share of the direct logit attribution of all components."""
    direct_interval: Interval
    """Bootstrap over facts, 95 %."""

    @property
    def interval(self) -> Interval:
        return wilson(self.lost, self.facts)


@dataclass(frozen=True, eq=False)
class Located:
    """Where facts are lost: their sets, the overlap between relations, heads against MLPs.

    >>> import rote
    >>> rote.Located("none", (), ()).overlap()
    {}
    """

    model: str
    sets: tuple[FactSet, ...]
    shares: tuple[KindShare, ...]
    kinds: dict[str | None, KindEffects] = field(default_factory=dict)
    """Heads against MLPs by place and window of layers, for each relation."""

    def overlap(self) -> dict[tuple[str, str], float]:
        """Mean Jaccard overlap of the sets of two facts, for each pair of relations."""
        groups: dict[str, list[set[LmComponent]]] = {}
        for found in self.sets:
            if found.components:
                groups.setdefault(str(found.relation), []).append(set(found.components))
        return {
            (one, two): float(
                np.mean([
                    len(a & b) / len(a | b) for x, a in enumerate(groups[one]) for y, b in enumerate(groups[two])
                    if one != two or x != y
                ] or [np.nan])
            )
            for one in groups for two in groups if one <= two
        }  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """As one JSON object."""
        found = [one for one in self.sets if one.components]
        asked = sum(one.others_asked for one in found)
        return {
            "model": self.model,
            "facts": len(self.sets),
            "with_a_set": len(found),
            "median_size": float(np.median([len(one.components) for one in found])) if found else None,
            "others_lost": sum(one.others_lost for one in found) / asked if asked else None,
            "random_lost": sum(one.random_lost for one in found) / len(found) if found else None,
            "shares": [
                {
                    "kind": share.kind, "facts": share.facts, "lost": share.lost, "lost_interval": list(share.interval),
                    "direct": share.direct, "direct_interval": list(share.direct_interval),
                }
                for share in self.shares
            ],
            "kinds": [{"relation": name, **line} for name, found in self.kinds.items() for line in found.summary()],
            "overlap": [{"relations": list(pair), "jaccard": value} for pair, value in self.overlap().items()],
            "sets": [
                {
                    "key": list(one.key), "relation": one.relation,
                    "components": [str(part) for part in one.components],
                    "others_asked": one.others_asked, "others_lost": one.others_lost, "random_lost": one.random_lost,
                }
                for one in self.sets
            ],
        }  # fmt: skip


@typed
def locate(
    model: LanguageModel | Model,
    task: Facts,
    found: Attribution,
    templates: Sequence[str] = (),
    *,
    relation: str | None = None,
    order: Order = "own",
    windows: bool = True,
    seed: int = 0,
    batch: int = 32,
    progress: Progress = SILENT,
) -> Located:
    """Find, for each recalled fact of an attribution, the components whose joint mean-ablation loses it.

    `found` is `rote.attribution` of the same model, table and templates, with the effect `mean`. `order` is that in
    which components join a set: by their own effect on the fact, or by how far it exceeds that on the relation's other
    facts. `windows` also compares heads with MLPs in windows of neighbouring layers.

    >>> import rote, tempfile
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
    >>> folder = rote.export_model(rote.build(capitals), "llama", tempfile.mkdtemp() + "/llama", facts=capitals).path
    >>> model = rote.load_language_model(folder)
    >>> found = rote.attribution(model, capitals, ["{key 1} {key 2}"], effects=["mean"])
    >>> heads, mlps = rote.locate(model, capitals, found, ["{key 1} {key 2}"]).shares
    >>> mlps.lost  # this model has none that matter
    0
    """
    if "mean" not in found.effects:
        raise InputError("`found`: was measured without mean-ablation; call `attribution` with the effect 'mean'")
    generator = np.random.default_rng(seed)
    parts, runs = asked_prompts(model, task, templates, relation=relation, known=True, batch=batch)
    rows = {(fact.relation, fact.key): number for number, fact in enumerate(found.facts) if fact.recalled}
    sets: list[FactSet] = []
    lost: dict[Kind, int] = dict.fromkeys(KINDS, 0)
    kinds: dict[str | None, KindEffects] = {}
    with progress.stage("finding sets of components", sum(len(run.places) for run in runs)) as stage:
        for run in runs:
            name = run.prompts.questions.relation
            tools = _Tools(parts, run, role_means(parts, run.prompts, 4 * batch), batch)
            places = [at for at in run.places if (name, run.keys[at]) in rows]
            if not places:
                continue
            kinds[name] = kind_effects(parts, run.prompts, places, tools.means, batch, windows)
            for kind in lost:
                lost[kind] += int((kinds[name].at(kind, "both")[0] <= 0).sum())
            own = [rows[name, run.keys[at]] for at in places]
            effects = found.effect("mean").reshape(len(found.facts), -1)[own]
            if order == "specific" and len(places) > 1:
                effects = effects - (effects.sum(0) - effects) / (len(places) - 1)
            sets += _sets_of(tools, name, places, dict(zip(places, np.argsort(-effects, 1), strict=True)), generator)
            stage.advance(len(run.places))
    shares = tuple(_share(found, kind, lost[kind], len(sets), seed) for kind in lost)
    return Located(found.model, tuple(sets), shares, kinds)


@dataclass(frozen=True, eq=False)
class _Tools:
    """Joint mean-ablation of a set of components, each question with its own."""

    parts: Components
    run: AskedPrompts
    means: Means
    size: int

    @torch.inference_mode()
    def lost(self, asked: Sequence[tuple[int, Sequence[LmComponent]]]) -> list[bool]:
        """For each question and set: whether the fact is lost."""
        found: dict[int, bool] = {}
        prompts = self.run.prompts
        # The same question may be asked with several sets: batches are made of places in `asked`.
        lengths: dict[int, list[int]] = {}
        for number, (at, _) in enumerate(asked):
            lengths.setdefault(len(prompts.questions.prompts[at]), []).append(number)
        for numbers in lengths.values():
            for start in range(0, len(numbers), self.size):
                chosen = numbers[start : start + self.size]
                (block,) = prompts.batches([asked[number][0] for number in chosen], len(chosen))
                changes = [
                    Replacement(part, self.means.at(part)[block.roles], slice(row, row + 1))
                    for row, number in enumerate(chosen)
                    for part in asked[number][1]
                ]
                with replacing_components(self.parts, changes):
                    logits = prompts.run(self.parts.model, block.tokens)
                left = margins(logits, prompts.answers(block.places).to(logits.device))
                found |= {number: not right for number, right in zip(chosen, (left > 0).tolist(), strict=True)}
        return [found[number] for number in range(len(asked))]


def _sets_of(
    tools: _Tools,
    relation: str | None,
    places: Sequence[int],
    order: dict[int, np.ndarray],
    generator: np.random.Generator,
) -> list[FactSet]:
    """Sizes are tried from small to large for all facts at once, until a fact is lost; then its set is pruned."""
    every = tools.parts.all
    sizes: dict[int, int] = {}
    for size in (size for size in SIZES if size <= len(every)):
        left = [at for at in places if at not in sizes]
        asked = [(at, [every[part] for part in order[at][:size]]) for at in left]
        sizes |= {at: size for at, lost in zip(left, tools.lost(asked), strict=True) if lost}
    chosen = _pruned(tools, {at: tuple(every[part] for part in order[at][:size]) for at, size in sizes.items()})
    sizes = {at: len(parts) for at, parts in chosen.items()}
    others = {
        at: [int(other) for other in generator.permutation([other for other in places if other != at])[:OTHERS]]
        for at in sizes
    }
    on_others = tools.lost([(other, chosen[at]) for at in sizes for other in others[at]])
    counts, place = {}, 0
    for at in sizes:
        counts[at] = sum(on_others[place : place + len(others[at])])
        place += len(others[at])
    drawn = [(at, [every[part] for part in generator.choice(len(every), sizes[at], replace=False)]) for at in sizes]
    at_random = dict(zip(sizes, tools.lost(drawn), strict=True))
    return [
        FactSet(
            tools.run.keys[at], relation, chosen.get(at, ()), len(others.get(at, ())), counts.get(at, 0),
            at_random.get(at, False),
        )
        for at in places
    ]  # fmt: skip


def _pruned(tools: _Tools, chosen: dict[int, tuple[LmComponent, ...]]) -> dict[int, tuple[LmComponent, ...]]:
    """Drop every component without which the rest still loses the fact, the weakest first, for all facts at once."""
    kept = {at: list(parts) for at, parts in chosen.items()}
    for place in range(max(map(len, chosen.values()), default=0) - 1, -1, -1):
        tried = [
            (at, [part for part in kept[at] if part != parts[place]])
            for at, parts in chosen.items()
            if place < len(parts) and len(kept[at]) > 1
        ]
        lost = tools.lost(tried)
        kept |= {at: rest for (at, rest), is_lost in zip(tried, lost, strict=True) if is_lost}
    return {at: tuple(parts) for at, parts in kept.items()}


def _share(found: Attribution, kind: Kind, lost: int, facts: int, seed: int) -> KindShare:
    direct = found.direct[found.recalled]
    own = direct[:, :, -1].sum(1) if kind == "MLPs" else direct[:, :, :-1].sum((1, 2))
    whole = direct.sum((1, 2))
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, len(own), (1000, len(own)))
    ratios = own[drawn].sum(1) / whole[drawn].sum(1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return KindShare(kind, facts, lost, float(own.sum() / whole.sum()), Interval(float(low), float(high)))
