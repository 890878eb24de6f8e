"""Editors and unlearners compared with exact edits and with models that never stored the facts.

    python benchmarks/editing_study.py docs            # writes editing_study.json and four figures
    python benchmarks/editing_study.py docs --quick --parts /tmp/quick    # fewer seeds, to see that it runs

Parts that are computed are kept in `--parts`, so that the same command resumes.
Settings (learning rates, MEMIT's weight) are chosen on seeds 1000 and 1001 and reported on others.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rote.charts.style import BLUE, GREEN, GREY, ORANGE, VERMILION, figure, save
from studies.editors import Editor, exact, memit, rome, tuned
from studies.mlp_facts import MlpFacts
from studies.unlearners import Unlearner, ascent, auc, difference, metrics, npo, rounded, truth_ratios

FACTS, EDITS, FORGET = 200, 100, 20
CHOSEN_ON = (1000, 1001)
KINDS = ("bfloat16", "int8", "int4")
TRIED: dict[str, list[Editor]] = {
    "exact": [exact],
    "ROME, moment of stored keys": [rome(True, rate) for rate in (0.05, 0.1, 0.5)],
    "ROME, moment of other keys": [rome(False, rate) for rate in (0.05, 0.1, 0.5)],
    "MEMIT, moment of other keys": [memit(weight, 0.1) for weight in (3.0, 30.0, 300.0, 3000.0)],
    "fine-tuning": [tuned(rate) for rate in (1e-4, 3e-4, 1e-3, 3e-3, 3e-5, 1e-5)],
    "fine-tuning with penalty": [tuned(rate, 1.0) for rate in (1e-4, 3e-4)],
}
UNLEARNERS: dict[str, list[Unlearner]] = {
    "gradient ascent": [ascent(rate) for rate in (1e-4, 1e-3, 1e-2)],
    "gradient difference": [difference(rate) for rate in (1e-4, 1e-3, 1e-2)],
    "NPO": [npo(rate) for rate in (1e-4, 1e-3, 1e-2)],
}


def edited(editor: Editor, seed: int, edits: int) -> dict[str, float]:
    """One editor, so many facts changed one after another."""
    facts = MlpFacts.built(FACTS, seed)
    rng = np.random.default_rng([seed, 3])
    rows = rng.permutation(FACTS)[:edits].tolist()
    answers, weights, first = facts.answers.clone(), facts.weights, None
    for number, row in enumerate(rows, 1):
        new = int((answers[row] + 1 + rng.integers(59)) % 60)
        weights = editor(facts.with_answers(answers), weights, row, new)
        answers[row] = new
        if first is None and not bool(facts.right(weights, answers).all()):
            first = number
    right = facts.right(weights, answers)
    touched = torch.zeros(FACTS, dtype=torch.bool)
    touched[rows] = True
    truth = facts.solved(torch.arange(FACTS), answers)
    return {
        "edits before the first loss": float(edits if first is None else first - 1),
        "edited facts right": float(right[touched].double().mean()),
        "other facts lost": float((~right[~touched]).double().mean()),
        "distance to the exact edit": float((weights - truth).norm() / (truth - facts.weights).norm()),
    }


def score(editor: Editor) -> float:
    """Facts kept right, edited and other, on the seeds that are set aside."""
    runs = [edited(editor, seed, 30) for seed in CHOSEN_ON]
    return float(np.mean([run["edited facts right"] - run["other facts lost"] for run in runs]))


class Pair:
    """A model that holds a forget set, its twin that never did, and facts that neither stored."""

    def __init__(self, seed: int) -> None:
        self.facts = MlpFacts.built(FACTS, seed)
        rng = np.random.default_rng([seed, 5])
        order = torch.from_numpy(rng.permutation(FACTS))
        self.forget, self.rest = order[:FORGET].sort().values, order[FORGET:].sort().values
        self.twin = self.facts.solved(self.rest, self.facts.answers[self.rest])
        own = self.facts.answers[self.forget][:, None]
        self.wrong = (own + 1 + torch.from_numpy(rng.integers(0, 59, (FORGET, 5)))) % 60
        outside = torch.from_numpy(rng.permutation(len(self.facts.other_keys))[: 4 * FORGET])
        self.outside = self.facts.other_keys[outside], self.facts.other_streams[outside]
        self.outside_answers = torch.from_numpy(rng.integers(0, 60, len(outside)))

    def held_out(self, weights: torch.Tensor) -> torch.Tensor:
        keys, streams = self.outside
        other = replace(self.facts, streams=streams, keys=keys, answers=self.outside_answers)
        return other.losses(weights)

    def metrics(self, weights: torch.Tensor, reference: np.ndarray) -> dict[str, float]:
        return metrics(self.facts, weights, self.forget, self.wrong, reference, self.held_out(weights))

    def ratios(self, weights: torch.Tensor) -> np.ndarray:
        return truth_ratios(self.facts, weights, self.forget, self.wrong)


def kept(unlearner: Unlearner, seed: int) -> float:
    """Share of the other facts that are kept, minus what is left of the forget set."""
    pair = Pair(seed)
    right = pair.facts.right(unlearner(pair.facts, pair.forget, pair.rest)).double()
    return float(right[pair.rest].mean() - right[pair.forget].mean())


def choice() -> dict[str, int]:
    """The setting of every unlearner, by number, on the seeds that are set aside."""
    return {
        name: int(np.argmax([np.mean([kept(each, seed) for seed in CHOSEN_ON]) for each in some]))
        for name, some in UNLEARNERS.items()
    }


def compared(seed: int, settings: dict[str, int]) -> dict[str, Any]:
    """One model with the knowledge, its twin, and what each unlearner makes of it."""
    pair, other = Pair(seed), Pair(seed + 5000)
    # The reference is another model that never stored its forget set: a twin compared with itself would be equal.
    reference = other.ratios(other.twin)
    weights = {"full": pair.facts.weights, "twin": pair.twin}
    for name, number in settings.items():
        weights[name] = UNLEARNERS[name][number](pair.facts, pair.forget, pair.rest)
    forgotten = {name: ~pair.facts.right(each)[pair.forget] for name, each in weights.items()}
    return {
        "metrics": {name: pair.metrics(each, reference) for name, each in weights.items()},
        "back": {
            name: {
                kind: float((pair.facts.right(rounded(each, kind))[pair.forget] & forgotten[name]).double().mean())
                for kind in KINDS
            }
            for name, each in weights.items()
            if name != "full"
        },
        "lost": {name: float((~pair.facts.right(each)[pair.rest]).double().mean()) for name, each in weights.items()},
        "distance": {
            name: float((each - pair.twin).norm() / (pair.facts.weights - pair.twin).norm())
            for name, each in weights.items()
        },
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """AUC of every metric, models with the knowledge and fakes against twins, and means of the rest."""

    def scores(name: str, metric: str) -> np.ndarray:
        return np.array([row["metrics"][name][metric] for row in rows])

    names, kinds = list(rows[0]["metrics"]), list(rows[0]["metrics"]["twin"])
    others = [name for name in names if name != "twin"]
    return {
        "models": len(rows),
        "auc": {name: {kind: auc(scores(name, kind), scores("twin", kind)) for kind in kinds} for name in others},
        "means": {name: {kind: float(scores(name, kind).mean()) for kind in kinds} for name in names},
        "come back": {
            name: {kind: float(np.mean([row["back"][name][kind] for row in rows])) for kind in KINDS}
            for name in rows[0]["back"]
        },
        "other facts lost": {name: float(np.mean([row["lost"][name] for row in rows])) for name in names},
        "distance to never stored": {name: float(np.mean([row["distance"][name] for row in rows])) for name in names},
    }


TONES = (BLUE, ORANGE, GREEN, VERMILION)
"""Of models, in the order of the tables."""


def draw_edits(rows: dict[str, list[dict[str, float]]], folder: Path) -> None:
    names = list(rows)
    panels = ("edits before the first loss", "other facts lost", "distance to the exact edit")
    titles = (
        "Only exact edits and ROME with the moment of the stored keys\nchange 100 facts in a row and lose none",
        "Fine-tuning loses more than half of the other facts in 100 edits",
        "No other editor arrives near the exact edit: 1 is as far as not editing",
    )
    files = ("editing_first_loss", "editing_collateral", "editing_distance")
    for panel, title, file in zip(panels, titles, files, strict=True):
        with figure(7.2, 3.0) as drawn:
            axes = drawn.subplots()
            for place, name in enumerate(names):
                values = [run[panel] for run in rows[name]]
                axes.barh(place, np.mean(values), color=BLUE if name == "exact" else GREY, height=0.6)
                axes.plot(values, [place] * len(values), "o", color=ORANGE, markersize=3)
            axes.set_yticks(range(len(names)), names)
            axes.invert_yaxis()
            axes.set_xlabel({"other facts lost": "share of other facts lost"}.get(panel, panel))
            axes.set_title(title, fontsize=9, loc="left")
            save(drawn, folder / f"{file}.png")


def draw_unlearning(found: dict[str, Any], folder: Path) -> None:
    names, kinds = list(found["auc"]), list(found["auc"]["full"])
    with figure(7.2, 3.4) as drawn:
        axes = drawn.subplots()
        for place, name in enumerate(names):
            at = [number + 0.18 * (place - 1.5) for number in range(len(kinds))]
            label = "holds the facts" if name == "full" else name
            axes.bar(at, [found["auc"][name][kind] for kind in kinds], 0.17, label=label, color=TONES[place])
        axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle="--")
        axes.set_xticks(range(len(kinds)), [kind.replace(" ", "\n", 1) for kind in kinds], fontsize=8)
        axes.set_ylim(0, 1.02)
        axes.set_ylabel("AUC against never stored")
        axes.set_title(
            "No unlearner looks like a model that never stored the facts (0.5) in every metric", fontsize=9, loc="left"
        )
        axes.legend(fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, -0.48))
        save(drawn, folder / "editing_metrics.png")
    with figure(6.4, 2.8) as drawn:
        axes = drawn.subplots()
        kinds = ["bfloat16", "int8", "int4"]
        for place, (name, shares) in enumerate(found["come back"].items()):
            axes.bar(
                [n + 0.2 * (place - 1.5) for n in range(3)],
                [shares[k] for k in kinds],
                0.18,
                label=name,
                color=TONES[place],
            )
        axes.set_xticks(range(3), kinds)
        axes.set_ylabel("share of the forget set")
        axes.set_title("Rounding W_2 brings back less than one forgotten fact in a hundred", fontsize=9, loc="left")
        axes.legend(fontsize=7)
        save(drawn, folder / "editing_rounding.png")


def part(folder: Path, name: str, made: Callable[[], Any]) -> Any:
    """A part of the study, computed once: the same command resumes after an interruption."""
    path = folder / f"{name}.json".replace(" ", "-").replace(",", "")
    if not path.exists():
        before = time.process_time()
        content = {"result": made(), "cpu seconds": 0.0}
        content["cpu seconds"] = time.process_time() - before
        aside = path.with_suffix(".part")
        aside.write_text(json.dumps(content), encoding="utf-8")
        aside.replace(path)
        print(f"{name}: {content['cpu seconds']:.1f} CPU seconds", flush=True)
    content = json.loads(path.read_text(encoding="utf-8"))
    SECONDS[name] = content["cpu seconds"]
    if time.process_time() > BUDGET[0]:
        raise SystemExit("the budget is used up; the same command resumes")
    return content["result"]


SECONDS: dict[str, float] = {}
BUDGET = [float("inf")]


def main() -> None:
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", type=Path, default=Path("runs/editing-study"))
    parser.add_argument("--budget", type=float, default=float("inf"), help="CPU seconds after which to stop")
    given = parser.parse_args()
    BUDGET[0] = given.budget
    seeds, models, edits = (1, 4, 10) if given.quick else (3, 30, EDITS)
    given.parts.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[dict[str, float]]] = {}
    settings: dict[str, int] = {}
    for name, editors in TRIED.items():
        scores = [part(given.parts, f"setting {n} of {name}", lambda e=e: score(e)) for n, e in enumerate(editors)]
        settings[name] = int(np.argmax(scores))
        editor = editors[settings[name]]
        rows[name] = [
            part(given.parts, f"{name} seed {seed}", lambda e=editor, s=seed: edited(e, s, edits))
            for seed in range(seeds)
        ]
    picked = part(given.parts, "settings of unlearners", choice)
    found = summary(
        [part(given.parts, f"unlearning seed {seed}", lambda s=seed: compared(s, picked)) for seed in range(models)]
    )
    found |= {"editing": rows, "settings": {**settings, **picked}, "cpu seconds": sum(SECONDS.values())}
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "editing_study.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw_edits(rows, given.folder)
    draw_unlearning(found, given.folder)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
