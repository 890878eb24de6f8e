"""Papers and their figures, as `rote list papers` and `rote show` print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rote.cli.output import print_pairs, print_table
from rote.papers.claims import OUTCOMES, OWNERS

if TYPE_CHECKING:
    from rote.experiments.paper_overview import FigureOverview, JudgedClaim, PaperOverview

NOT_RUN = "not run"
MARK = "*"
ALL_OUTCOMES = (*OUTCOMES, NOT_RUN)
HEADINGS = {"not comparable": "other data"}
"""Shorter names of columns, so that the table fits."""


def show_papers(every: Sequence[PaperOverview]) -> None:
    print_table(
        "papers; details: rote show ID",
        ["paper", "results", "methods", "figures", "title"],
        [
            [
                paper.paper,
                *(len(kind) or None for kind in (paper.results, paper.constructions, paper.figures)),
                paper.title,
            ]
            for paper in every
        ],
    )
    figures = [figure for paper in every for figure in paper.figures]
    _show_costs(figures)
    _show_tally(every)


def _show_tally(every: Sequence[PaperOverview]) -> None:
    """How many claims are supported, paper by paper and by who makes them."""
    rows = []
    for paper in every:
        claims = [claim for figure in paper.figures for claim in figure.claims]
        for owner in OWNERS:
            outcomes = [_outcome(claim) for claim in claims if claim.owner == owner]
            if outcomes:
                rows.append([paper.paper, owner, *(outcomes.count(outcome) or None for outcome in ALL_OUTCOMES)])
    names = [HEADINGS.get(outcome, outcome) for outcome in ALL_OUTCOMES]
    print_table("claims by who makes them, last verdicts (rote show ID)", ["paper", "owner", *names], rows)


def _outcome(claim: JudgedClaim) -> str:
    """Under the default protocol where a claim was judged under several."""
    return claim.verdicts[0].verdict if claim.verdicts else NOT_RUN


def show_paper(paper: PaperOverview) -> None:
    print(f"{paper.name}\n{paper.title}\n{paper.venue}\n")
    if paper.results:
        print_table(
            "results (rote bounds evaluates them)",
            ["result", "kind", "statement"],
            [[result.id, result.kind, result.statement] for result in paper.results],
        )
    if paper.constructions:
        print_table(
            "constructions (rote build FACTS --method ID)",
            ["method", "what it does"],
            [[construction.id, construction.summary] for construction in paper.constructions],
        )
    if paper.figures:
        _show_costs(paper.figures)
        _show_verdicts(paper.figures)
    for figure in paper.figures:
        show_figure(figure)


def _show_costs(figures: Sequence[FigureOverview]) -> None:
    print_table(
        "figures (rote reproduce ID; CPU time of --quick, fast, --protocol paper)",
        ["figure", "quick", "fast", "paper", "what it shows"],
        [
            [figure.figure, *_times(figure, ("quick", "fast", "paper")), figure.title]
            for figure in figures
            if figure.trains
        ],
    )
    statements = [figure for figure in figures if not figure.trains]
    if statements:
        print_table(
            "statements, nothing trained (rote reproduce ID; CPU time of --quick and of all)",
            ["statement", "quick", "all", "what it shows"],
            [[figure.figure, *_times(figure, ("quick", "fast")), figure.title] for figure in statements],
        )


def _times(figure: FigureOverview, runs: tuple[str, ...]) -> list[str]:
    """CPU time of each kind of run; none where it leaves the figure out."""
    costs = [figure.estimated_costs[run] for run in runs]
    return [_time(cost.cpu_seconds) if cost.trials else "-" for cost in costs]


def _show_verdicts(figures: Sequence[FigureOverview]) -> None:
    """Every claim with its verdict, one line each, in one table for each of those who make them."""
    titles = {"paper": "claims of the paper", "review": "claims of reviewers", "rote": "claims that rote asks"}
    for owner in OWNERS:
        rows = [
            [
                figure.figure.partition(".")[2],
                _verdicts_in_words(claim),
                None if claim.released is None else claim.released.verdict,
                claim.statement,
            ]
            for figure in figures
            for claim in figure.claims
            if claim.owner == owner
        ]
        columns = ["figure", "verdict", "on released values", "claim"]
        if not any(released for _, _, released, _ in rows):
            columns, rows = [*columns[:2], columns[3]], [[*row[:2], row[3]] for row in rows]
        if rows:
            print_table(f"{titles[owner]} (rote show FIGURE for quotations, rules, numbers)", columns, rows)
        if any(row[1].endswith(MARK) for row in rows):
            print(f"{MARK} Another protocol gives another verdict: rote show FIGURE.\n")


def _verdicts_in_words(claim: JudgedClaim) -> str:
    """The default protocol's verdict, marked where another protocol's differs."""
    verdicts = claim.verdicts
    if not verdicts:
        return NOT_RUN
    first = verdicts[0].verdict
    return first + MARK * any(row.verdict != first for row in verdicts[1:])


def show_figure(figure: FigureOverview) -> None:
    costs = figure.estimated_costs if figure.trains else {
        "quick": figure.estimated_costs["quick"], "all": figure.estimated_costs["fast"],
    }  # fmt: skip
    grid = f"{figure.cells} cells, {figure.repeats} repeats"
    if figure.trains:
        grid += f", {figure.published_values} released values"
    print_pairs(
        f"{figure.figure}: {figure.title}",
        {
            "grid": grid,
            "cost": ", ".join(
                f"{run}: {cost.trials} trials, {_time(cost.cpu_seconds)} CPU time"
                for run, cost in costs.items()
                if cost.trials
            ),
            **({"run": f"shares the trials of {figure.run}"} if figure.run != figure.figure else {}),
            **({"note": figure.note} if figure.note else {}),
            **{name: text for claim in figure.claims for name, text in _claim_in_words(claim).items()},
        },
    )
    for series in figure.capacities:
        size = next(iter(series.points[0]))
        print_table(
            f"examples recalled, one interval per seed: {series.series}",
            [size, "guaranteed", "recalled"],
            [[point[size], point["guaranteed"], _intervals(point)] for point in series.points],
        )


def _intervals(point: dict[str, Any]) -> str:
    """Every seed's capacity as the interval that it lies in."""
    return ", ".join(f"{low:,} to {high:,}" for low, high in zip(point["recalled"], point["too_many"], strict=True))


def _claim_in_words(claim: JudgedClaim) -> dict[str, str]:
    """The claim with its source and rule, and a line for each protocol that it was judged under."""
    said = claim.quotation
    source = "asked by rote" if said is None else f'{claim.owner}: "{said["words"]}" ({said["place"]}; {said["text"]})'
    lines = {f"claim {claim.id}": f"{claim.statement}. {source}. Rule: {claim.rule}"}
    for row in claim.verdicts:
        protocol = "" if row.protocol == "fast" else f", {row.protocol}"
        basis = "" if row.basis == "run" else f"; {row.basis}"
        lines[f"verdict {claim.id}{protocol}"] = f"{row.verdict.upper()}: {row.numbers} ({row.command}{basis})"
    if claim.released is not None:
        lines[f"verdict {claim.id}, released"] = f"{claim.released.verdict.upper()}: {claim.released.numbers}"
    return lines


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 36_000 else f"{seconds / 3600:.0f} h"
