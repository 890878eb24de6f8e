"""The rows of a plan that a build would confirm: one for every construction that stores this kind of task.

Sizes are chosen by the constructions' own code. If the built size may differ (a random initialization may miss facts, a
fit may need more heads, whole numbers are packed), the size is an estimate and marked so. The methods that are expected
to be smallest are built as long as `BUILD_SECONDS` of CPU time last; `everything` builds all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rote.constructions import CONSTRUCTIONS
from rote.constructions.build import Built, build
from rote.constructions.choice import expected_size
from rote.constructions.construction import Construction, Request, parse_options
from rote.errors import CheckFailed, InputError
from rote.experiments.sizing.folder_sizes import FolderSizes
from rote.experiments.sizing.row import PlanRow
from rote.folders.folder import folder_files, tensor_bytes
from rote.folders.layout import WEIGHTS
from rote.models.spec import Dtype, in_words
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, TokenTask
from rote.theory import RESULTS

BUILD_SECONDS = 1.5
"""CPU seconds, as estimated, for building the rows that are expected to be smallest."""


@dataclass(frozen=True)
class PlannedBuild:
    """A construction, with the options that distinguish its row of a plan."""

    id: str
    construction: Construction[Any, Any]
    options: dict[str, Any] = field(default_factory=dict)

    def build(self, task: TokenTask, dtype: Dtype | None, progress: Progress = SILENT) -> Built:
        return build(task, self.construction.id, dtype=dtype, progress=progress, **self.options)

    def request(self, task: TokenTask, dtype: Dtype | None) -> Request[Any, Any]:
        """The request by which the model would be built."""
        return Request(
            task, parse_options(self.construction, self.options), dtype=dtype or self.construction.default_dtype
        )


def planned_builds(task: TokenTask) -> list[PlannedBuild]:
    """Every construction of such tasks, and Theorem 1 with query-key matrices of rank one (Remark 2)."""
    builds = [
        PlannedBuild(id, construction)
        for id, construction in CONSTRUCTIONS.items()
        if isinstance(task, construction.tasks)
    ]
    if isinstance(task, AssociationTask):
        # Rank one leaves no room for the gates of the fast solver, so the dense one limits the number of facts.
        theorem1 = CONSTRUCTIONS["dana2025.theorem1"]
        slower = replace(theorem1, cpu_seconds=None, quick_facts=2_500)
        builds.append(PlannedBuild("dana2025.remark2", slower, {"rank_one": True}))
    return builds


def built_rows(
    task: TokenTask, dtype: Dtype | None, everything: bool = False, progress: Progress = SILENT
) -> list[PlanRow]:
    """The row of every construction: sized, built where that is cheap and the model is small, or rejected."""
    sizes = FolderSizes(task)
    planned = [(build, expected_row(build, task, dtype, sizes)) for build in planned_builds(task)]
    rows = [row for _, row in planned if row.section != "estimates"]
    uncertain = sorted(
        ((build, row) for build, row in planned if row.section == "estimates"), key=lambda pair: pair[1].bytes or 0
    )
    left = BUILD_SECONDS
    with progress.stage("methods", len(uncertain)) as stage:
        for build, row in uncertain:
            stage.describe(build.id)
            seconds = build.construction.expected_seconds(build.request(task, dtype))
            if everything or seconds <= left:
                left -= seconds
                rows.append(built_row(build, task, dtype, progress))
            else:
                rows.append(row)
            stage.advance()
    return rows


def expected_row(planned: PlannedBuild, task: TokenTask, dtype: Dtype | None, sizes: FolderSizes) -> PlanRow:
    """The row of one construction without building it: its size, an estimate, or why it is rejected."""
    construction = planned.construction
    try:
        size = expected_size(construction, planned.request(task, dtype))
    except (InputError, CheckFailed) as error:
        return _rejected(planned, str(error))
    if size is None:
        return _row(planned, section="estimates", possible=True, model="not sized", reason="only building tells")
    provenance = {
        "method": construction.id,
        "source": construction.source,
        "seed": 0,
        "options": parse_options(construction, planned.options).model_dump(mode="json"),
    }
    return _row(
        planned,
        section="estimates" if size.estimated else "builds",
        possible=True,
        model="deep ReLU network" if size.spec is None else in_words(size.spec),
        spec=None if size.spec is None else size.spec.to_config(),
        parameters=size.parameters,
        weights=size.weights,
        bytes=sizes.complete(size, dtype or construction.default_dtype, provenance),
        reason=f"estimated: {size.estimated}" if size.estimated else "the build ends in this size",
        note="" if construction.exact else "most facts, not all",
    )


def built_row(planned: PlannedBuild, task: TokenTask, dtype: Dtype | None, progress: Progress = SILENT) -> PlanRow:
    """The row of one construction that is built: the size of its folder, or why it is rejected."""
    try:
        built = planned.build(task, dtype, progress)
    except (InputError, CheckFailed) as error:
        return _rejected(planned, str(error))
    model, certificate = built.model, built.certificate
    files = folder_files(model, built.origin, built.provenance, certificate)
    weights = tensor_bytes(files[WEIGHTS])
    packed = f", packed from {model.bytes:,} bytes" if weights < model.bytes else ""
    return _row(
        planned,
        section="builds",
        possible=True,
        model=in_words(model.spec),
        spec=model.spec.to_config(),
        parameters=model.parameters,
        weights=weights,
        bytes=sum(map(len, files.values())),
        reason=f"built: {certificate.recalled:,} of {certificate.facts:,} recalled in {certificate.dtype}{packed}",
        note="" if certificate.complete else f"misses {certificate.missed:,} facts",
    )


def _rejected(planned: PlannedBuild, reason: str) -> PlanRow:
    return _row(
        planned,
        section="rejected",
        possible=False,
        model="none",
        reason=reason.removeprefix(f"{planned.construction.id}: "),
    )


def _row(planned: PlannedBuild, **fields: Any) -> PlanRow:
    meets = RESULTS.get(planned.id if planned.options else planned.construction.meets or "")
    return PlanRow(
        id=planned.id,
        kind="lower" if meets is None else meets.kind,
        construction=planned.construction.id,
        options=planned.options,
        source=planned.construction.source if meets is None else meets.source,
        **fields,
    )
