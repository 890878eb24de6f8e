"""`rote.edit`: change, add and forget facts of a model that rote built, every other fact kept and certified."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from rote.arguments import typed
from rote.constructions import CONSTRUCTIONS
from rote.constructions.build import Built
from rote.constructions.common.solvers.one_blas_thread import one_blas_thread
from rote.constructions.construction import Construction, EditRequest, Request, parse_options
from rote.display import html_pairs
from rote.editing.requested import Changes, asked, checked
from rote.errors import CheckFailed, InputError
from rote.folders import Folder, load, write_folder
from rote.folders.folder import Pushable
from rote.folders.named_facts import facts_of_folder
from rote.measure.certificate import Certificate, Compared, Examination, examine
from rote.measure.recall import margins as margins_of
from rote.measure.recall import recall
from rote.models.attended_model import AttendedModel
from rote.models.attention_only import AttentionOnly
from rote.models.forward.kept_attention import KeptAttention
from rote.models.grid import is_grid
from rote.models.model import Model, dtype_named
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask
from rote.tasks.change import MOST_CHANGES, Change, Forget
from rote.tasks.changes import changed, rows_by_key
from rote.tasks.facts import Facts
from rote.tasks.facts import facts as read_facts
from rote.tasks.key_reader import KeyReader
from rote.tasks.origin import Origin

COMPARED = 256
"""Facts that are run in float64 besides those that are changed, for the rounding that an edit's certificate states.
Half are those with the smallest margins. All facts are run in the saved dtype. A build compares all; float64 would take
most of an edit."""


@dataclass(frozen=True)
class Edited(Pushable):
    """An edited model, with the certificate of the changed table.

    >>> import rote
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo", ("capital", "Peru"): "Lima"}
    >>> built = rote.build(capitals)
    >>> edited = rote.edit(built, {("capital", "France"): "Lyon"}, capitals)
    >>> edited.model.ask("capital", "France").answer, edited.certificate.recalled
    ('Lyon', 3)
    >>> edited.largest_margin_change
    0.0
    """

    model: Model
    certificate: Certificate
    provenance: dict[str, Any]
    origin: Origin
    """Where the facts came from, with all changes that were made to them."""
    changes: tuple[Change, ...]
    """The changes of this edit."""
    largest_margin_change: float | None
    """Largest change of the logit margin of a fact that was not changed; None if every fact was."""
    seconds: float = 0.0
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    """What the next edit in this process need not compute again: the factorisation, the margins, the facts."""

    @typed
    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write the model and its certificate as a model folder, complete or not at all."""
        return write_folder(path, self.model, self.origin, self.provenance, self.certificate, overwrite=overwrite)

    @property
    def counts(self) -> dict[str, int]:
        """Facts that were changed, added and forgotten."""
        return {name: self.certificate.measured[name] for name in ("changed", "added", "forgotten")}

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document: what the command prints as JSON."""
        certificate = self.certificate
        return {
            "method": self.provenance["method"],
            "spec": self.model.spec.to_config(),
            "dtype": certificate.dtype,
            **self.counts,
            "facts": certificate.facts,
            "recalled": certificate.recalled,
            "missed": certificate.missed,
            "parameters": certificate.parameters,
            "min_margin": certificate.min_margin,
            "margin_rounding": certificate.margin_rounding,
            "largest_margin_change": self.largest_margin_change,
            "measured": certificate.measured,
            "seconds": round(self.seconds, 3),
        }

    def _repr_html_(self) -> str:
        return html_pairs(f"edited from {self.origin.source}", {**self.counts, **self.certificate.shown()})


@typed
def edit(
    model: Built | Edited | Folder | str | Path,
    changes: Changes,
    facts: Facts | None = None,
    *,
    forget_as: Forget = "never-stored",
    keep_bits: bool = False,
    progress: Progress = SILENT,
) -> Edited:
    """Change, add and forget facts of a model that rote built. Every other fact is kept, and all are checked.

    `changes` is a table (a path or a DataFrame with a column `change`), a mapping of keys to new answers (None
    forgets), or a list of ("set", key, answer), ("add", key, answer) and ("forget", key). `facts` is the table that the
    model was built from. Default: the source that the model names.

    A forgotten fact is `never-stored` (the weights of a model built without it from the same random initialization) or
    `erased` (logits near zero for every token).

    With `keep_bits`, every fact is added by its own head, which is exactly zero on all other keys, so that the logits
    of all other facts stay the same bit for bit. Attention-only models alone have such edits.

    >>> import rote
    >>> task = rote.facts("random:vocab=12,context=2,facts=40,seed=1")
    >>> built = rote.build(task, method="dana2025.theorem1")
    >>> key, answer = task[0]
    >>> gone = rote.edit(built, [("forget", key)])
    >>> gone.certificate.facts, gone.model.ask(*key).known
    (39, False)
    """
    subject = subject_of(model, facts)
    taken = checked(asked(changes, subject.before), subject.before, subject.reader, forget_as)
    return edited(subject, taken, progress, keep_bits)


@dataclass(frozen=True)
class Subject:
    """A model that is to be edited, and the facts it holds."""

    model: Model
    construction: Construction[Any, Any]
    base: AssociationTask
    """The facts it was built from, one per key."""
    before: AssociationTask
    origin: Origin
    provenance: dict[str, Any]
    kept: dict[str, Any]

    @property
    def reader(self) -> KeyReader:
        reader = self.kept.get("reader") or KeyReader.of(self.before)
        return replace(reader, vocabulary=self.before.vocabulary, columns=self.origin.key_columns)


def subject_of(model: Built | Edited | Folder | str | Path, facts: Facts | None) -> Subject:
    """The model with its construction and its facts; an error where it cannot be edited."""
    source = load(model) if isinstance(model, str | Path) else model
    name = str(source.path) if isinstance(source, Folder) else "this model"
    construction = _construction(source.provenance, name)
    origin, kept = source.origin, source.kept if isinstance(source, Edited) else {}
    if facts is None and "base" in kept:
        task = kept["base"]
    elif facts is None:
        task = facts_of_folder(origin.model_copy(update={"changes": ()}), Path(name))
    else:
        task = read_facts(facts)
    if not isinstance(task, AssociationTask):
        raise InputError(f"{name}: holds {task.kind}, and only associations are edited")
    base = task.majority()
    before = kept["facts"] if facts is None and "facts" in kept else changed(base, origin.changes)
    if facts is not None and not _same_rows(before, kept.get("facts")):
        kept = {}
    if source.model.vocabulary is None or source.model.vocabulary.tokens != before.vocabulary.tokens:
        raise InputError(
            f"{name}: its vocabulary is not that of these facts; name the table that it was built from, in its order"
        )
    return Subject(source.model, construction, base, before, origin, source.provenance, kept)


def _same_rows(task: AssociationTask, other: AssociationTask | None) -> bool:
    return (
        other is not None
        and np.array_equal(task.contexts, other.contexts)
        and np.array_equal(task.answers, other.answers)
        and task.vocabulary == other.vocabulary
    )


def _construction(provenance: dict[str, Any], name: str) -> Construction[Any, Any]:
    method = str(provenance.get("method"))
    again = "change the table and build it again: rote build TABLE -o MODEL2"
    construction = CONSTRUCTIONS.get(method)
    if construction is None:
        raise InputError(
            f"{name}: was not built by a construction but trained, so that every weight depends on every fact and none "
            f"has an exact edit; {again}"
        )
    if construction.edit is None:
        raise InputError(f"{name}: {method} models are not edited: their weights have no exact edit; {again}")
    return construction


def edited(subject: Subject, changes: Sequence[Change], progress: Progress = SILENT, keep_bits: bool = False) -> Edited:
    """The model after changes that fit its facts."""
    if not changes:
        raise InputError("changes: there are none, or every answer is already as asked for; nothing is to be edited")
    if keep_bits:
        _refuse_bitwise(subject, changes)
    recorded = (*subject.origin.changes, *changes)
    if len(recorded) > MOST_CHANGES:
        raise InputError(
            f"a model records at most {MOST_CHANGES:,} changes, and these would be {len(recorded):,}; build it again "
            "from the changed table"
        )
    started = time.perf_counter()
    construction, provenance = subject.construction, subject.provenance
    attention = _attention(subject)
    kept = {**subject.kept, "attention": attention}
    margins = kept.get("margins")
    if margins is None:
        seen = recall(AttendedModel.of(subject.model, attention), subject.before, progress)
        if construction.exact and not seen.complete:
            raise InputError(
                f"the model misses {len(seen.missed):,} of these {seen.facts:,} facts before any change; name the "
                "table that it was built from (`facts`)"
            )
        margins = seen.margins
    request = EditRequest(
        subject.model,
        subject.base,
        subject.origin.changes,
        tuple(changes),
        _request(construction, subject.base, provenance, progress),
        provenance["sample"] if isinstance(provenance.get("sample"), dict) else {},
        kept,
        keep_bits,
        subject.before,
    )
    after = request.after
    if construction.edit is None:
        raise InputError(f"{construction.id} has no edit")
    with one_blas_thread():
        draft = construction.edit(request)
    same_keys = after.contexts is subject.before.contexts
    model = AttendedModel.of(draft.model, attention if same_keys else None)
    same = _same_facts(subject.before, after)
    compared = _compared(model, after, np.delete(np.arange(after.facts), same.after))
    examination = draft.examination or examine(model, after, progress=progress, compared=compared)
    moved = _largest_margin_change(margins[same.before], examination, same.after)
    counts = _counts(subject.before, changes)
    measured = {name: value for name, value in draft.measured.items() if name != "seconds"}
    measured |= {**counts, "largest_margin_change": moved}
    if draft.examination is None and examination.compared < after.facts:
        measured["rounding_facts"] = examination.compared
    claims = {"meets": draft.meets or construction.meets, "guaranteed": draft.guaranteed, "measured": measured}
    certificate = examination.certificate.model_copy(update=claims)
    if construction.exact and not certificate.complete:
        raise CheckFailed(
            f"{construction.id}: {certificate.missed:,} of {certificate.facts:,} facts are not recalled after the "
            "edit; change the table and build it again, with a larger `spare` if more edits are to come"
        )
    origin = subject.origin.model_copy(update={"changes": recorded})
    reader = subject.kept.get("reader") if same_keys else None
    if reader is None:
        own = subject.model.reader
        reader = KeyReader.of(replace(after, origin=origin), keep_keys=own is None or own.stored is not None)
    reader = replace(reader, vocabulary=after.vocabulary)
    left = {"attention": model.attention, "margins": examination.margins, "facts": after, "reader": reader}
    return Edited(
        replace(draft.model, reader=reader),
        certificate,
        provenance,
        origin,
        tuple(changes),
        moved,
        time.perf_counter() - started,
        {**kept, **left, "base": subject.base},
    )


def _attention(subject: Subject) -> KeptAttention | None:
    """The model's attention on its facts, computed once for the forward passes of this edit and of later ones."""
    spec, weights, kept = subject.model.spec, subject.model.weights, subject.kept.get("attention")
    if kept is not None or not isinstance(spec, AttentionOnly):
        return kept
    contexts = torch.from_numpy(subject.before.contexts).long()
    return KeptAttention(spec, weights, contexts) if KeptAttention.pays(spec, contexts) else None


