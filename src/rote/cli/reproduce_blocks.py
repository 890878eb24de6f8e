"""`rote reproduce` of figures about #blocks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rote.cli.options import bars
from rote.cli.output import complain, print_json, print_pairs, print_table
from rote.cli.reproduce_vectors import REFUTED

if TYPE_CHECKING:
    from rote.experiments.block_findings import BlockFindings, BlockPoint


def reproduce_block_figures(
    name: str,
    output: Path | None,
    protocol: str,
    quick: bool,
    repeats: int | None,
    workers: int | None,
    on: str,
    texts: str | None,
    strict: bool,
    figures: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run every figure that the name gives, one after another, and show what each says."""
    from rote.papers import BLOCK_FIGURES
    from rote.report.block_reproduction import planned_block_runs, reproduce_block_figure

    documents = []
    for plan, folder in planned_block_runs(name, output, protocol=protocol, quick=quick, repeats=repeats, texts=texts):
        try:
            figure = reproduce_block_figure(plan, folder, workers=workers, on=on, formats=figures, progress=bars())
        except KeyboardInterrupt:
            return complain(f"interrupted; trials that ended are kept in {folder}, the same command goes on", 130)
        documents.append(figure.summary())
        if not as_json:
            _show(figure.reproduction.findings, documents[-1])
    if as_json:
        print_json(documents[0] if name not in BLOCK_FIGURES else documents)
    claims = [claim for document in documents for claim in document["claims"]]
    return 1 if strict and any(claim["verdict"] == REFUTED for claim in claims) else 0


def _show(findings: BlockFindings, document: dict[str, Any]) -> None:
    plan = findings.plan
    title = f"{plan.figure.id}: {plan.figure.title}, protocol {plan.protocol}" + (
        " (QUICK: fewer points and trials)" if plan.quick else ""
    )
    if findings.curves:
        _show_curves(title, findings)
    else:
        _show_smallest(title, findings)
    print("claims")
    for claim, verdict in findings.verdicts:
        print(f"  {verdict.outcome.upper():<10} {claim.statement}")
        print(f"  {'':<10} {verdict.why}")
    print()
    print_pairs(
        plan.figure.id,
        {
            **({"texts": plan.texts} if plan.reads_texts else {}),
            "trials": f"{document['trained_now']} ran now, {document['trials']} in all",
            "time": f"{document['seconds']:.1f} s now; {document['processor_seconds']:.1f} s of processor in all",
            **({"not run": f"{findings.missing} points"} if findings.missing else {}),
            **({"note": document["note"]} if document["note"] else {}),
            "run": document["run"],
            "figure": document["figures"][0],
        },
    )


def _show_smallest(title: str, findings: BlockFindings) -> None:
    print_table(
        title,
        [
            "series", findings.x_label, "#blocks", "published", "trials", "best below", "parameters", "built, exact",
            "built, floats", "seconds",
        ],
        [
            [
                series.name,
                point.x,
                point.in_words,
                findings.published.get(point.x),
                point.trials,
                _best_below(point),
                ", ".join("-" if count is None else f"{count:,}" for count in point.parameters),
                *(f"{point.built[which]['nonzeros']:,}" if point.built else None for which in ("exact", "float")),
                f"{point.seconds:.0f}",
            ]
            for series in findings.series
            for point in series.points
        ],
    )  # fmt: skip


def _best_below(point: BlockPoint) -> str | None:
    """The best that the rung below the smallest reached, or the highest rung where none sufficed."""
    shown = []
    for blocks, tried in zip(point.smallest, point.tried, strict=True):
        failed = [rung for rung in tried if rung[0] != blocks]
        if failed:
            shown.append(f"{failed[-1][1]:.4f} at {failed[-1][0]}")
    return ", ".join(shown) or None


def _show_curves(title: str, findings: BlockFindings) -> None:
    print_table(
        title,
        ["#blocks", "accuracy of each trial", "least loss", "learning rate", "warm-up", "seconds"],
        [
            [
                curve.blocks,
                ", ".join(f"{accuracy:.4f}" for accuracy in curve.accuracies),
                ", ".join(f"{loss:.4f}" for loss in curve.losses),
                ", ".join(f"{rate:.4f}" for rate, _ in curve.settings),
                ", ".join(str(warm_up) for _, warm_up in curve.settings),
                f"{curve.seconds:.0f}",
            ]
            for curve in findings.curves
        ],
    )
