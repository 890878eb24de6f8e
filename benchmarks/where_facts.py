"""Which heads and MLPs of SmolLM2 country facts depend on: `python benchmarks/where_facts.py [FACTS PER RELATION]`.

Every relation of `countries` is asked under its first template; facts whose first token is right are attributed to
heads and MLPs. Tables, CSV and heat maps of a relation are kept in runs/where_facts, so that a second run resumes.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

import rote
from real_weights import smollm2
from rote.charts.drawing import write_chart

RELATIONS = ("capital", "continent", "currency", "calling code")
KEPT = Path("runs/where_facts")
MOST = 40
"""Recalled facts of each relation that are attributed."""


def main(most: int = MOST) -> None:
    model = rote.load_language_model(smollm2(), attentions=True)
    KEPT.mkdir(parents=True, exist_ok=True)
    for relation in RELATIONS:
        path = KEPT / f"{relation.replace(' ', '_')}.json"
        if path.exists():
            continue
        began = time.process_time()
        found = rote.attribution(model, "countries", relation=relation, known=True, most=most)
        located = rote.locate(model, "countries", found, relation=relation)
        seconds = time.process_time() - began
        found.write_csv(path.with_suffix(".csv"))
        for effect in ("direct", "mean", "patch"):
            write_chart(found.heat_map(effect), KEPT / f"{path.stem}-{effect}.png")
        document = {"relation": relation, "cpu_seconds": seconds, **found.summary(), "located": located.summary()}
        path.write_text(json.dumps(document))
        print(relation, len(found.facts), "facts,", f"{seconds:.0f} CPU s", flush=True)
    report()


def report() -> None:
    """One line per relation: facts, what is lost without heads or MLPs, sizes of sets and their controls."""
    for relation in RELATIONS:
        path = KEPT / f"{relation.replace(' ', '_')}.json"
        if not path.exists():
            continue
        document = json.loads(path.read_text())
        located = document["located"]
        shares = {share["kind"]: share for share in located["shares"]}
        means = {name: np.array(values) for name, values in document["mean_effects"].items()}
        top = np.dstack(np.unravel_index(np.argsort(-means["mean"].ravel())[:5], means["mean"].shape))[0]
        names = [f"mlp {a}" if b == document["heads"] else f"head {a}.{b}" for a, b in top]
        print(
            f"{relation}: {document['recalled']} facts; without heads {shares['heads']['lost']} lost, without MLPs "
            f"{shares['MLPs']['lost']}; DLA of heads {shares['heads']['direct']:.2f}, of MLPs "
            f"{shares['MLPs']['direct']:.2f}; median set {located['median_size']}, others lost "
            f"{located['others_lost']:.2f}, random {located['random_lost']:.2f}; {', '.join(names)}; "
            f"rounding {document['largest_rounding']:.1g}; {document['cpu_seconds']:.0f} CPU s"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
