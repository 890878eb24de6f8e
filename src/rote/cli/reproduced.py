"""What `rote reproduce` prints of a figure of any kind: its points, its claims, its run."""

from __future__ import annotations

from rote.cli.output import print_pairs
from rote.cli.reproduced_blocks import show_blocks
from rote.cli.reproduced_statements import show_statement
from rote.cli.reproduced_tables import show_tables
from rote.cli.reproduced_vectors import show_vectors
from rote.cli.trials import failures
from rote.experiments.blocks.findings import BlockFindings
from rote.experiments.lookups.findings import FigureFindings
from rote.experiments.reproduction import AnyFindings
from rote.experiments.statements.findings import StatementFindings
from rote.experiments.verdict import Verdict
from rote.papers.paper import Claim
from rote.report.reproduction import ReproducedFigure

QUICK = " (QUICK: fewer cells and repeats)"


def show(figure: ReproducedFigure) -> None:
    run, findings = figure.reproduction, figure.reproduction.findings
    mark = QUICK if findings.quick else ""
    protocol = "" if isinstance(findings, StatementFindings) else f", protocol {findings.protocol}"
    other = ""
    if isinstance(findings, FigureFindings) and findings.other_positions:
        other = f", positions {findings.positions}"
    title = f"{findings.figure.id}: {findings.figure.title}{protocol}{other}{mark}"
    if isinstance(findings, FigureFindings):
        show_tables(title, findings)
    elif isinstance(findings, BlockFindings):
        show_blocks(title, findings)
    elif isinstance(findings, StatementFindings):
        show_statement(title, findings)
    else:
        show_vectors(title, findings)
    _show_claims(findings)
    positions = {"positions": findings.positions} if isinstance(findings, FigureFindings) else {}
    texts = {"texts": findings.plan.texts} if isinstance(findings, BlockFindings) and findings.plan.reads_texts else {}
    print_pairs(
        f"{findings.figure.id}{mark}",
        {
            **texts,
            "trials": f"{run.trained} run now, {run.trials} in all",
            "time": f"{run.seconds:.1f} s now; {run.processor_seconds:.1f} s of processor for all trials",
            **({"engine": ", ".join(run.engines)} if run.engines else {}),
            **positions,
            **failures(run.failed),
            **({"not run": f"{findings.missing} points"} if findings.missing else {}),
            **({"note": run.note} if run.note else {}),
            "run": str(run.folder),
            "figure": str(figure.figures[0]),
        },
    )


def _show_claims(findings: AnyFindings) -> None:
    """Each claim, what became of it, and the numbers."""
    if not isinstance(findings, FigureFindings):
        print("claims")
        for claim, verdict in findings.verdicts:
            _show_claim(claim, verdict)
        print()
        return
    print("claims, in the published weighting of pairs (and over all pairs alike)")
    for claim, both in findings.verdicts:
        _show_claim(claim, both["sampled"])
        if both["uniform"].outcome != both["sampled"].outcome:
            print(f"  {'':<10} over all pairs alike: {both['uniform'].outcome}, {both['uniform'].why}")
    print()


def _show_claim(claim: Claim, verdict: Verdict) -> None:
    print(f"  {verdict.outcome.upper():<10} {claim.statement}")
    print(f"  {'':<10} {verdict.why}")