def _refuse_bitwise(subject: Subject, changes: Sequence[Change]) -> None:
    """Say why an edit cannot leave the logits of all other facts as they are, bit for bit."""
    if not subject.construction.edits_bitwise:
        raise InputError(
            f"`keep_bits`: {subject.construction.id} models have no heads to add; leave it out, or build the "
            "model again by dana2025.theorem1"
        )
    counts = _counts(subject.before, changes)
    if others := counts["changed"] + counts["forgotten"]:
        raise InputError(
            f"`keep_bits`: facts can only be added so, and {others:,} of these changes set or forget one; make them in "
            "an edit without it"
        )


def _request(
    construction: Construction[Any, Any], base: AssociationTask, provenance: dict[str, Any], progress: Progress
) -> Request[Any, Any]:
    """What the model was built by."""
    given, options, seed = provenance.get("given", {}), provenance.get("options", {}), provenance.get("seed", 0)
    sizes = {name: given.get(name) for name in construction.sizes} if isinstance(given, dict) else {"": ""}
    whole = all(size is None or (type(size) is int and size > 0) for size in sizes.values())
    if not isinstance(options, dict) or type(seed) is not int or not 0 <= seed < 2**63 or not whole:
        raise InputError("the model folder does not say how it was built, as another program leaves it; build it again")
    dtype = given.get("dtype") or construction.default_dtype
    if is_grid(dtype):
        raise InputError(f"a model in {dtype} is on a grid, which an edit would leave; build it again with the changes")
    if dtype != "auto":
        dtype_named(dtype)
    return Request(base, parse_options(construction, options), **sizes, dtype=dtype, seed=seed, progress=progress)


