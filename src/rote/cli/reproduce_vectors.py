"""`rote reproduce` of figures about vector tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rote.cli.options import bars
from rote.cli.output import complain, print_json, print_pairs, print_table

REFUTED = "does not"
"""The verdict on a claim that does not hold."""

if TYPE_CHECKING:
    from rote.experiments.vector_findings import VectorFindings


def reproduce_vector_figures(
    name: str,
    output: Path | None,
    protocol: str,
    quick: bool,
    repeats: int | None,
    workers: int | None,
    on: str,
    strict: bool,
    figures: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run every figure that the name gives, one after another, and show what each says."""
    from rote.papers import VECTOR_FIGURES
    from rote.report.run_report import write_run_report
    from rote.report.vector_reproduction import planned_vector_runs, reproduce_vector_figure

    documents, folders = [], []
    for plan, folder in planned_vector_runs(name, output, protocol=protocol, quick=quick, repeats=repeats):
        try:
            figure = reproduce_vector_figure(plan, folder, workers=workers, on=on, formats=figures, progress=bars())
        except KeyboardInterrupt:
            return complain(f"interrupted; trials that ended are kept in {folder}, the same command goes on", 130)
        documents.append(figure.summary())
        folders.append(folder)
        if not as_json:
            _show(figure.reproduction.findings, documents[-1])
    if not documents:
        return complain(f"{name}: --quick keeps nothing of this figure; run it whole, or another one", 2)
    report = write_run_report(name, folders, output)
    if as_json:
        for document in documents:
            document["report"] = str(report)
        print_json(documents[0] if name not in VECTOR_FIGURES else documents)
    else:
        print(f"Report: {report} (open it in a browser; it needs no network)")
    claims = [claim for document in documents for claim in document["claims"]]
    return 1 if strict and any(claim["verdict"] == REFUTED for claim in claims) else 0


def _show(findings: VectorFindings, document: dict[str, Any]) -> None:
    plan = findings.plan
    print_table(
        f"{plan.figure.id}: {plan.figure.title}, protocol {plan.protocol}"
        + (" (QUICK: fewer cells and repeats)" if plan.quick else ""),
        ["series", findings.x_label, findings.y_label, "mean", "Theorem 1", "rank", "seconds"],
        [
            [
                series.name,
                int(point.x),
                point.in_words,
                f"{point.mean:.5g}",
                point.setting.promised,
                point.setting.rank,
                f"{point.seconds:.0f}",
            ]
            for series in findings.series
            for point in series.points
        ],
    )
    print("claims")
    for claim, verdict in findings.verdicts:
        print(f"  {verdict.outcome.upper():<10} {claim.statement}")
        print(f"  {'':<10} {verdict.why}")
    print()
    print_pairs(
        plan.figure.id,
        {
            "time": f"{document['seconds']:.1f} s now; {document['processor_seconds']:.1f} s of processor in all",
            **({"incomplete": f"{findings.missing} points"} if findings.missing else {}),
            **({"note": document["note"]} if document["note"] else {}),
            "run": document["run"],
            "figure": document["figures"][0],
        },
    )
