"""What `rote reproduce` prints of a figure of any kind: its points, its claims, its run."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from rote.cli.output import print_pairs, print_table, screen_columns
from rote.cli.trials import failures
from rote.experiments.findings import Findings
from rote.papers.claims import OWNERS, Claim, Owner
from rote.report.reproduction import ReproducedFigure

INDENT = " " * 17
OWNERS_IN_WORDS: dict[Owner, str] = {
    "paper": "claims of the paper", "review": "claims of a reviewer", "rote": "claims that rote asks, not the paper's",
}  # fmt: skip


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
    """Each claim under who makes it: the verdict here, on the released values, and by other measures."""
    others = findings.other_verdicts
    claims = list(zip(findings.verdicts, findings.on_released, strict=True))
    for owner in OWNERS:
        own = [index for index, ((claim, _), _) in enumerate(claims) if claim.owner == owner]
        if not own:
            continue
        _show_folded(f"{OWNERS_IN_WORDS[owner]}; data: {findings.data}", "", "  ")
        for index in own:
            (claim, verdict), released = claims[index]
            _show_folded(claim.statement, f"  {verdict.outcome.upper():<14} ")
            for line in _quoted(claim):
                _show_under(line)
            _show_under(verdict.why)
            if released is not None:
                _show_under(f"on the released values: {released.outcome.upper()}, {released.why}")
            for name, verdicts in others.items():
                if verdicts[index].outcome != verdict.outcome:
                    _show_under(f"{name}: {verdicts[index].outcome}, {verdicts[index].why}")
        print()
    if all(released is None for _, released in claims) and findings.figure.trains:
        print("released values: none were released for this figure\n")


def _quoted(claim: Claim) -> list[str]:
    return [] if claim.quotation is None else [claim.quotation.in_words]


def _show_under(text: str) -> None:
    _show_folded(text, INDENT)


def _show_folded(text: str, first: str, others: str = INDENT) -> None:
    """Text after its first indent, folded at the screen's width."""
    for line in wrap(text, max(40, screen_columns()), initial_indent=first, subsequent_indent=others):
        print(line)
