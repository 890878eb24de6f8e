"""Attribution methods scored against models whose facts are known by construction, through TransformerLens.

    rote suite "countries:facts=120,seed=1" -o suite --to transformerlens
    python benchmarks/attribution.py suite attribution.png

For every model of a suite two methods rank the heads of a fact: direct logit attribution (what a head adds to the
answer's logit minus the nearest answer's) and activation patching (how far that difference falls when the head's output
is replaced by that of another key with the same last token). Both are scored against an intervention that the manifest
has: how much of the logit margin, over all other answers, zero-ablating the head loses. Two scores: the correlation of
the numbers, and the share of the quarter of heads that lose most which the method has in its own first quarter, beside
that of a random ranking. Direct logit attribution against the manifest's own attribution would be an identity.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rote.charts.style import BLUE, GREY, ORANGE, figure, save
from rote.experiments.suite_schema import FactTruth, ModelTruth, SuiteManifest
from rote.export.targets.transformerlens import load_bridge

FACTS = 40
"""Facts of each model that are scored, evenly spaced."""
HOOK = "blocks.0.attn.hook_z"


def overlap(given: np.ndarray, truth: np.ndarray) -> float:
    """Share of the quarter of heads with the largest true numbers that the quarter with the largest given ones has."""
    quarter = max(1, len(truth) // 4)
    first, wanted = (set(np.argsort(-np.abs(numbers))[:quarter].tolist()) for numbers in (given, truth))
    return len(first & wanted) / quarter


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1]) if one.std() and other.std() else 0.0


def logit_attribution(bridge: Any, z: torch.Tensor, direction: torch.Tensor) -> np.ndarray:
    """What each head adds along a direction of the stream."""
    added = torch.einsum("hk,hkd->hd", z.view(bridge.cfg.n_heads, -1), bridge.W_O[0])
    return (added @ direction).numpy()


def patching(bridge: Any, tokens: torch.Tensor, z: torch.Tensor, direction: torch.Tensor) -> np.ndarray:
    """How far the margin falls when each head in turn takes the other key's values: a batch with a head a row."""
    heads = bridge.cfg.n_heads
    each = torch.arange(heads)

    def patch(value: torch.Tensor, hook: object) -> torch.Tensor:
        value = value.clone()
        value.view(heads, value.shape[1], heads, -1)[each, -1, each] = z.view(heads, -1)
        return value

    before = bridge(tokens, return_type="logits")[0, -1] @ direction
    after = bridge.run_with_hooks(tokens.repeat(heads, 1), fwd_hooks=[(HOOK, patch)])[:, -1] @ direction
    return (before - after).numpy()


def scored(folder: Path, facts: tuple[FactTruth, ...]) -> dict[str, tuple[float, float]]:
    """Correlation and overlap of each method on one model, and of a random ranking."""
    bridge = load_bridge(folder)
    texts = [" ".join(fact.key) for fact in facts]
    tokens = bridge.to_tokens(texts, prepend_bos=False)
    found = defaultdict(list)
    generator = np.random.default_rng(0)
    with torch.no_grad():
        _, cache = bridge.run_with_cache(tokens)
        z = cache[HOOK][:, -1]
        for row in np.linspace(0, len(facts) - 1, min(FACTS, len(facts))).astype(int):
            fact = facts[row]
            alike = [other for other in range(len(facts)) if other != row and facts[other].key[-1] == fact.key[-1]]
            other = alike[0] if alike else (row + 1) % len(facts)
            answer, nearest = (
                int(bridge.to_tokens(word, prepend_bos=False)[0, -1]) for word in (fact.answer, fact.nearest)
            )
            logits = torch.zeros(bridge.cfg.d_vocab_out)
            logits[answer], logits[nearest] = 1.0, -1.0
            truth = fact.margin - np.array(fact.heads_ablated[0])
            numbers = {
                "direct logit attribution": logit_attribution(
                    bridge, z[row], bridge.W_U[:, answer] - bridge.W_U[:, nearest]
                ),
                "activation patching": patching(bridge, tokens[row : row + 1], z[other], logits),
                "chance": generator.standard_normal(len(truth)),
            }
            for name, given in numbers.items():
                found[name].append((correlation(given, truth), overlap(given, truth)))
    return {name: tuple(np.mean(pairs, 0).tolist()) for name, pairs in found.items()}


def draw(rows: list[tuple[str, float, dict[str, tuple[float, float]]]], path: Path) -> None:
    colours = {"direct logit attribution": BLUE, "activation patching": ORANGE, "chance": GREY}
    labels = ("correlation with the ablation effect", "share of the heads whose ablation loses most")
    with figure(7.6, 4.2) as drawn:
        panels = drawn.subplots(1, 2)
        for panel, (axes, label) in enumerate(zip(panels, labels, strict=True)):
            for method, dashes in (("dana2025.theorem1", "-"), ("rote.readout", "--")):
                loads = sorted({load for made, load, _ in rows if made == method})
                for name, colour in colours.items():
                    if panel == 0 and name == "chance":
                        continue
                    means = [
                        np.mean([scores[name][panel] for made, at, scores in rows if (made, at) == (method, load)])
                        for load in loads
                    ]
                    axes.plot(loads, means, dashes, color=colour, marker="o", markersize=3, label=f"{name}, {method}")
            axes.set_xscale("log", base=2)
            ticks = sorted({load for _, load, _ in rows})
            axes.set_xticks(ticks, [f"{load:g}" for load in ticks])
            axes.minorticks_off()
            axes.set_ylim(-0.05, 1.05)
            axes.set_xlabel("load: facts over capacity")
            axes.set_title(label, fontsize=9)
            axes.grid(axis="y")
        handles, names = panels[1].get_legend_handles_labels()
        drawn.legend(handles, names, fontsize=7, ncols=2, loc="outside lower center", handlelength=3.2)
        save(drawn, path)


def main() -> None:
    torch.set_num_threads(1)
    suite, path = Path(sys.argv[1]), Path(sys.argv[2])
    manifest = SuiteManifest.model_validate_json((suite / "manifest.json").read_text(encoding="utf-8"))
    rows = []
    print("| model | heads | held by, mean | DLA: correlation, overlap | patching: correlation, overlap | chance |")
    print("|---|---|---|---|---|---|")
    for model in manifest.models:
        truth = ModelTruth.model_validate_json((suite / model.id / "truth.json").read_text(encoding="utf-8"))
        scores = scored(suite / model.id / "transformerlens", truth.facts)
        rows.append((model.method, model.load, scores))
        held = np.mean([len(fact.held_by[0]) for fact in truth.facts])
        cells = [
            f"{scores[name][0]:.2f}, {scores[name][1]:.2f}"
            for name in ("direct logit attribution", "activation patching")
        ]
        print(
            f"| {model.id} | {model.spec['heads']} | {held:.1f} | {' | '.join(cells)} | {scores['chance'][1]:.2f} |",
            flush=True,
        )
    draw(rows, path)


if __name__ == "__main__":
    main()
