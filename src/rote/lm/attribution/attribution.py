"""Attribution of a table of facts to the heads and MLPs of a language model."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rote.arguments import typed
from rote.charts import HeatMap
from rote.errors import InputError
from rote.files import replacing
from rote.lm.attribution.asking import asked_prompts, with_partners
from rote.lm.attribution.components import LmComponent
from rote.lm.attribution.effects import EFFECTS, BatchEffects, Control, Effect, role_means, run_batch
from rote.lm.attribution.paths import ThroughHeads
from rote.lm.language_model import LanguageModel
from rote.lm.questions import Questions
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks.facts import Facts
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
    through: ThroughHeads | None
    """What heads add, given back to the components that they read; None without attention weights."""
    attention: np.ndarray
    """Attention of each head's last token, by `ROLES` (facts x layers x heads x 4)."""
    effects: dict[Effect, np.ndarray]
    """`zero`, `mean`: logit margin after ablation; `patch`: share restored (facts x layers x components)."""
    controls: dict[Control, np.ndarray] = field(default_factory=dict)
    """What mean-ablation costs the margin of other tokens: `said`, the model's own answer, and `shuffled`, the answer
    of another fact of the batch (facts x layers x components)."""

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

    @property
    def measured(self) -> tuple[str, ...]:
        """Names that `effect` takes."""
        return ("direct", *(() if self.through is None else ("sources",)), *self.effects)

    def effect(self, name: Effect | str) -> np.ndarray:
        """`direct`; `sources`; for ablations the margin that is lost; for patching the share that is restored.

        `sources` is direct logit attribution in which heads count for what they make of embeddings alone: what they
        read from earlier components counts for those.
        """
        if name == "direct":
            return self.direct
        if name == "sources" and self.through is not None:
            own = np.concatenate([self.through.own, self.direct[:, :, -1:]], 2)
            return own + self.through.sources
        kept = {str(key): value for key, value in self.effects.items()}
        if name not in kept:
            raise InputError(f"`effect`: {name!r} was not measured; measured: {', '.join(self.measured)}")
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
            "direct": "direct logit attribution", "sources": "attribution through heads",
            "zero": "logit margin lost by zero-ablation",
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
        effects = {name: self.effect(name) for name in self.measured if name != "direct"}
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
            name: self.mean_effect(name).tolist() for name in self.measured
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
    model: LanguageModel | Model,
    task: Facts,
    templates: Sequence[str] = (),
    *,
    relation: str | None = None,
    key: Sequence[str] | None = None,
    known: bool = False,
    unknown: bool = False,
    most: int | None = None,
    effects: Sequence[Effect] = EFFECTS,
    batch: int = 32,
    progress: Progress = SILENT,
) -> Attribution:
    """Attribute facts to the heads and MLPs of a language model (Llama type or GPT-2), or of a model built by rote.

    Facts are asked under the first of `templates`, or of those that come with a named source. `relation` keeps one
    relation, `key` one fact, `known` the facts whose first token is right, `unknown` the others, `most` so many of each
    relation, evenly spaced. Means of ablations and other subjects of patching are taken from the complete relation.
    Only the answer's first token is attributed. A model built or trained by rote reads keys without a template.

    >>> import rote, tempfile
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
    >>> folder = rote.export_model(rote.build(capitals), "llama", tempfile.mkdtemp() + "/llama", facts=capitals).path
    >>> found = rote.attribution(rote.load_language_model(folder), capitals, ["{key 1} {key 2}"], effects=())
    >>> found.recalled.tolist()
    [True, True]
    """
    parts, runs = asked_prompts(
        model, task, templates, relation=relation, key=key, known=known, unknown=unknown, most=most, batch=batch
    )
    kept: list[tuple[AskedFact, BatchEffects, int]] = []
    total = sum(-(-len(run.places) // batch) for run in runs) * len(parts.layers) * len(effects)
    with progress.stage(f"attributing facts to {len(parts.all):,} components", total) as stage:
        for run in runs:
            prompts, group = run.prompts, run.prompts.questions
            means = role_means(parts, prompts, 4 * batch) if "mean" in effects else None
            # Activation patching needs other subjects: a single fact is run among the facts of its length.
            among = with_partners(prompts, run.places) if "patch" in effects else run.places
            for block in prompts.batches(among, batch):
                answers = prompts.answers(block.places).to(parts.model.device)
                found = run_batch(parts, prompts, block, answers, means, effects, stage.advance)
                for number, at in enumerate(block.places):
                    if at in run.places:
                        kept.append((_asked(parts.model, run.keys[at], group, at, found, number), found, number))
    return _gathered(parts.model, parts.heads, kept, effects)


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
        through=_joined([(found.through, number) for _, found, number in kept]),
        attention=np.stack([found.attention[number] for _, found, number in kept]),
        effects={effect: np.stack([found.left[effect][number] for _, found, number in kept]) for effect in effects},
        controls={
            name: np.stack([found.controls[name][number] for _, found, number in kept]) for name in kept[0][1].controls
        },
    )


def _joined(kept: Sequence[tuple[ThroughHeads | None, int]]) -> ThroughHeads | None:
    found = [(through, number) for through, number in kept if through is not None]
    if len(found) < len(kept):
        return None
    return ThroughHeads(
        np.stack([through.sources[number] for through, number in found]),
        np.stack([through.own[number] for through, number in found]),
        np.array([through.rest[number] for through, number in found]),
    )