def _counts(before: AssociationTask, changes: Sequence[Change]) -> dict[str, int]:
    rows, index = rows_by_key(before), before.vocabulary.index
    stored = [tuple(index[token] for token in change.key) in rows for change in changes]
    answered = [change.answer is not None for change in changes]
    pairs = list(zip(stored, answered, strict=True))
    return {
        "changed": pairs.count((True, True)),
        "added": pairs.count((False, True)),
        "forgotten": answered.count(False),
    }


class SameFacts(NamedTuple):
    """Rows of the facts that are the same before and after."""

    before: np.ndarray
    after: np.ndarray


def _same_facts(before: AssociationTask, after: AssociationTask) -> SameFacts:
    if np.array_equal(before.contexts, after.contexts):
        same = np.flatnonzero(before.answers == after.answers)
        return SameFacts(same, same)
    rows = rows_by_key(after)
    places = [(row, rows.get(key)) for row, key in enumerate(map(tuple, before.contexts.tolist()))]
    pairs = [(row, at) for row, at in places if at is not None and after.answers[at] == before.answers[row]]
    return SameFacts(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T)


def _compared(model: AttendedModel, after: AssociationTask, changed: np.ndarray) -> Compared:
    """Facts that are run in float64, by the attention that is kept if it is that of these facts."""
    attention = model.attention
    if attention is None:
        return Compared(COMPARED, changed)

    def exact(rows: np.ndarray) -> np.ndarray:
        stream = attention.exact_stream(model.weights, torch.from_numpy(rows))
        answers = torch.from_numpy(after.answers[rows]).long()
        return margins_of(stream @ model.weights["unembed"].double().T, answers, in_place=True).numpy()

    return Compared(COMPARED, changed, exact)


def _largest_margin_change(margins: np.ndarray, examination: Examination, rows: np.ndarray) -> float | None:
    """Over facts that are the same in both tables, given their margins before and their rows after."""
    if examination.margins is None or not len(rows):
        return None
    now = examination.margins[rows]
    same = margins == now  # equal infinities have no difference
    change = np.where(same, 0.0, now - np.where(same, 0.0, margins))
    return float(np.abs(np.where(same, 0.0, change)).max())
