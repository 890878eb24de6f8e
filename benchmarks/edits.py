"""Edits of built models: exactness, speed against a rebuild, long sequences, added facts, and facts never stored.

    python benchmarks/edits.py [countries] [airports]

CPU time on one thread, edit and rebuild interleaved. The figures are in benchmarks/README.md.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np
import torch

import rote
from rote.editing.edit import Edited
from rote.tasks import AssociationTask
from rote.tasks.changes import changed

METHOD = "dana2025.theorem1"


def cpu(call):
    began = time.process_time()
    outcome = call()
    return outcome, time.process_time() - began


def random_changes(task: AssociationTask, count: int, rng: np.random.Generator) -> dict[tuple[str, ...], str]:
    """New answers for some facts, drawn from the answers of others."""
    rows = rng.choice(task.facts, count, replace=False)
    changes = {}
    for row in rows.tolist():
        own = task[row].answer
        while (answer := task[int(rng.integers(task.facts))].answer) == own:
            pass
        changes[_key(task, row)] = answer
    return changes


def _key(task: AssociationTask, row: int) -> tuple[str, ...]:
    key = task[row].key
    return ("".join(key),) if task.origin.reading.keys == "letters" else key


def changes_of(name: str, spare: int | None) -> None:
    task = rote.facts(name)
    rng = np.random.default_rng(1)
    built = rote.build(task, METHOD, spare=spare)
    print(f"{name}, spare {spare}: {task.facts} facts, heads {built.model.spec.heads}, "
          f"smallest margin {built.certificate.min_margin:.3f}")  # fmt: skip
    for count in (1, 100):
        first = rote.edit(built, random_changes(task, count, rng))
        _report(f"{count} changes, factorised now", first, built)
        if count > 1:
            continue
        edits, rebuilds, solves = [], [], []
        current: Edited = first
        for _ in range(5):
            changes = random_changes(changed(task, current.origin.changes), 1, rng)
            current, seconds = cpu(lambda c=current, x=changes: rote.edit(c, x))
            edits.append(seconds)
            rebuilds.append(cpu(lambda: rote.build(task, METHOD, spare=spare))[1])
            solves.append(_weights_alone(current))
        print(f"  one change, factorisation kept: edit with certificate {np.median(edits):.4f} s, weights alone "
              f"{np.median(solves):.4f} s; rebuild with certificate {np.median(rebuilds):.3f} s; ratios "
              f"{np.median(rebuilds) / np.median(edits):.1f}, "
              f"{np.median(rebuilds) / np.median(solves):.0f}")  # fmt: skip


def _weights_alone(edited: Edited) -> float:
    """CPU seconds of one change of W_O by the kept factorisation."""
    system = edited.kept["system"]
    moved = torch.randn(1, edited.model.spec.dim, dtype=torch.float64)
    output = edited.model.weights["layers.0.output"]
    return cpu(lambda: (output.double() + system.change(torch.tensor([5]), moved)).float())[1]


def _report(title: str, edited: Edited, before: rote.Built) -> None:
    certificate = edited.certificate
    share = (edited.largest_margin_change or 0) / (before.certificate.min_margin or 1)
    print(f"  {title}: {certificate.recalled}/{certificate.facts} right, other margins moved by "
          f"{edited.largest_margin_change:.1e} ({share:.1e} of the smallest), smallest margin now "
          f"{certificate.min_margin:.3f}, heads added {certificate.measured['heads_added']}")  # fmt: skip


def in_a_row(name: str, count: int = 300) -> None:
    task = rote.facts(name)
    rng = np.random.default_rng(2)
    built = rote.build(task, METHOD, spare=0)
    current: rote.Built | Edited = built
    worst, seconds = 0.0, 0.0
    for _ in range(count):
        (current, spent) = cpu(lambda c=current: rote.edit(c, random_changes(changed(task, c.origin.changes), 1, rng)))
        worst, seconds = max(worst, current.largest_margin_change or 0), seconds + spent
        if not current.certificate.complete:
            raise SystemExit("a fact was lost")
    print(f"{name}: {count} edits in a row: {current.certificate.recalled}/{current.certificate.facts} right, smallest "
          f"margin {built.certificate.min_margin:.3f} -> {current.certificate.min_margin:.3f}, largest change of "
          f"another margin in one edit {worst:.1e}, {seconds / count:.3f} CPU s each")  # fmt: skip


def added(count: int = 13) -> None:
    """Keys of countries that the table leaves out, added to a model whose room they exceed by one head's."""
    task = rote.facts("countries")
    built = rote.build(task, METHOD, spare=0)
    have = {tuple(key) for key in task.contexts.tolist()}
    words = task.vocabulary.tokens
    keys = [
        (a, b) for a in np.unique(task.contexts[:, 0]) for b in np.unique(task.contexts[:, 1]) if (a, b) not in have
    ]
    rng = np.random.default_rng(3)
    changes = [("add", (words[a], words[b]), task[int(rng.integers(task.facts))].answer) for a, b in keys[:count]]
    room = built.model.spec.heads * built.model.spec.head_dim - task.facts
    _report(f"countries: {len(changes)} added with room for {room}", rote.edit(built, changes), built)
    tight = rote.build(task, METHOD, heads=built.model.spec.heads, seed=1)
    _report(f"countries, seed 1: {len(changes)} added", rote.edit(tight, changes), tight)


def never_stored(name: str, count: int = 10, spare: int | None = 0) -> None:
    """Forget a fact, and forget it in a model that was built with another answer in its place: the same bits?"""
    task = rote.facts(name)
    rng = np.random.default_rng(4)
    built = rote.build(task, METHOD, spare=spare)
    same, first, ranks = 0, 0, []
    for row in rng.choice(task.facts, count, replace=False).tolist():
        answers = task.answers.copy()
        while answers[row] == task.answers[row]:
            answers[row] = task.answers[rng.integers(task.facts)]
        other = rote.build(replace(task, answers=answers), METHOD, spare=spare)
        key = _key(task, row)
        forgotten = rote.edit(built, [("forget", key)], task)
        elsewhere = rote.edit(other, [("forget", key)], replace(task, answers=answers))
        equal = all(
            torch.equal(tensor, elsewhere.model.weights[which]) for which, tensor in forgotten.model.weights.items()
        )
        same += equal
        if not equal:
            print(f"  {task[row]}: differs; codes {built.provenance['sample']} and {other.provenance['sample']}")
        logits = forgotten.model.logits(task.contexts[row : row + 1])[0]
        rank = int((logits > logits[int(task.answers[row])]).sum()) + 1
        ranks.append(rank)
        first += rank == 1
    print(f"{name}, spare {spare}: {count} facts forgotten, {same} bit for bit as from a build with another answer "
          f"there; the true answer is first for {first}, median rank {int(np.median(ranks))}")  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    names = sys.argv[1:] or ["countries", "airports"]
    for name in names:
        changes_of(name, 0)
        if name == "countries":
            changes_of(name, None)
            in_a_row(name)
            added()
        never_stored(name)
        if name == "countries":
            never_stored(name, spare=None)


if __name__ == "__main__":
    main()
