"""`rote.edit_graft`: change, add and forget facts of a graft by touching single neurons.

Forgetting sets a fact's neurons to zero; an empty neuron adds exactly nothing. A new answer gets neurons of its own in
empty places, or in one more layer if there are none. All other neurons keep every bit. New gates are solved against all
states that stay stored, so that they are closed there, and the certificate is recomputed for the edited table.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from rote.arguments import typed
from rote.errors import InputError, nearest, problems
from rote.folders.destination import check_destination, written_aside
from rote.lm.graft.examination import examine
from rote.lm.graft.examples import examples
from rote.lm.graft.folder import GRAFT_FOLDER, load_graft, write_checkpoint, write_record
from rote.lm.graft.graft import Graft, chosen_wordings, closed_states, examined, read_table
from rote.lm.graft.host import Host, Neurons, host_of
from rote.lm.graft.layers import Targets, new_neurons, read_states, said_by
from rote.lm.graft.record import RECORD, GraftRecord, read_record
from rote.lm.graft.text import control_text
from rote.lm.loading import load_language_model
from rote.lm.questions import QuestionTable, in_words
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.tasks.facts import Facts, facts

FACTS = "facts.csv"
REWORDED = 3000
"""Sentences in generic words that an edit reads."""


@dataclass(frozen=True)
class GraftEdit(Graft):
    """An edited graft on disk."""

    emptied: int
    """Neurons set to zero."""
    written: int
    """Neurons written."""
    kept: int
    """Neurons that kept every bit."""


@typed
def edit_graft(
    path: str | Path,
    task: Facts,
    *,
    output: str | Path,
    change: Mapping[str, str] | None = None,
    add: Mapping[str, str] | None = None,
    forget: Sequence[str] = (),
    control: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> GraftEdit:
    """Change, add and forget facts of a grafted folder. `task` are the facts that it holds now.

    A key is written as its cells with a space between them. `change` and `add` map keys to answers. The edited table is
    written into the folder as `facts.csv`.

    >>> import rote
    >>> rote.edit_graft("grafted", "countries", output="edited", forget=["capital France"])
    Traceback (most recent call last):
    rote.errors.InputError: grafted: there is no such folder; give one that `rote graft` wrote
    """
    folder, target, given = Path(path), Path(output), facts(task, keys="words")
    record = read_record(folder)
    if record.owners is None:
        raise InputError(f"{folder}: does not say which neuron belongs to which fact; graft it again to edit it")
    check_destination(target, overwrite, GRAFT_FOLDER)
    read = read_table(given, record.relation)
    if read.fingerprint != record.facts_fingerprint:
        raise InputError(f"{folder}: holds other facts than those given; give the table that it was made from")
    if control is None and record.control is not None:
        raise InputError(f"{folder}: was made with a control text of its own; name it with `control`")
    plan = _planned(in_words(read), change or {}, add or {}, forget)
    grafted, original = load_graft(folder, record)
    host = host_of(original)
    text = control_text(original, None if control is None else Path(control))
    with written_aside(target) as aside:
        edited = _write_facts(aside / FACTS, target / FACTS, read, plan)
        table = in_words(edited)
        chosen, held_out = chosen_wordings(edited, table, record.templates, record.paraphrases)
        answer = edited.origin.answer_column
        solved_on = examples(original, table, chosen, held_out, answer, record.end, text, record.never, REWORDED)
        targets, inside = read_states(host, solved_on.must, progress, reworded=solved_on.should)
        plain, unknown = closed_states(host, text, solved_on, progress)
        others = torch.cat([inside, plain])
        before = said_by(host, targets, solved_on.stored)
        slots = _Slots(host, grafted.module.state_dict(), record)
        emptied = slots.forget(plan)
        written = slots.store(targets, others, unknown, plan, record.locality, progress)
        layers, owners = slots.layers()
        added = write_checkpoint(aside, host, layers)
        made = load_language_model(aside, dtype=record.dtype)
        asked = examined(made, table, chosen, held_out, record.end, text)
        certificate, _ = examine(original, made, aside, asked, before, progress)
        new = record.model_copy(
            update={
                "facts": edited.origin, "facts_fingerprint": edited.fingerprint, "owners": owners,
                "neurons": sum(owner >= 0 for owner in owners), "added_layers": len(layers),
                "added_parameters": added, "certificate": certificate,
            }
        )  # fmt: skip
        write_record(aside, new)
    return GraftEdit(target, new, 0.0, emptied, written, sum(owner >= 0 for owner in owners) - written)


@dataclass(frozen=True)
class _Plan:
    rows: tuple[tuple[tuple[str, ...], str], ...]
    """Cells and answer of each fact after the edit."""
    came_from: tuple[int | None, ...]
    """The row that each had before; none for a new fact or a new answer."""


def _planned(table: QuestionTable, change: Mapping[str, str], add: Mapping[str, str], forget: Sequence[str]) -> _Plan:
    names = [" ".join(key[column] for column in table.columns) for key in table.keys]
    known = set(names)
    refused = [f"no fact has the key {key!r}{nearest(key, names)}" for key in (*change, *forget) if key not in known]
    refused += [f"{key!r} is stored already; use `change`" for key in add if key in known]
    refused += [f"{key!r} is both changed and forgotten" for key in change if key in forget]
    if not (change or add or forget):
        refused.append("there is nothing to change; give `change`, `add` or `forget`")
    cells = {name: tuple(key[column] for column in table.columns) for name, key in zip(names, table.keys, strict=True)}
    words = {cell for key in cells.values() for cell in key}
    new = {key: _cells(key, len(table.columns), words) for key in add}
    refused += [f"{key!r} has not the {len(table.columns)} cells of a key" for key, own in new.items() if own is None]
    if refused:
        raise problems("edit of a graft", refused)
    rows = [
        (cells[name], change.get(name, answer), None if name in change else row)
        for row, (name, answer) in enumerate(zip(names, table.answers, strict=True))
        if name not in forget
    ]
    rows += [(own, add[key], None) for key, own in new.items() if own is not None]
    if not rows:
        raise problems("edit of a graft", ["no fact would be left; give the original model back by `rote.ungraft`"])
    return _Plan(tuple((key, answer) for key, answer, _ in rows), tuple(row for _, _, row in rows))


def _cells(key: str, count: int, words: set[str]) -> tuple[str, ...] | None:
    """A key's cells: the first ones are cells of the table, the last is the rest."""
    if count == 1:
        return (key,)
    for word in sorted(words, key=len, reverse=True):
        if key.startswith(f"{word} "):
            rest = _cells(key[len(word) + 1 :], count - 1, words)
            if rest is not None:
                return (word, *rest)
    return None


