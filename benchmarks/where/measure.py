"""Runs of SmolLM2-135M on `countries`: every intervention on every head and MLP, kept piece by piece.

Each piece (one relation, one selection of facts, one effect) is a file in runs/where_facts, so that an interrupted run
resumes with the next piece. Templates are the cheapest of each relation under which the model recalls enough facts: the
fewer tokens follow the subject, the less is read again after an intervention.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import rote
from rote.lm.attribution.asking import asked_prompts
from rote.lm.attribution.attribution import AskedFact, Attribution
from rote.lm.attribution.components import recording
from rote.lm.attribution.effects import Effect, direct_attribution
from rote.lm.attribution.sets import Order
from rote.lm.language_model import LanguageModel
from where.theory import outputs

KEPT = Path("runs/where_facts")
BATCH = 32


@dataclass(frozen=True)
class Case:
    """One relation under one template, facts that are known or not."""

    relation: str
    template: str
    known: bool
    effects: tuple[Effect, ...]
    most: int
    """Facts at most, evenly spaced."""

    @property
    def name(self) -> str:
        return f"{self.relation}-{'known' if self.known else 'unknown'}"


CAPITAL, CONTINENT = "The capital of {country} is", "The continent on which {country} lies is"
CASES = (
    Case("capital", CAPITAL, True, ("mean", "patch", "zero"), 58),
    Case("capital", CAPITAL, False, ("mean",), 30),
    Case("continent", CONTINENT, True, ("mean", "patch"), 30),
    Case("continent", CONTINENT, False, ("mean",), 20),
)


def measure(model: LanguageModel) -> None:
    """Run what is not kept yet; what says most comes first."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        path = KEPT / f"{case.name}-paths.npz"
        if not path.exists():
            _paths(model, case, path)
    for case in CASES:
        for effect in case.effects:
            path = KEPT / f"{case.name}-{effect}.npz"
            if not path.exists():
                _attributed(model, case, effect, path)
        path = KEPT / f"{case.name}-sets-own.json"
        if case.known and not path.exists():
            _located(model, case, "own", path)
    for case in CASES:
        path = KEPT / f"{case.name}-sets-specific.json"
        if case.known and not path.exists():
            _located(model, case, "specific", path)


def _attributed(model: LanguageModel, case: Case, effect: Effect, path: Path) -> None:
    began = time.process_time()
    found = rote.attribution(
        model, "countries", [case.template], relation=case.relation, known=case.known, unknown=not case.known,
        most=case.most, effects=(effect,), batch=BATCH,
    )  # fmt: skip
    seconds = time.process_time() - began
    found.write_csv(path.with_suffix(".csv"))
    facts = [{**vars(fact), "margin": fact.margin} for fact in found.facts]
    arrays = {
        "direct": found.direct, "embedding": found.embedding, "constant": found.constant,
        "attention": found.attention, "left": found.effects[effect], **found.controls,
    }  # fmt: skip
    aside = path.with_name(f"aside-{path.name}")
    np.savez_compressed(aside, facts=json.dumps(facts), seconds=seconds, **arrays)
    aside.replace(path)
    print(case.name, effect, len(found.facts), f"facts, {seconds:.0f} CPU s", flush=True)


@torch.inference_mode()
def _paths(model: LanguageModel, case: Case, path: Path) -> None:
    """Attribution, also through heads, to the answer's logit minus the mean of the relation's answers.

    Against the runner-up, often "the", a component also counts for saying a name at all. For known facts, outputs of
    all facts of the relation are kept as well, for the measures of the theory.
    """
    began = time.process_time()
    parts, (run,) = asked_prompts(
        model, "countries", [case.template], relation=case.relation, known=case.known, unknown=not case.known,
        most=case.most, batch=BATCH,
    )  # fmt: skip
    prompts = run.prompts
    unembedding = parts.unembedding.get_parameter("weight")
    every = prompts.answers(range(len(prompts.questions.prompts))).unique()
    kept: dict[int, dict[str, np.ndarray]] = {}
    for block in prompts.batches(run.places, BATCH):
        answers = prompts.answers(block.places)
        with recording(parts) as seen:
            logits = prompts.run(model, block.tokens)
        along = (unembedding[answers] - unembedding[every].mean(0)).double()
        direct, embedding, _, through = direct_attribution(parts, seen, along)
        if through is None:
            raise SystemExit("the model was loaded without attention weights")
        found = {
            "direct": direct, "embedding": embedding, "sources": through.sources, "own": through.own,
            "rest": through.rest,
            "difference": (logits.gather(1, answers[:, None])[:, 0] - logits[:, every].mean(1)).double().numpy(),
        }  # fmt: skip
        for row, at in enumerate(block.places):
            kept[at] = {name: values[row] for name, values in found.items()}
    arrays = {name: np.stack([kept[at][name] for at in run.places]) for name in kept[run.places[0]]}
    if case.known:
        arrays |= outputs(model, case.relation, case.template)
    aside = path.with_name(f"aside-{path.name}")
    np.savez_compressed(aside, seconds=time.process_time() - began, **arrays)
    aside.replace(path)
    print(case.name, "paths", f"{time.process_time() - began:.0f} CPU s", flush=True)


def _located(model: LanguageModel, case: Case, order: Order, path: Path) -> None:
    found = kept_attribution(case)
    began = time.process_time()
    located = rote.locate(
        model, "countries", found, [case.template], relation=case.relation, order=order, windows=order == "own",
        batch=BATCH,
    )  # fmt: skip
    seconds = time.process_time() - began
    aside = path.with_name(f"aside-{path.name}")
    aside.write_text(json.dumps({"cpu_seconds": seconds, **located.summary()}))
    aside.replace(path)
    print(case.name, "sets", order, f"{seconds:.0f} CPU s", flush=True)


def kept_attribution(case: Case) -> Attribution:
    """All effects of a case, read back."""
    pieces = {effect: np.load(KEPT / f"{case.name}-{effect}.npz") for effect in case.effects}
    first = next(iter(pieces.values()))
    names = AskedFact.__dataclass_fields__
    facts = [{name: fact[name] for name in names} for fact in json.loads(str(first["facts"]))]
    return Attribution(
        model="SmolLM2-135M",
        heads=first["direct"].shape[2] - 1,
        facts=tuple(AskedFact(**{**fact, "key": tuple(fact["key"])}) for fact in facts),
        direct=first["direct"], embedding=first["embedding"], constant=first["constant"],
        through=None, attention=first["attention"],
        effects={effect: piece["left"] for effect, piece in pieces.items()},
        controls={name: pieces["mean"][name] for name in ("said", "shuffled")},
    )  # fmt: skip


def kept() -> bool:
    """Whether every piece is there."""
    names = [f"{case.name}-{piece}.npz" for case in CASES for piece in ("paths", *case.effects)]
    names += [f"{case.name}-sets-{order}.json" for case in CASES if case.known for order in ("own", "specific")]
    return all((KEPT / name).exists() for name in names)


def cpu_seconds() -> float:
    """CPU seconds of all pieces."""
    pieces = [float(np.load(path)["seconds"]) for path in KEPT.glob("*.npz") if "aside" not in path.name]
    return sum(pieces) + sum(json.loads(path.read_text())["cpu_seconds"] for path in KEPT.glob("*-sets-*.json"))
