"""What `rote reproduce` prints of a figure of any kind: its points, its claims, its run."""

from __future__ import annotations

from typing import Any

from rote.cli.output import print_pairs, print_table
from rote.cli.trials import failures
from rote.experiments.findings import Findings
from rote.report.reproduction import ReproducedFigure


def show(figure: ReproducedFigure) -> None:
    findings = figure.findings
    first, *others = findings.tables()
    print_table(f"{findings.title} ({findings.conditions})", first.columns, first.rows)
    for table in others:
        print_table(table.title, table.columns, table.rows)
    _show_claims(findings)
    own = {name: value for name, value in findings.extras().items() if name in ("texts", "positions")}
    print_pairs(
        findings.figure.id,
        {
            **own,
            "trials": f"{figure.trained} run now, {figure.trials} in all",
            "time": f"{figure.seconds:.1f} s now; {figure.cpu_seconds:.1f} CPU seconds for all trials",
            **({"engine": ", ".join(figure.engines)} if figure.engines else {}),
            **failures(figure.failed),
            **({"not run": f"{findings.missing} {findings.counted}"} if findings.missing else {}),
            **({"note": findings.figure.note} if findings.figure.note else {}),
            "run": str(figure.folder),
            "figure": str(figure.files[0]),
        },
    )


def _show_claims(findings: Findings[Any, Any]) -> None:
    """Each claim, what became of it, and the numbers."""
    others = findings.other_verdicts
    print("claims" + (f", as published (and {', '.join(others)})" if others else ""))
    for index, (claim, verdict) in enumerate(findings.verdicts):
        print(f"  {verdict.outcome.upper():<10} {claim.statement}")
        print(f"  {'':<10} {verdict.why}")
        for name, verdicts in others.items():
            if verdicts[index].outcome != verdict.outcome:
                print(f"  {'':<10} {name}: {verdicts[index].outcome}, {verdicts[index].why}")
    print()