def _write_facts(aside: Path, target: Path, read: AssociationTask, plan: _Plan) -> AssociationTask:
    """The edited table as a file, and as facts that name the place where it will be."""
    columns = [*read.origin.key_columns, read.origin.answer_column or "answer"]
    with aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([*key, answer] for key, answer in plan.rows)
    made = read_table(facts(aside, keys="words"), None)
    return replace(made, origin=made.origin.model_copy(update={"source": str(target)}))


class _Slots:
    """The neurons of a graft by place: layer after layer, empty places included."""

    def __init__(self, host: Host, state: Mapping[str, Tensor], record: GraftRecord) -> None:
        self.host, self.width = host, host.width
        read = [host.neurons(record.original_layers + number, state) for number in range(record.added_layers)]
        self.gates = torch.cat([neurons.gates for neurons in read])
        self.thresholds = torch.cat([neurons.thresholds for neurons in read])
        self.values = torch.cat([neurons.values for neurons in read])
        owners = list(record.owners or ())
        if len(owners) > len(self.gates):
            raise InputError(
                f"{RECORD}: names the facts of {len(owners):,} neurons, and the model has {len(self.gates):,}; "
                "graft it again to edit it"
            )
        self.owners = owners + [-1] * (len(self.gates) - len(owners))

    def forget(self, plan: _Plan) -> int:
        """Empty the neurons of facts that are gone or have a new answer; the others get their new rows."""
        row_of = {old: new for new, old in enumerate(plan.came_from) if old is not None}
        emptied = 0
        for place, owner in enumerate(self.owners):
            if owner >= 0 and owner not in row_of:
                self.gates[place], self.thresholds[place], self.values[place] = 0, 0, 0
                emptied += 1
            self.owners[place] = row_of.get(owner, -1)
        return emptied

    def store(
        self, targets: Targets, others: Tensor, unknown: Tensor, plan: _Plan, locality: float, progress: Progress
    ) -> int:
        """Neurons for the new answers, in empty places."""
        gates = [gate for gate, fact in enumerate(targets.facts) if plan.came_from[fact] is None]
        if not gates:
            return 0
        found = new_neurons(self.host, targets, others, unknown, gates, locality, progress)
        empty = [place for place, owner in enumerate(self.owners) if owner < 0]
        missing = len(gates) - len(empty)
        if missing > 0:
            grown = -(-missing // self.width) * self.width
            for name in ("gates", "values"):
                old = getattr(self, name)
                setattr(self, name, torch.cat([old, torch.zeros(grown, old.shape[1], dtype=old.dtype)]))
            self.thresholds = torch.cat([self.thresholds, torch.zeros(grown, dtype=self.thresholds.dtype)])
            empty += range(len(self.owners), len(self.owners) + grown)
            self.owners += [-1] * grown
        for number, (gate, place) in enumerate(zip(gates, empty, strict=False)):
            self.gates[place], self.thresholds[place] = found.gates[number], found.thresholds[number]
            self.values[place], self.owners[place] = found.values[number], targets.facts[gate]
        return len(gates)

    def layers(self) -> tuple[list[Neurons], list[int]]:
        starts = range(0, len(self.owners), self.width)
        parts = [slice(start, start + self.width) for start in starts]
        return [Neurons(self.gates[p], self.thresholds[p], self.values[p]) for p in parts], self.owners
