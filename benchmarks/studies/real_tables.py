"""Real tables through everything rote does: what theory asks, what a plan says, the smallest models built and trained.

Of each table the plan is made, and of the ways that it sizes those with the fewest parameters (of any architecture, and
of attention alone) and the fewest bytes are built; then the smallest attention-only model is searched that training
makes recall every fact. Every model is kept as a folder and verified from it. In the shape of the trained model, what
Theorem 1 promises and what building stores there is found as well. All that was found stays in a folder: an
interrupted study resumes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rote.arguments import typed
from rote.experiments.capacity import capacity
from rote.experiments.files import write_json
from rote.experiments.sizing.built import planned_builds
from rote.experiments.sizing.plan import plan
from rote.experiments.sizing.row import PlanRow
from rote.experiments.sizing.theory import smallest_by_theory, theorem1_guarantee
from rote.folders import read_folder, verify
from rote.folders.folder import written_bytes
from rote.models.attention_only import AttentionOnly
from rote.models.spec import in_words
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, require_associations
from rote.tasks.facts import facts
from rote.tasks.shape import TaskShape
from studies.smallest_trained import SmallestTrained, smallest_trained

BUILT_CAPACITY = "dana2025.theorem1"
"""The construction whose capacity in the trained model's shape is found."""


@dataclass(frozen=True)
class TableSettings:
    """A table of the study, and how its smallest trained model is searched."""

    name: str
    parameters: int
    """Budget at which dimensions are compared, and where the search for heads starts."""
    dims: tuple[int, ...]
    short: int
    """Steps of that comparison."""
    tries: int = 12
    seeds: int = 2
    protocol: dict[str, Any] = field(default_factory=dict)
    """Fields of the protocol `best` that are changed."""
    also: dict[str, str | None] = field(default_factory=dict)
    """Ways that are built although the plan gives them no size, since only building tells, with their dtypes."""


TABLES = (
    TableSettings("countries", 5_500, (2, 3), 300, protocol={"steps": 6000, "focus": 0.0}),
    TableSettings(
        "airports", 30_000, (10, 13, 16), 800, tries=3,
        protocol={"steps": 10_000, "batch": 986, "focus": 0.0, "polish": 300}, also={"dana2025.remark2": None},
    ),
    TableSettings(
        "wordnet", 315_000, (10,), 100, tries=1, protocol={"steps": 200, "batch": 1024, "focus": 0.0},
        also={"dana2025.theorem1": None, "dana2025.proposition3": "float64", "kajitsuka2025.embedding_table": None},
    ),
)  # fmt: skip
"""Budgets are 2 bits per parameter, where that pays for embeddings; steps are what minutes of one core pay for. In as
much time small batches of airports recalled more than large ones: .76 with a quarter of the contexts at a step against
.57 with all, and .66 with an eighth against .60 with a quarter where focus was 0 (20 s, seed 100). Focus gives facts
up: with .3, a model of 2 bits per parameter ended at .984 after 12,000 steps; plain cross-entropy recalls all."""


@dataclass(frozen=True)
class VerifiedModel:
    """A model folder, verified against its table."""

    id: str
    """The way it was built, or `training`."""
    model: str
    """Architecture and sizes in words."""
    architecture: str
    parameters: int
    bytes: int
    dtype: str
    facts: int
    recalled: int
    verified: bool
    """Whether every statement of its certificate was made again from tensors and facts."""

    @property
    def whole(self) -> bool:
        return self.verified and self.recalled == self.facts


@dataclass(frozen=True)
class RealTable:
    """What was found of one table."""

    settings: TableSettings
    shape: TaskShape
    ceiling: float
    """Recall that any model can reach: below one where keys contradict each other."""
    theory: tuple[PlanRow, ...]
    """The smallest model that each result gives for the table's sizes."""
    built: tuple[VerifiedModel, ...]
    trained: SmallestTrained
    trained_model: VerifiedModel | None
    """The smallest trained model that recalls every fact; nothing where none does."""
    guaranteed: int | None
    """Facts that Theorem 1 promises the shape of the trained model, or of the one that recalls most."""
    stored: int
    """Facts of the table that building stores in that shape."""

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def bits(self) -> float:
        return self.shape.bits

    def smallest_built(self, architecture: str | None = None) -> VerifiedModel:
        """Fewest parameters of the built models that recall every fact, of all architectures or of one."""
        whole = [model for model in self.built if model.whole and architecture in (None, model.architecture)]
        return min(whole, key=lambda model: model.parameters)

    @property
    def fewest_bytes(self) -> VerifiedModel:
        return min((model for model in self.built if model.whole), key=lambda model: model.bytes)

    def asked(self, id: str) -> int:
        """Parameters of the smallest model that a result gives."""
        return min(row.parameters for row in self.theory if row.id == id and row.parameters is not None)


