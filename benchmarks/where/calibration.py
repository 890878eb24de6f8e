"""What each method's answer is worth: every method on models in which the place of every fact is known.

A method *names* a component for a fact if its effect is at least half of the largest effect on that fact. Precision and
recall compare names with the components that hold the fact by construction. An intervention that none of the methods
uses checks the names: *resampling* replaces the named components by what they gave on another fact, and the fact
should be lost. Random sets of the same size are the control.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import torch

import rote
from rote.lm.attribution.asking import AskedPrompts, asked_prompts
from rote.lm.attribution.attribution import Attribution
from rote.lm.attribution.components import (
    Components,
    LmComponent,
    Replacement,
    recording,
    replacing_components,
)
from rote.lm.attribution.effects import partners
from rote.measure.ground_truth import ground_truth
from rote.measure.recall import margins
from where.findings import NAMED, heads_share
from where.planted import KnownModel, planted, trained_heads, trained_in_two_steps

METHODS = {
    "direct": "attribution",
    "sources": "through heads",
    "zero": "zero-ablation",
    "mean": "mean-ablation",
    "patch": "patching",
}
TESTS = Path(__file__).resolve().parents[2] / "tests" / "lm"


@dataclass(frozen=True)
class Score:
    """One method on one model."""

    model: str
    group: str
    method: str
    facts: int
    precision: float
    recall: float
    carriers: float
    """Share of named components that only carry what others hold."""
    size: float
    """Components named per fact."""
    lost: float
    """Facts lost when the named components are resampled."""
    random_lost: float
    """Facts lost when a random set of that size is resampled."""
    heads: float
    """Share of heads in the method's effects (`heads_share`)."""
    true_heads: float
    """Share of heads among the components that hold the facts."""


def known_models(folder: Path) -> Iterator[Callable[[], KnownModel]]:
    """Built, planted, trained and grafted models."""
    for load, facts in (("low", 16), ("full", 28)):
        yield lambda load=load, facts=facts: built("dana2025.theorem1", f"Theorem 1, {load} load", facts)
    yield lambda: built("madden2025", "one neuron per fact", 24)
    yield lambda: built("huben2023", "one head per neuron, 2 layers", 12)
    yield lambda: planted("head", [["head"]])
    yield lambda: planted("head, 8 layers", [["head"]], layers=8)
    yield lambda: planted("head, twice as many facts as dimensions", [["head"]], number=48)
    yield lambda: planted("late MLP", [["late MLP"]])
    yield lambda: planted("late MLP, 8 layers", [["late MLP"]], layers=8)
    yield lambda: planted("late MLP, twice as many facts as dimensions", [["late MLP"]], number=48)
    yield lambda: planted("early MLP", [["early MLP"]])
    yield lambda: planted("early MLP, 8 layers", [["early MLP"]], layers=8)
    yield lambda: planted("half in a head, half in a late MLP", [["head"], ["late MLP"]])
    yield lambda: planted("half in a head, half in an early MLP", [["head"], ["early MLP"]])
    yield lambda: planted("each in a head and a late MLP", [["head", "late MLP"]])
    yield lambda: planted("head behind an MLP that copies", [["relayed head"]])
    yield lambda: trained_heads(1, 1)
    yield lambda: trained_heads(2, 1)
    yield lambda: trained_in_two_steps(1)
    yield lambda: grafted(folder)


def built(method: str, name: str, number: int) -> KnownModel:
    """A model by a construction. The heads that can tell a fact from others, or the MLP, hold it."""
    facts = {(f"s{place}", f"r{place % 4}"): f"a{place * 7 % 5}" for place in range(number)}
    made = rote.build(facts, method)
    model, task = made.model, rote.facts(facts)
    if method == "madden2025":
        return KnownModel(f"built: {name}", "built", model, facts, lambda _: {LmComponent(0, None)})
    last = model.spec.layers - 1
    holds: dict[tuple[str, ...], set[LmComponent]] = {}
    for part in ground_truth(model, task):
        for row, heads in zip(range(part.rows.start, part.rows.stop), part.holds[:, last], strict=True):
            holds[tuple(task[row].key)] = {LmComponent(last, int(head)) for head in np.flatnonzero(heads)}
    return KnownModel(f"built: {name}", "built", model, facts, holds.__getitem__)


