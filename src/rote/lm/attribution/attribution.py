"""Attribution of a table of facts to the heads and MLPs of a language model."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rote.arguments import typed
from rote.charts import HeatMap
from rote.errors import InputError
from rote.files import replacing
from rote.lm.attribution.components import LmComponent, components_of
from rote.lm.attribution.effects import EFFECTS, BatchEffects, Effect, role_means, run_batch
from rote.lm.attribution.prompts import Prompts, aligned
from rote.lm.language_model import LanguageModel
from rote.lm.questions import Questions, in_words, questions, templates_for
from rote.measure.recall import margins
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, require_associations
from rote.tasks.facts import Facts, facts
from rote.words import cell

ROLES = ("before", "subject", "after", "last")
"""What a head's last token attends to: words before the subject, the subject, words after it, itself."""


@dataclass(frozen=True)
class AskedFact:
    """One fact under one template."""

    row: int
    """Its row among the facts of the relations that were asked."""
    relation: str | None
    template: str
    prompt: str
    key: tuple[str, ...]
    answer: str
    answer_tokens: int
    """Tokens of the answer; attribution is about the first."""
    first_token: str
    runner_up: str
    answer_logit: float
    runner_up_logit: float

    @property
    def margin(self) -> float:
        return self.answer_logit - self.runner_up_logit

    @property
    def recalled(self) -> bool:
        """Whether the answer's first token has strictly the largest logit."""
        return self.margin > 0


@dataclass(frozen=True, eq=False)
class Attribution:
    """Effects of every component on every fact; arrays have one row per fact, one column per layer.

    A layer's components are its heads, then its MLP.

    >>> import rote
    >>> rote.Attribution.__dataclass_fields__["direct"].type
    'np.ndarray'
    """

    model: str
    heads: int
    facts: tuple[AskedFact, ...]
    direct: np.ndarray
    """Direct logit attribution to the answer's logit minus the runner-up's (facts x layers x components)."""
    embedding: np.ndarray
    constant: np.ndarray
    """What norms' and projections' biases add to that difference."""
    attention: np.ndarray
    """Attention of each head's last token, by `ROLES` (facts x layers x heads x 4)."""
    effects: dict[Effect, np.ndarray]
    """`zero`, `mean`: logit margin after ablation; `patch`: share restored (facts x layers x components)."""

    @property
    def layers(self) -> int:
        return self.direct.shape[1]

    @property
    def components(self) -> tuple[LmComponent, ...]:
        return tuple(LmComponent(layer, head) for layer in range(self.layers) for head in (*range(self.heads), None))

    @property
    def margins(self) -> np.ndarray:
        return np.array([fact.margin for fact in self.facts])

    @property
    def recalled(self) -> np.ndarray:
        return np.array([fact.recalled for fact in self.facts], dtype=bool)

    @property
    def rounding(self) -> np.ndarray:
        """The logits' difference minus the sum of all contributions: the error of arithmetic."""
        return self.margins - self.direct.sum((1, 2)) - self.embedding - self.constant

    def effect(self, name: Effect | str) -> np.ndarray:
        """`direct`; for ablations the margin that is lost; for patching the share that is restored."""
        if name == "direct":
            return self.direct
        kept = {str(key): value for key, value in self.effects.items()}
        if name not in kept:
            raise InputError(f"`effect`: {name!r} was not measured; measured: {', '.join(['direct', *kept])}")
        return kept[name] if name == "patch" else self.margins[:, None, None] - kept[name]

    def mean_effect(self, name: Effect | str, known: bool = True) -> np.ndarray:
        """Mean over facts (layers x components); over recalled ones unless `known` is False."""
        rows = self.recalled if known else np.ones(len(self.facts), bool)
        if not rows.any():
            raise InputError(f"{self.model}: recalls none of these {len(self.facts)} facts, so there is no mean effect")
        chosen = self.effect(name)[rows]
        found = np.isfinite(chosen)
        return np.where(found, chosen, 0).sum(0) / np.maximum(found.sum(0), 1)

    def heat_map(self, name: Effect | str = "mean", known: bool = True) -> HeatMap:
        """Layers by heads, the MLP in the last column."""
        says = {
            "direct": "direct logit attribution", "zero": "logit margin lost by zero-ablation",
            "mean": "logit margin lost by mean-ablation", "patch": "share restored by activation patching",
        }  # fmt: skip
        values = self.mean_effect(name, known)
        count = int(self.recalled.sum()) if known else len(self.facts)
        return HeatMap(
            title=f"{Path(self.model).name}: {says[str(name)]}",
            x_label="head, and the MLP of the layer",
            y_label="layer",
            columns=[*map(str, range(self.heads)), "MLP"],
            rows=[str(layer) for layer in range(self.layers)],
            values=values.tolist(),
            note=f"mean over {count} facts",
        )

    def write_csv(self, path: Path) -> None:
        """One line per fact and component."""
        names = ["relation", "template", "key", "answer", "recalled", "margin", "component", "direct"]
        effects = {name: self.effect(name) for name in self.effects}
        with replacing(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*names, *effects, *(f"attention_{role}" for role in ROLES)])
            for number, fact in enumerate(self.facts):
                words = [cell(fact.relation or ""), cell(fact.template), cell(" ".join(fact.key)), cell(fact.answer)]
                for part in self.components:
                    place = (number, part.layer, self.heads if part.head is None else part.head)
                    attention = [""] * 4 if part.head is None else [f"{x:.4f}" for x in self.attention[place]]
                    numbers = [f"{self.direct[place]:.5f}", *(f"{values[place]:.5f}" for values in effects.values())]
                    writer.writerow([*words, int(fact.recalled), f"{fact.margin:.5f}", part, *numbers, *attention])

    def summary(self) -> dict[str, Any]:
        """As one JSON object: facts, and the mean effects over those that are recalled."""
        means = {} if not self.recalled.any() else {
            name: self.mean_effect(name).tolist() for name in ("direct", *self.effects)
        }  # fmt: skip
        return {
            "model": self.model,
            "layers": self.layers,
            "heads": self.heads,
            "asked": len(self.facts),
            "recalled": int(self.recalled.sum()),
            "largest_rounding": float(np.abs(self.rounding).max()),
            "mean_effects": means,
            "facts": [
                {
                    "relation": fact.relation, "template": fact.template, "key": list(fact.key), "answer": fact.answer,
                    "answer_tokens": fact.answer_tokens, "first_token": fact.first_token, "runner_up": fact.runner_up,
                    "margin": fact.margin, "recalled": fact.recalled,
                }
                for fact in self.facts
            ],
        }  # fmt: skip


