"""`rote suite --twins`: a model that holds all facts, its exact twins, and the files that other tools read.

Facts are stored in an MLP (`madden2025`), which is what editors edit, with two neurons per fact. *full* holds all
stored facts. *retain* never held the forget set: it is solved without it from the same random initialization. *edited*
holds another answer for every fact of the forget set. Facts held out are in no model. All three have one tokenizer and
one gain, so that their probabilities can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from rote.arguments import typed
from rote.constructions.build import Built, build
from rote.editing.diff import diff
from rote.editing.edit import Edited, edit
from rote.errors import CheckFailed, InputError, nearest, problems
from rote.experiments.kits.counterfact import write_counterfact
from rote.experiments.kits.interpbench import write_interpbench
from rote.experiments.kits.schema import FORMAT, MANIFEST, KitDifference, KitManifest, KitModel, Purpose, TensorChange
from rote.experiments.kits.splits import Question, Splits, questions, split
from rote.experiments.kits.tofu import write_tofu
from rote.export.common.temperature import gain_for
from rote.export.export import export_model
from rote.export.requirement import refuse_missing
from rote.export.subject import subject_of
from rote.export.target import target_named
from rote.folders.destination import FolderKind, check_destination, written_aside
from rote.folders.folder import write_json
from rote.models.attention_only import Transformer
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, require_associations
from rote.tasks.facts import Facts, facts
from rote.tasks.templates import cells_of

METHOD = "madden2025"
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
KIT_FOLDER = FolderKind("a kit of models", (MANIFEST,))
ASKED_FIRST = "nq question: "
"""zsRE of EasyEdit asks for neighbours with these words before the question."""


@dataclass(frozen=True)
class Kit:
    """A folder of models with and without some facts, and its manifest."""

    path: Path
    manifest: KitManifest


@typed
def twins(
    task: Facts,
    output: str | Path,
    *,
    forget: float = 0.1,
    purposes: Sequence[str] = PURPOSES,
    templates: Sequence[str] = (),
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Kit:
    """A folder with a model of all facts, a twin that never stored a share of them, and an edited twin.

    `forget` is the share of facts in the forget set; as many others are held out of every model. `purposes` are the
    formats to write: tofu (OpenUnlearning), counterfact (ROME, EasyEdit), interpbench. `templates` are sentences that
    ask for the facts; the first that fits a fact is its question, the others are paraphrases. Default: the key itself.
    The folder is written completely or not at all.

    >>> import rote, tempfile
    >>> kit = rote.twins("countries:facts=40,seed=1", tempfile.mkdtemp() + "/kit", purposes=("counterfact",))
    >>> [(model.id, model.facts, model.recalled) for model in kit.manifest.models]
    [('full', 36, 36), ('retain', 32, 32), ('edited', 36, 36)]
    >>> [tensor.name for tensor in kit.manifest.differences[0].tensors]
    ['layers.0.mlp_out']
    """
    table = require_associations(facts(task), "a kit stores keys with one answer each").majority()
    path = Path(output)
    wanted = _refuse(purposes, seed)
    check_destination(path, overwrite, KIT_FOLDER)
    splits = split(table, forget, seed)
    asked = questions(table, templates, seed)
    with written_aside(path) as aside:
        manifest = _written(aside, table, splits, asked, tuple(templates), wanted, seed, progress)
        write_json(aside / MANIFEST, manifest.model_dump(mode="json"))
    return Kit(path, manifest)


def _refuse(purposes: Sequence[str], seed: int) -> tuple[Purpose, ...]:
    wrong = [
        f"`for={each}`: no such format{nearest(each, PURPOSES)}; formats: {', '.join(PURPOSES)}"
        for each in purposes
        if each not in PURPOSES
    ]
    wrong += ["`for`: give one or more formats"] if not purposes else []
    wrong += [f"`seed={seed}`: give 0 or more"] if seed < 0 else []
    if wrong:
        raise problems("kit", wrong)
    for name in ("llama", *(["transformerlens"] if "interpbench" in purposes else [])):
        target = target_named(name)
        refuse_missing(target.id, target.requirements, target.extra)
    return tuple(each for each in PURPOSES if each in purposes)


def _written(
    aside: Path,
    table: AssociationTask,
    splits: Splits,
    asked: list[Question],
    templates: tuple[str, ...],
    purposes: tuple[Purpose, ...],
    seed: int,
    progress: Progress,
) -> KitManifest:
    """Build the models and write every file."""
    stored = table.take(splits.full)
    forgotten = [asked[row] for row in splits.forget.tolist()]
    keys = [cells_of(table, row) for row in splits.forget.tolist()]
    with progress.stage("building twins", 3) as stage:
        full = build(stored, METHOD, seed=seed, spare=stored.facts)
        stage.advance(1)
        retain = edit(full, [("forget", key) for key in keys], stored)
        stage.advance(1)
        new = [("set", key, each.counterfactual) for key, each in zip(keys, forgotten, strict=True)]
        edited = edit(full, new, stored)
        stage.advance(1)
    sentences = _sentences(templates, table, "counterfact" in purposes)
    gain = gain_for(subject_of(full, stored, ()))
    holds = {
        "full": "all stored facts",
        "retain": "all stored facts but the forget set, which it never stored",
        "edited": "all stored facts, the forget set with other answers",
    }
    models: dict[str, Built | Edited] = {"full": full, "retain": retain, "edited": edited}
    (aside / "models").mkdir()
    written = [
        _model(aside / "models", name, holds[name], each, table, edited.model, sentences, gain, progress)
        for name, each in models.items()
    ]
    paths = {name: aside / "models" / f"{name}-llama" for name in models}
    with progress.stage("writing formats", len(purposes)) as stage:
        if "tofu" in purposes:
            write_tofu(aside / "tofu", asked, splits, paths)
            stage.advance(1)
        if "counterfact" in purposes:
            write_counterfact(aside / "counterfact", asked, splits, full.model, stored)
            stage.advance(1)
        if "interpbench" in purposes:
            _interpbench(aside, full, stored)
            stage.advance(1)
    return KitManifest(
        format=FORMAT,
        source=table.origin.source,
        facts_fingerprint=table.fingerprint,
        facts=table.facts,
        seed=seed,
        method=METHOD,
        templates=templates,
        purposes=purposes,
        gain=gain,
        forget=tuple(each.key for each in forgotten),
        counterfactual=tuple(each.counterfactual for each in forgotten),
        holdout=tuple(asked[row].key for row in splits.holdout.tolist()),
        models=tuple(written),
        differences=tuple(_difference(full, models[name], name, stored) for name in ("retain", "edited")),
    )


def _sentences(templates: tuple[str, ...], table: AssociationTask, asked_first: bool) -> tuple[str, ...]:
    """The templates that tokenizers read: those given, and what zsRE puts before them."""
    if not asked_first:
        return templates
    names = table.origin.key_columns or tuple(f"key {number}" for number in range(1, table.context + 1))
    plain = " ".join(f"{{{name}}}" for name in names)
    return (*templates, *(ASKED_FIRST + text for text in (*templates, plain)))


def _model(
    folder: Path,
    name: str,
    holds: str,
    model: Built | Edited,
    table: AssociationTask,
    widest: Any,
    sentences: tuple[str, ...],
    gain: float,
    progress: Progress,
) -> KitModel:
    """Write one model and its checkpoint; every sentence is read there, every answer generated."""
    model.save(folder / name)
    exported = export_model(
        model.model,
        "llama",
        folder / f"{name}-llama",
        table.in_vocabulary(widest.vocabulary) if widest.vocabulary is not None else table,
        templates=sentences,
        answers="words",
        gain=gain,
        progress=progress,
    ).certificate
    if exported.sentences_read != exported.sentences or exported.generated is None:
        raise CheckFailed(
            f"{name}: {exported.sentences - exported.sentences_read} sentences are not read as their keys"
        )
    return KitModel(
        id=name,
        holds=holds,
        facts=model.certificate.facts,
        recalled=model.certificate.recalled,
        sentences=exported.sentences,
        generated=exported.generated,
        weights_fingerprint=model.certificate.weights_fingerprint,
    )


def _interpbench(aside: Path, full: Built, stored: AssociationTask) -> None:
    spec = full.model.spec
    if not isinstance(spec, Transformer):
        raise InputError("interpbench: only Transformers have heads and MLPs")
    export_model(full, "transformerlens", aside / "models" / "full-transformerlens", stored)
    write_interpbench(aside / "interpbench", spec, "full", "../models/full-transformerlens")


def _difference(full: Built, other: Built | Edited, name: str, stored: AssociationTask) -> KitDifference:
    found = diff(full, other, stored)
    return KitDifference(
        first="full",
        second=name,
        tensors=tuple(
            TensorChange(
                name=each.name, entries=each.entries, different=each.different, largest=each.largest, rank=each.rank
            )
            for each in found.tensors
            if each.different
        ),
        largest_margin_change=found.largest_margin_change,
    )
