"""Suites: sets of models that store the same facts at several loads, shapes and methods, with what is stored where.

Load is facts divided by capacity, the H k + d associations guaranteed by Theorem 1 of Dana et al. 2025. The facts are
fixed and the number of heads follows from the load. Above a load of 1 only `rote.readout` finds a model: it fits where
Theorem 1 solves. Models of `madden2025` have one head and hold their facts in an MLP; their capacity is its neurons.
Every statement about a model is measured on it, fact by fact.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from rote.arguments import typed
from rote.constructions.build import Built, build
from rote.errors import CheckFailed, InputError, WriteFailed, problems
from rote.experiments.suite_schema import (
    FORMAT,
    MANIFEST,
    SCHEMA,
    TRUTH,
    FactTruth,
    ModelTruth,
    Part,
    Rejected,
    SuiteManifest,
    SuiteModel,
)
from rote.export.export import export_model
from rote.export.requirement import refuse_missing
from rote.export.target import target_named
from rote.folders.destination import FolderKind, check_destination, written_aside
from rote.folders.folder import write_json
from rote.folders.layout import SOURCE
from rote.measure.ground_truth import ablations, ground_truth
from rote.models.attention_only import Transformer
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, require_associations
from rote.tasks.facts import Facts, facts

SOLVED: dict[str, tuple[str, ...]] = {
    "dana2025.theorem1": ("layers.0.output", "unembed"),
    "rote.readout": ("layers.0.output", "unembed"),
    "madden2025": ("layers.0.mlp_out",),
}
"""Methods whose models have heads, with the tensors that the answers determine; all others are random."""
METHODS = ("dana2025.theorem1", "rote.readout")
"""Methods of a suite by default."""
LARGEST_LOAD = {"dana2025.theorem1": 1.0, "madden2025": 1.0}
"""Largest load with a guarantee; beyond it the method is not tried."""
LOADS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
SHAPES = ((12, 4), (20, 5), (32, 8))
"""Pairs of dim and head_dim."""
SUITE_FOLDER = FolderKind("a suite of models", (MANIFEST, SCHEMA))


@dataclass(frozen=True)
class SuiteCell:
    method: str
    dim: int
    head_dim: int
    load: float
    seed: int

    @property
    def id(self) -> str:
        short = self.method.split(".")[-1]
        return f"{short}-d{self.dim}-k{self.head_dim}-load{self.load:g}-seed{self.seed}"

    def heads(self, facts: int) -> int:
        """The number whose capacity H k + d is nearest above facts / load."""
        return max(1, math.ceil((facts / self.load - self.dim) / self.head_dim))


@dataclass(frozen=True)
class Suite:
    """A folder of models, and its manifest."""

    path: Path
    manifest: SuiteManifest


@typed
def suite(
    task: Facts,
    output: str | Path,
    *,
    loads: Sequence[float] = LOADS,
    shapes: Sequence[tuple[int, int]] = SHAPES,
    methods: Sequence[str] = METHODS,
    formats: Sequence[str] = (),
    seeds: int = 1,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Suite:
    """A folder with one model per method, shape and load, and a manifest of what is stored where.

    `formats` are export targets: every model is also written in each of them. The folder is written completely or not
    at all. Combinations without a model are in the manifest with the reason.

    >>> import rote, tempfile
    >>> where = tempfile.mkdtemp() + "/suite"
    >>> suite = rote.suite("random:vocab=9,context=2,facts=40,seed=1", where, loads=(0.5, 1.0), shapes=((8, 4),))
    >>> [model.id for model in suite.manifest.models][:2]
    ['theorem1-d8-k4-load0.5-seed0', 'theorem1-d8-k4-load1-seed0']
    """
    table = require_associations(facts(task), "a suite stores keys with one answer each")
    path = Path(output)
    _refuse(loads, shapes, methods, formats, seeds)
    check_destination(path, overwrite, SUITE_FOLDER)
    cells = [
        SuiteCell(method, dim, head_dim, load, seed)
        for method in methods
        for dim, head_dim in shapes
        for load in loads
        for seed in range(seeds)
        if load <= LARGEST_LOAD.get(method, math.inf)
    ]
    models, rejected = [], []
    with written_aside(path) as aside:
        with progress.stage("building models", len(cells)) as stage:
            for cell in cells:
                try:
                    models.append(_made(cell, table, aside / cell.id, formats))
                except WriteFailed:
                    raise
                except (InputError, CheckFailed) as error:
                    shutil.rmtree(aside / cell.id, ignore_errors=True)
                    rejected.append(Rejected(id=cell.id, reason=str(error)))
                stage.advance(1)
        if not models:
            reasons = "\n".join(f"  - {each.id}: {each.reason}" for each in rejected)
            raise CheckFailed(f"no model of this suite could be built; give other `loads` or `shapes`\n{reasons}")
        manifest = SuiteManifest(
            format=FORMAT,
            source=table.origin.source,
            facts_fingerprint=table.fingerprint,
            facts=table.facts,
            models=tuple(models),
            rejected=tuple(rejected),
        )
        write_json(aside / MANIFEST, manifest.model_dump(mode="json"))
        (aside / SCHEMA).write_text(shipped_schema(), encoding="utf-8")
    return Suite(path, manifest)


def shipped_schema() -> str:
    return files("rote.experiments").joinpath("suite.schema.json").read_text(encoding="utf-8")


def _made(cell: SuiteCell, table: AssociationTask, folder: Path, formats: Sequence[str]) -> SuiteModel:
    """Build one model, take it apart and write it."""
    in_mlp = cell.method == "madden2025"
    heads = 1 if in_mlp else cell.heads(table.facts)
    options: dict[str, Any] = {"width": math.ceil(table.facts / cell.load)} if in_mlp else {}
    built = build(table, cell.method, dim=cell.dim, head_dim=cell.head_dim, heads=heads, seed=cell.seed, **options)
    spec, certificate = built.model.spec, built.certificate
    if not isinstance(spec, Transformer) or certificate.min_margin is None or certificate.margin_rounding is None:
        raise TypeError("methods of suites make Transformers of associations")
    built.save(folder / SOURCE)
    for name in formats:
        export_model(built, name, folder / name, table)
    truth = ModelTruth(format=FORMAT, model=cell.id, facts=tuple(_truths(built, table)))
    (folder / TRUTH).write_text(truth.model_dump_json() + "\n", encoding="utf-8")
    solved = SOLVED[cell.method]
    return SuiteModel(
        id=cell.id,
        method=cell.method,
        seed=cell.seed,
        load=cell.load,
        capacity=spec.width or spec.heads * spec.head_dim + spec.dim,
        spec=spec.to_config(),
        parameters=certificate.parameters,
        dtype=certificate.dtype,
        facts=certificate.facts,
        recalled=certificate.recalled,
        min_margin=certificate.min_margin,
        margin_rounding=certificate.margin_rounding,
        weights_fingerprint=certificate.weights_fingerprint,
        drawn=tuple(name for name in built.model.weights if name not in solved),
        solved=solved,
        formats=tuple(formats),
    )


def _truths(built: Built, table: AssociationTask) -> Iterator[FactTruth]:
    tokens = table.vocabulary.tokens
    without_head, without_mlp = ablations(built.model, table)
    for part in ground_truth(built.model, table):
        for index, row in enumerate(range(part.rows.start, part.rows.stop)):
            fact, heads = table[row], part.heads[index]
            mlps = [] if part.mlps is None else part.mlps[index].tolist()
            to_answer, to_nearest = part.skip[index].tolist()
            yield FactTruth(
                key=tuple(fact.key),
                answer=fact.answer,
                nearest=tokens[int(part.nearest[index])],
                margin=float(part.margins[index]),
                skip=Part(to_answer=to_answer, to_nearest=to_nearest),
                heads_to_answer=tuple(map(tuple, heads[:, :, 0].tolist())),
                heads_to_nearest=tuple(map(tuple, heads[:, :, 1].tolist())),
                mlps=tuple(Part(to_answer=answer, to_nearest=nearest) for answer, nearest in mlps),
                heads_ablated=tuple(map(tuple, without_head[row].tolist())),
                mlps_ablated=() if without_mlp is None else tuple(without_mlp[row].tolist()),
                held_by=tuple(() if mlps else tuple(layer.nonzero()[0].tolist()) for layer in part.holds[index]),
            )


def _refuse(
    loads: Sequence[float],
    shapes: Sequence[tuple[int, int]],
    methods: Sequence[str],
    formats: Sequence[str],
    seeds: int,
) -> None:
    """Raise all problems with the arguments at once, before any work."""
    wrong = [f"`loads`: {load:g} is not above 0" for load in loads if not load > 0]
    wrong += [
        f"`shapes`: dim {dim} and head_dim {head_dim}; both are 1 or more" for dim, head_dim in shapes
        if min(dim, head_dim) < 1
    ]  # fmt: skip
    wrong += [
        f"`methods`: {method} is not one of {', '.join(SOLVED)}, whose tensors are known to hold the facts"
        for method in methods
        if method not in SOLVED
    ]
    wrong += [f"`{name}`: give one or more" for name, given in (("loads", loads), ("shapes", shapes)) if not given]
    wrong += ["`methods`: give one or more"] if not methods else []
    wrong += [f"`seeds={seeds}`: give 1 or more"] if seeds < 1 else []
    if wrong:
        raise problems("suite", wrong)
    for name in formats:
        target = target_named(name)
        refuse_missing(target.id, target.requirements, target.extra)
