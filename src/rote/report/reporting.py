"""A report on models and runs: the one call behind `rote report`, `rote demo` and `rote reproduce`."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rote.charts import BarChart
from rote.display import ResultTable
from rote.errors import InputError, RoteError
from rote.experiments.ledgers.file import foreign
from rote.experiments.ledgers.ledger import FILE
from rote.folders import Folder, read_folder, verify
from rote.folders.layout import CONFIG
from rote.folders.named_facts import facts_of_folder
from rote.measure.head_use import HeadTable, head_table
from rote.measure.inspection import Inspection, inspect
from rote.measure.precision import recall_by_precision
from rote.models.attention_only import AttentionOnly, Transformer
from rote.progress import SILENT, Progress
from rote.report.build_command import flags_given
from rote.report.document import ChartElement, Commands, Element, Pairs, Report, Section, Subsection, Text
from rote.report.model_charts import (
    attention_chart,
    contributions_chart,
    heads_chart,
    layers_chart,
    margins_chart,
    precision_chart,
    specialisation_chart,
    without_chart,
)
from rote.report.plan_charts import growth_charts
from rote.report.run_section import run_section
from rote.report.run_view import RunView
from rote.tasks import AssociationTask, Task
from rote.version import __version__
from rote.words import command

WEAKEST = 12
"""Facts and heads that a table of a report shows."""
MOST_FACTS = 60_000
"""Facts up to which a report runs the model again and again: for its heads, for its margins, with fewer bits."""


def model_section(folder: Folder, task: Task | None, progress: Progress = SILENT) -> Section:
    """Everything about one model; without its facts, what the folder itself can say."""
    certificate, spec = folder.certificate, folder.model.spec
    tiles = {"parameters": f"{folder.model.parameters:,}"}
    if certificate is not None:
        tiles = {
            "facts recalled": f"{certificate.recalled:,} of {certificate.facts:,}",
            **tiles,
            **({} if certificate.min_margin is None else {"smallest margin": f"{certificate.min_margin:.4g}"}),
            **(
                {}
                if certificate.bits_per_parameter is None
                else {"bits per parameter": f"{certificate.bits_per_parameter:.3g}"}
            ),
        }
    subsections = [_what(folder), *_certificate(folder, task, progress)]
    if isinstance(task, AssociationTask):
        subsections += _theory(folder, task)
        if task.facts <= MOST_FACTS:
            subsections += _held(folder, task, progress)
    subsections.append(Subsection("Recompute each number", [Commands(commands_of(folder))]))
    sizes = ", ".join(f"{name} {value}" for name, value in spec.model_dump(exclude_defaults=True).items())
    title = f"{folder.path.name}: a model of {Path(folder.origin.source).name}"
    return Section(title, f"{spec.architecture}: {sizes}", tiles, subsections)


def commands_of(folder: Folder) -> list[str]:
    """The commands that make a model folder and its numbers again."""
    source, path, spec = folder.origin.source, folder.path, folder.model.spec
    made = []
    method, seed = folder.provenance.get("method"), folder.provenance.get("seed", 0)
    if isinstance(method, str) and isinstance(seed, int):
        given = flags_given(folder.provenance.get("given"))
        made = [command("rote", "build", source, "--method", method, *given, "--seed", seed, "-o", path)]
    inspected = [command("rote", "inspect", path)] if isinstance(spec, Transformer) else []
    checks = [command("rote", what, path, source) for what in ("recall", "verify")]
    return [*made, *checks, *inspected, command("rote", "plan", source)]


def _what(folder: Folder) -> Subsection:
    origin, provenance = folder.origin, folder.provenance
    pairs: dict[str, Any] = {
        "facts": origin.source,
        "key": ", ".join(origin.key_columns),
        "answer": origin.answer_column,
        "licence": origin.licence,
        "method": provenance.get("method") or provenance.get("protocol"),
        "source": provenance.get("source"),
        "seed": provenance.get("seed"),
        "dtype": folder.model.precision_name,
        "bytes of weights": folder.model.bytes,
    }
    return Subsection("What it is", [Pairs({name: value for name, value in pairs.items() if value not in (None, "")})])


def _certificate(folder: Folder, task: Task | None, progress: Progress) -> list[Subsection]:
    if folder.certificate is None:
        return [Subsection("Certificate", [Text("This folder has no certificate: nothing is claimed of it.")])]
    if task is None:
        stated = {name: _plain(value) for name, value in folder.certificate.model_dump().items() if value is not None}
        return [Subsection("Certificate, as stated (its facts were not at hand to verify it)", [Pairs(stated)])]
    try:
        verification = verify(folder, task, progress)
    except RoteError as error:
        return [Subsection("Certificate", [Text(f"It could not be verified: {error}")])]
    rows = [
        [check.name, _plain(check.stated), _plain(check.remade), check.outcome]
        for check in verification.checks
        if not check.claimed and (check.stated is not None or check.remade is not None)
    ]
    outcome = "every statement holds" if verification.holds else "NOT every statement holds"
    claims = {
        "meets": folder.certificate.meets,
        "guaranteed associations": folder.certificate.guaranteed,
        **{name: _plain(value) for name, value in folder.certificate.measured.items() if not isinstance(value, dict)},
    }
    table = ResultTable(
        f"recomputed from the tensors and the facts: {outcome}", ["statement", "stated", "recomputed", ""], rows
    )
    said = Pairs({name: value for name, value in claims.items() if value is not None})
    return [Subsection("Certificate", [table, Text("Only claimed, as nothing in the folder can recompute it:"), said])]


def _plain(value: Any) -> Any:
    text = str(value)
    return text[:19] + "…" if isinstance(value, str) and len(text) > 40 else value


def _theory(folder: Folder, task: AssociationTask) -> list[Subsection]:
    from rote.experiments.sizing.charts import theory_chart
    from rote.experiments.sizing.row import BITS
    from rote.experiments.sizing.theory import smallest_by_theory
    from rote.experiments.storage import zipped_bytes
    from rote.theory import bounds

    elements: list[Element] = []
    if isinstance(folder.model.spec, AttentionOnly):
        chart = bounds(folder.model.spec).chart(task.facts, "what theory guarantees a model of these sizes")
        elements.append(ChartElement("bounds", chart))
    rows = smallest_by_theory(task.shape, BITS[folder.model.dtype_name], zipped_bytes(task))
    elements.append(ChartElement("bytes", theory_chart(rows, "bytes of the smallest model that each result gives")))
    for name, chart in zip(("bytes", "parameters"), growth_charts(task.shape, folder.model.dtype_name), strict=True):
        elements.append(ChartElement(f"growth-{name}", chart))
    return [Subsection("What theory says", elements)]


def _held(folder: Folder, task: AssociationTask, progress: Progress) -> list[Subsection]:
    points = recall_by_precision(folder.model, task, progress=progress)
    precision = ChartElement("precision", precision_chart(points))
    coarse = ResultTable(
        "with fewer bits in every weight",
        ["bits of the significand", "recalled", "recall", "smallest margin"],
        [[point.bits, point.recalled, point.recall, point.min_margin] for point in points],
    )
    if not isinstance(folder.model.spec, Transformer):
        return [Subsection("What it holds", [precision, coarse])]
    table = head_table(folder.model, task, progress)
    order = table.by_margin()
    weakest = ResultTable(
        "facts with the smallest margins",
        ["fact", "margin"],
        [[str(task[int(row)]), float(table.margins[row])] for row in order[:WEAKEST]],
    )
    held = [ChartElement("margins", margins_chart(table, task)), weakest, precision, coarse]
    return [
        Subsection("What it holds", held),
        Subsection("Where it holds it", _where(folder, task, table, int(order[0]))),
    ]


def _specialisation(table: HeadTable) -> list[Element]:
    chart = specialisation_chart(table)
    return [] if chart is None else [ChartElement("specialisation", chart)]


def _left_and_layers(seen: Inspection) -> list[tuple[str, BarChart]]:
    charts = {"without": without_chart(seen), "layers": layers_chart(seen)}
    return [(name, chart) for name, chart in charts.items() if chart is not None]


def _where(folder: Folder, task: AssociationTask, table: HeadTable, row: int) -> list[Element]:
    seen = inspect(folder.model, task[row])
    exact = all(use.loses is not None for use in table.heads)
    column = "facts lost without it" if exact else "facts it decides"
    uses = sorted(table.heads, key=lambda use: -(use.decides if use.loses is None else use.loses))[:WEAKEST]
    median = float(np.median(table.margins))
    elements: list[Element] = [
        Text(
            f"The skip connection adds {table.skip_to_margin:.3g} to a margin on average, the median margin is "
            f"{median:.3g}; heads are counted from 0, as LAYER.HEAD."
        ),
        ChartElement("heads", heads_chart(table)),
        *_specialisation(table),
        ResultTable(
            "heads that matter to most facts",
            ["head", column, "adds to a margin, mean", "most", "adds most to"],
            [
                [use.name, use.decides if use.loses is None else use.loses, use.mean_to_margin, use.largest_to_margin,
                 str(task[use.strongest[0]])]
                for use in uses
            ],
        ),
        Text(f"The fact with the smallest margin, taken apart: {seen}."),
        ChartElement("contributions", contributions_chart(seen)),
        *(ChartElement(name, chart) for name, chart in _left_and_layers(seen)),
    ]  # fmt: skip
    spec = folder.model.spec
    if isinstance(spec, Transformer) and spec.context * spec.heads <= 4000:
        elements += [ChartElement(f"attention-{layer}", attention_chart(seen, layer)) for layer in range(spec.layers)]
    return elements


def report_on(
    paths: Sequence[str | Path], *, title: str | None = None, task: Task | None = None, progress: Progress = SILENT
) -> Report:
    """A report on model folders and runs, in this order; `task` are the models' facts where they do not name them."""
    sections = [_section(Path(path), task, progress) for path in paths]
    if not sections:
        raise InputError("report: name at least one model folder or run")
    return report_of(sections, title)


def report_of(sections: Sequence[Section], title: str | None = None) -> Report:
    """A report of these sections, with versions and the date."""
    named = title or (sections[0].title if len(sections) == 1 else f"{len(sections)} models and runs")
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = {"rote": __version__, "Python": platform.python_version(), "machine": platform.machine(), "made": made}
    return Report(named, sections, about)


def _section(path: Path, task: Task | None, progress: Progress) -> Section:
    if (path / CONFIG).is_file():
        folder = read_folder(path)
        return model_section(folder, task or _facts_of(folder), progress)
    if (path / FILE).is_file():
        with foreign(path):
            return run_section(RunView.of(path))
    raise InputError(f"{path}: is neither a model folder ({CONFIG}) nor a run ({FILE})")


def _facts_of(folder: Folder) -> Task | None:
    """The facts that a folder names, where they can still be read; a report says so where they cannot."""
    try:
        return facts_of_folder(folder.origin, folder.path)
    except RoteError:
        return None