@typed
def real_tables(
    folder: str | Path,
    *,
    tables: Sequence[TableSettings] = TABLES,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> list[RealTable]:
    """Take every table through plan, build, train and capacity; what `folder` holds already is not made again."""
    return [real_table(settings, Path(folder) / settings.name, workers, progress) for settings in tables]


def real_table(settings: TableSettings, folder: Path, workers: int | None, progress: Progress) -> RealTable:
    task = require_associations(facts(settings.name), "the study is of tables of associations")
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        PlanRow.model_validate(row)
        for row in kept(
            folder / "plan.json",
            lambda: {"rows": [row.model_dump(mode="json") for row in plan(task, progress=progress)]},
        )["rows"]
    ]
    builds = {planned.id: planned for planned in planned_builds(task)}
    built = [
        _verified(
            id, folder / id, task,
            lambda path, id=id: builds[id].build(task, settings.also.get(id), progress).save(path),
        )
        for id in _to_build(rows, settings.also)
    ]  # fmt: skip
    trained = smallest_trained(
        task, folder / "trained", parameters=settings.parameters, dims=settings.dims, short=settings.short,
        tries=settings.tries, seeds=settings.seeds, workers=workers, progress=progress, **settings.protocol,
    )  # fmt: skip
    model = None if trained.folder is None else _verified("training", trained.folder, task, lambda path: path)
    sizes = f"{trained.spec.dim}-{trained.spec.head_dim}-{trained.spec.heads}"
    stored = kept(folder / f"capacity-{sizes}.json", lambda: _stored(trained.spec, task, progress))
    return RealTable(
        settings, task.shape, task.ceiling, tuple(smallest_by_theory(task.shape)), tuple(built), trained, model,
        theorem1_guarantee(trained.spec), stored["recalled"],
    )  # fmt: skip


def kept(path: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A JSON document from a file, which is made and written first where there is none."""
    if not path.exists():
        write_json(path, make())
    return json.loads(path.read_text(encoding="utf-8"))


def _to_build(rows: Sequence[PlanRow], also: Iterable[str]) -> list[str]:
    """Ways that the plan sizes without reserve: fewest parameters, the same of attention alone, fewest bytes."""
    sized = [row for row in rows if row.section == "builds" and not row.note]
    attention = [row for row in sized if (row.spec or {}).get("architecture") == AttentionOnly.architecture]
    chosen = [
        *(min(group, key=lambda row: row.parameters or 0) for group in (sized, attention) if group),
        *([min(sized, key=lambda row: row.bytes or 0)] if sized else []),
    ]
    return list(dict.fromkeys([*(row.id for row in chosen), *also]))


def _verified(id: str, path: Path, task: AssociationTask, make: Callable[[Path], Path]) -> VerifiedModel:
    """A model from its folder, which is made where there is none, and verified once."""

    def seen() -> dict[str, Any]:
        stored = read_folder(path if path.exists() else make(path))
        verification = verify(stored, task)
        return asdict(
            VerifiedModel(
                id, in_words(stored.model.spec), stored.model.spec.architecture, stored.model.parameters,
                written_bytes(stored.path), stored.model.dtype_name, task.facts,
                task.facts - len(verification.missed), verification.holds,
            )
        )  # fmt: skip

    return VerifiedModel(**kept(path.with_name(f"{path.name}.verified.json"), seen))


def _stored(spec: AttentionOnly, task: AssociationTask, progress: Progress) -> dict[str, Any]:
    found = capacity(spec, methods=[BUILT_CAPACITY], task=task, progress=progress)
    return {"method": BUILT_CAPACITY, "recalled": found.rows[0].recalled, "spec": spec.to_config()}