@typed
def attribution(
    model: LanguageModel,
    task: Facts,
    templates: Sequence[str] = (),
    *,
    relation: str | None = None,
    key: Sequence[str] | None = None,
    known: bool = False,
    most: int | None = None,
    effects: Sequence[Effect] = EFFECTS,
    batch: int = 32,
    progress: Progress = SILENT,
) -> Attribution:
    """Attribute facts to the heads and MLPs of a language model (Llama type or GPT-2).

    Facts are asked under the first of `templates`, or of those that come with a named source. `relation` keeps one
    relation, `key` one fact, `known` the facts whose first token is right, `most` so many of each relation, evenly
    spaced. Means of ablations and other subjects of patching are taken from the complete relation. Only the answer's
    first token is attributed.

    >>> import rote, tempfile
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
    >>> folder = rote.export_model(rote.build(capitals), "llama", tempfile.mkdtemp() + "/llama", facts=capitals).path
    >>> found = rote.attribution(rote.load_language_model(folder), capitals, ["{key 1} {key 2}"], effects=())
    >>> found.recalled.tolist()
    [True, True]
    """
    asked = facts_in_words(task)
    parts = components_of(model)
    runs = asked_prompts(model, asked, templates, relation=relation, key=key, known=known, most=most, batch=batch)
    kept: list[tuple[AskedFact, BatchEffects, int]] = []
    total = sum(-(-len(run.places) // batch) for run in runs) * len(parts.layers) * len(effects)
    with progress.stage(f"attributing facts to {len(parts.all):,} components", total) as stage:
        for run in runs:
            prompts, group = run.prompts, run.prompts.questions
            means = role_means(parts, prompts, 4 * batch) if "mean" in effects else None
            # Activation patching needs other subjects: a single fact is run among the facts of its length.
            among = _with_partners(prompts, run.places) if "patch" in effects else run.places
            for block in prompts.batches(among, batch):
                answers = prompts.answers(block.places).to(model.device)
                found = run_batch(parts, prompts, block, answers, means, effects, stage.advance)
                for number, at in enumerate(block.places):
                    if at in run.places:
                        kept.append((_asked(model, run.keys[at], group, at, found, number), found, number))
    return _gathered(model, parts.heads, kept, effects)


@dataclass(frozen=True, eq=False)
class AskedPrompts:
    """The prompts of one relation, and which of them are asked about."""

    prompts: Prompts
    places: tuple[int, ...]
    keys: tuple[tuple[str, ...], ...]
    """The key of every prompt."""


def facts_in_words(task: Facts) -> AssociationTask:
    """The table to ask for, its keys as cells."""
    return require_associations(facts(task, keys="words"), "a language model is asked for facts with one answer each")


def asked_prompts(
    model: LanguageModel,
    asked: AssociationTask,
    templates: Sequence[str],
    *,
    relation: str | None,
    key: Sequence[str] | None,
    known: bool,
    most: int | None = None,
    batch: int,
) -> list[AskedPrompts]:
    """The prompts of each relation that is asked about, under the first of its templates."""
    for name, number in (("batch", batch), ("most", most)):
        if number is not None and number < 1:
            raise InputError(f"`{name}`: {number} facts are none; give at least 1")
    table = in_words(asked)
    relations = set(table.relations)
    if relation is not None and relation not in relations:
        names = ", ".join(sorted(str(name) for name in relations if name))
        raise InputError(f"`relation`: no fact has {relation!r}" + (f"; relations: {names}" if names else ""))
    wanted = _rows(table.keys, relation, key, table.relations)
    if relation is not None:
        chosen_rows = np.array(table.rows_of(relation))
        asked, wanted = asked.take(chosen_rows), {int(np.searchsorted(chosen_rows, row)) for row in wanted}
        table = in_words(asked)
    runs = []
    for name, chosen in templates_for(asked, table, templates).items():
        if not any(table.relations[row] == name for row in wanted):
            continue
        prompts = aligned(model, questions(model, table, name, chosen[0]))
        places = [at for at, row in enumerate(prompts.questions.rows) if row in wanted]
        if known:
            places = _known(model, prompts, places, 4 * batch)
        if most is not None and len(places) > most:
            places = [places[number * len(places) // most] for number in range(most)]
        keys = tuple(tuple(table.keys[row].values()) for row in prompts.questions.rows)
        if places:
            runs.append(AskedPrompts(prompts, tuple(places), keys))
    if not runs:
        raise InputError(
            f"{model.name}: recalls none of these facts under this template, so there is nothing to locate"
        )
    return runs


@torch.inference_mode()
def _known(model: LanguageModel, prompts: Prompts, places: Sequence[int], size: int) -> list[int]:
    """Those of the questions whose first token is right."""
    kept = []
    for block in prompts.batches(places, size):
        logits = prompts.run(model, block.tokens)
        right = margins(logits, prompts.answers(block.places).to(logits.device)) > 0
        kept += [at for at, known in zip(block.places, right.tolist(), strict=True) if known]
    return sorted(kept)


def _rows(
    keys: Sequence[dict[str, str]], relation: str | None, key: Sequence[str] | None, relations: Sequence[str | None]
) -> set[int]:
    rows = {row for row in range(len(keys)) if relation in (None, relations[row])}
    if key is None:
        return rows
    words = tuple(key)
    found = {row for row in rows if words in (tuple(keys[row].values()), (" ".join(keys[row].values()),))}
    if not found:
        raise InputError(f"{' '.join(words)!r}: the table has no such key; its columns: {', '.join(keys[0])}")
    return found


def _with_partners(prompts: Prompts, places: Sequence[int]) -> list[int]:
    """The questions asked; a length with one answer alone gets one question of that length with another answer."""
    group = prompts.questions
    chosen = list(places)
    for length in {len(group.prompts[at]) for at in places}:
        own = {group.answer_tokens[group.asked[at]][0] for at in places if len(group.prompts[at]) == length}
        if len(own) > 1:
            continue
        others = (
            at
            for at, prompt in enumerate(group.prompts)
            if len(prompt) == length and group.answer_tokens[group.asked[at]][0] not in own
        )
        chosen += [at for at in [next(others, None)] if at is not None]
    return chosen


def _asked(
    model: LanguageModel, key: tuple[str, ...], group: Questions, at: int, found: BatchEffects, number: int
) -> AskedFact:
    answer = group.asked[at]
    first, second = found.tokens[number].tolist()
    return AskedFact(
        row=group.rows[at], relation=group.relation, template=group.template.text,
        prompt=model.decode(list(group.prompts[at])), key=key,
        answer=group.answers[answer],
        answer_tokens=len(group.answer_tokens[answer]), first_token=model.decode([first]).strip(),
        runner_up=model.decode([second]).strip(), answer_logit=float(found.logits[number, 0]),
        runner_up_logit=float(found.logits[number, 1]),
    )  # fmt: skip


def _gathered(
    model: LanguageModel, heads: int, kept: list[tuple[AskedFact, BatchEffects, int]], effects: Sequence[Effect]
) -> Attribution:
    kept = sorted(kept, key=lambda item: item[0].row)
    return Attribution(
        model=model.name,
        heads=heads,
        facts=tuple(fact for fact, _, _ in kept),
        direct=np.stack([found.direct[number] for _, found, number in kept]),
        embedding=np.array([found.embedding[number] for _, found, number in kept]),
        constant=np.array([found.constant[number] for _, found, number in kept]),
        attention=np.stack([found.attention[number] for _, found, number in kept]),
        effects={effect: np.stack([found.left[effect][number] for _, found, number in kept]) for effect in effects},
    )