def grafted(folder: Path) -> KnownModel:
    """A tiny random Llama with facts grafted into the MLP of one appended layer."""
    sys.path.insert(0, str(TESTS))
    tiny = import_module("tiny")
    source = tiny.save_llama_like(folder / "llama", "llama")
    names = ["France", "Italy", "Peru", "Norway", "America", "dark", "light"]
    facts = {(name,): tiny.WORDS[11 + place] for place, name in enumerate(names)}
    table = folder / "facts.csv"
    table.write_text("country,capital\n" + "".join(f"{key[0]},{answer}\n" for key, answer in facts.items()))
    text = folder / "text.txt"
    text.write_text(" ".join(["the red green blue and what key of this"] * 150))
    template = "The capital of {country} is"
    made = rote.graft(source, str(table), [template], output=folder / "grafted", control=text, end="")
    first = made.record.original_layers
    holds = {LmComponent(first + number, None) for number in range(made.record.added_layers)}
    model = rote.load_language_model(made.path, attentions=True)
    return KnownModel(
        "grafted: a language model's new MLP", "grafted", model, facts, lambda _: holds, templates=(template,)
    )


def scores(known: KnownModel, folder: Path) -> list[Score]:
    """Every method on one model."""
    asked: str | dict[tuple[str, ...], str] = known.facts
    if known.templates:
        asked = str(folder / "facts.csv")
    found = rote.attribution(known.model, asked, known.templates, known=True)
    parts, runs = asked_prompts(known.model, asked, known.templates, known=True)
    truth = [known.truth(fact.key) for fact in found.facts]
    place = {fact.key: number for number, fact in enumerate(found.facts)}
    lines = []
    for method, words in METHODS.items():
        named = [named_components(found, method, number) for number in range(len(truth))]
        chance = np.random.default_rng(0)
        every = found.components
        drawn = [{every[at] for at in chance.choice(len(every), len(names), replace=False)} for names in named]
        lost = resampled(parts, runs, {key: named[number] for key, number in place.items()})
        by_chance = resampled(parts, runs, {key: drawn[number] for key, number in place.items()})
        pairs = list(zip(named, truth, strict=True))
        line = Score(
            known.name, known.group, words, len(truth),
            precision=_mean(len(names & held) / max(1, len(names)) for names, held in pairs),
            recall=_mean(len(names & held) / len(held) for names, held in pairs),
            carriers=_mean(len(names & known.carriers) / max(1, len(names)) for names in named),
            size=_mean(len(names) for names in named),
            lost=_mean(lost.values()), random_lost=_mean(by_chance.values()),
            heads=heads_share(found.effect(method))[0],
            true_heads=_mean(sum(part.head is not None for part in held) / len(held) for held in truth),
        )  # fmt: skip
        lines.append(line)
    return lines


def named_components(found: Attribution, method: str, number: int) -> set[LmComponent]:
    effect = np.nan_to_num(found.effect(method)[number]).ravel()
    if effect.max() <= 0:
        return set()
    return {part for part, size in zip(found.components, effect, strict=True) if size >= NAMED * effect.max()}


@torch.inference_mode()
def resampled(
    parts: Components, runs: Sequence[AskedPrompts], sets: dict[tuple[str, ...], set[LmComponent]]
) -> dict[tuple[str, ...], bool]:
    """For each fact, whether it is lost when its set gives what it gave on another fact of the same length."""
    lost = {}
    for run in runs:
        for block in run.prompts.batches(run.places, len(run.places)):
            answers = run.prompts.answers(block.places)
            with recording(parts) as seen:
                run.prompts.run(parts.model, block.tokens)
            other = partners(answers)
            changes = [
                Replacement(part, seen.output(part)[other[row : row + 1]], slice(row, row + 1))
                for row, at in enumerate(block.places)
                for part in sets[run.keys[at]]
            ]
            with replacing_components(parts, changes):
                left = margins(run.prompts.run(parts.model, block.tokens), answers)
            lost |= {run.keys[at]: bool(left[row] <= 0) for row, at in enumerate(block.places)}
    return lost


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return float(np.mean(kept)) if kept else float("nan")


def calibrate() -> list[Score]:
    """Every method on every known model."""
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for make in known_models(folder):
            began = time.process_time()
            known = make()
            lines += scores(known, folder)
            print(f"{known.name}: {lines[-1].facts} facts, {time.process_time() - began:.1f} CPU s", flush=True)
    return lines


def write(lines: Sequence[Score], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(Score.__dataclass_fields__))
        writer.writeheader()
        writer.writerows(
            {k: round(v, 4) if isinstance(v, float) else v for k, v in vars(line).items()} for line in lines
        )


if __name__ == "__main__":
    for line in calibrate():
        print(
            f"{line.model:45.45} {line.method:14} {line.precision:5.2f} {line.recall:5.2f} {line.carriers:5.2f} "
            f"{line.size:5.1f} {line.lost:5.2f} {line.random_lost:5.2f} {line.heads:5.2f} {line.true_heads:5.2f}"
        )
