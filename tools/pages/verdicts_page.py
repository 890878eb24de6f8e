"""docs/verdicts.md, generated from the figures' claims and the verdicts that ship."""

from __future__ import annotations

from pages.record_table import record_table
from rote.papers import FIGURES
from rote.papers.claims import OUTCOMES, OWNERS, Claim, Owner, PublishedFigure
from rote.papers.verdicts import BASES, RELEASED, ShippedVerdict, shipped_verdicts, verdicts_on
from rote.theory import PAPERS

INTRODUCTION = """\
Every claim that rote judges, under who makes it. *The paper*: a printed sentence, quoted with its place and the text
that was read. *A reviewer*: a sentence of a published review. *rote*: asked here, said by nobody else; a verdict
against it says nothing against the paper. `rote show FIGURE` prints the rule behind each verdict, `rote reproduce
FIGURE` runs it again. Protocol `fast` unless the verdict names another. "Released" applies the same rule to the
values that the authors released or that were read off their figure; `-` where there are none that it could judge.

A statement that is supported in every trial is not proved by that. This page is generated from the records
(`python tools/write_pages.py`); `python tools/write_verdicts.py RUN` takes over the verdicts of a run."""
TITLES: dict[Owner, str] = {"paper": "Claims of the paper", "review": "Claims of reviewers", "rote": "Asked by rote"}
NOT_RUN = "not run"


def verdicts_page() -> str:
    """The page as Markdown: tallies by owner, then the claims of each paper by owner."""
    lines = ["# Verdicts", "", *INTRODUCTION.splitlines(), ""]
    lines += record_table(["verdict", "meaning"], [[outcome, meaning] for outcome, meaning in OUTCOMES.items()])
    lines += ["", "Claims by paper and owner, by the first verdict of each:", "", *_tally()]
    lines += ["", "What a verdict rests on; a verdict without a remark rests on the run itself:", "", *_bases()]
    for paper, figures in FIGURES.items():
        lines += ["", f"## {PAPERS[paper].name}"]
        for owner in OWNERS:
            own = [(figure, claim) for figure in figures for claim in figure.claims if claim.owner == owner]
            if own:
                lines += ["", f"### {TITLES[owner]}", "", *_table(own, owner)]
    return "\n".join(lines) + "\n"


def _tally() -> list[str]:
    rows = []
    for paper, figures in FIGURES.items():
        for owner in OWNERS:
            outcomes = [
                here[0].verdict if (here := _here(figure, claim)) else NOT_RUN
                for figure in figures
                for claim in figure.claims
                if claim.owner == owner
            ]
            if outcomes:
                rows.append([paper, owner, *(outcomes.count(outcome) or "" for outcome in (*OUTCOMES, NOT_RUN))])
    return record_table(["paper", "owner", *OUTCOMES, NOT_RUN], rows)


def _bases() -> list[str]:
    judged = [row for row in shipped_verdicts() if row.protocol != RELEASED]
    rows = [[basis, meaning, sum(row.basis == basis for row in judged)] for basis, meaning in BASES.items()]
    return record_table(["basis", "meaning", "verdicts"], rows)


def _table(claims: list[tuple[PublishedFigure, Claim]], owner: Owner) -> list[str]:
    rows, last = [], ""
    for figure, claim in claims:
        released = next((row for row in verdicts_on(figure.id, claim.id) if row.protocol == RELEASED), None)
        rows.append(
            [
                "" if figure.id == last else f"`{figure.id}`",
                claim.statement,
                *([] if claim.quotation is None else [_quotation(claim)]),
                _verdicts(_here(figure, claim)),
                "-" if released is None else f"{_emphasis(released)}: {released.numbers}",
            ]
        )
        last = figure.id
    quoted = [] if owner == "rote" else ["quotation"]
    columns = ["figure", "claim", *quoted, "verdict", "released"]
    if all(row[-1] == "-" for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return record_table(columns, rows)


def _here(figure: PublishedFigure, claim: Claim) -> list[ShippedVerdict]:
    return [row for row in verdicts_on(figure.id, claim.id) if row.protocol != RELEASED]


def _quotation(claim: Claim) -> str:
    said = claim.quotation
    return "" if said is None else f"`{said.words}` {said.place}; {said.text}"


def _verdicts(rows: list[ShippedVerdict]) -> str:
    return "; ".join(
        f"{'' if row.protocol == 'fast' else f'{row.protocol}: '}{_emphasis(row)}: {row.numbers}{_remark(row)}"
        for row in rows
    ) or NOT_RUN  # fmt: skip


def _remark(row: ShippedVerdict) -> str:
    return "" if row.basis == "run" else f" ({row.basis})"


def _emphasis(row: ShippedVerdict) -> str:
    return f"**{row.verdict}**" if row.verdict == "not supported" else row.verdict
