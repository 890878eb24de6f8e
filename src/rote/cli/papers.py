"""`rote papers`."""

from __future__ import annotations

from typing import Any

from rote.cli.output import AsJson, print_json, print_pairs, print_table


def papers(name: str | None = None, /, *, as_json: AsJson = False) -> None:
    """Every paper: its results, constructions, figures and claims, with what it costs to reproduce them.

    Example: `rote papers dana2025`

    Parameters
    ----------
    name
        A paper (`dana2025`) or a figure (`dana2025.fig1a`) to tell more about.
    """
    from rote.experiments.paper_overview import figure_overview, paper
    from rote.papers import figure_named
    from rote.theory import PAPERS

    if name is None:
        every = [paper(id) for id in sorted(PAPERS)]
        print_json(every) if as_json else _show_all(every)
        return
    if "." not in name:
        document = paper(name)
        print_json(document) if as_json else _show_paper(document)
        return
    figure = figure_overview(figure_named(name))
    print_json(figure) if as_json else _show_figure(figure)


def _show_all(every: list[dict[str, Any]]) -> None:
    print_table(
        "papers (rote papers ID for what they say)",
        ["paper", "results", "methods", "figures", "title"],
        [
            [
                paper["paper"],
                *(len(paper[kind]) or None for kind in ("results", "constructions", "figures")),
                paper["title"],
            ]
            for paper in every
        ],
    )
    _show_costs([figure for paper in every for figure in paper["figures"]])


def _show_paper(paper: dict[str, Any]) -> None:
    print(f"{paper['name']}\n{paper['title']}\n{paper['venue']}\n")
    if paper["results"]:
        print_table(
            "results (rote bound evaluates them)",
            ["result", "kind", "statement"],
            [[result["id"], result["kind"], result["statement"]] for result in paper["results"]],
        )
    if paper["constructions"]:
        print_table(
            "constructions (rote build FACTS --method ID)",
            ["method", "what it does"],
            [[construction["id"], construction["summary"]] for construction in paper["constructions"]],
        )
    if paper["figures"]:
        _show_costs(paper["figures"])
    for figure in paper["figures"]:
        _show_figure(figure)


def _show_costs(figures: list[dict[str, Any]]) -> None:
    print_table(
        "figures (rote reproduce ID; processor time of --quick, fast, --protocol paper)",
        ["figure", "quick", "fast", "paper", "what it shows"],
        [
            [
                figure["figure"],
                *(_time(figure["estimated_costs"][run]["processor_seconds"]) for run in ("quick", "fast", "paper")),
                figure["title"],
            ]
            for figure in figures
        ],
    )


def _show_figure(figure: dict[str, Any]) -> None:
    costs = figure["estimated_costs"]
    grid = f"{figure['cells']} cells, {figure['repeats']} repeats, {figure['published_values']} released values"
    print_pairs(
        f"{figure['figure']}: {figure['title']}",
        {
            "grid": grid,
            "cost": ", ".join(
                f"{run}: {cost['trials']} trials, {_time(cost['processor_seconds'])} of processor"
                for run, cost in costs.items()
            ),
            **({"run": f"shares the trials of {figure['run']}"} if figure["run"] != figure["figure"] else {}),
            **({"note": figure["note"]} if figure["note"] else {}),
            **{f"claim {claim['id']}": f"{claim['statement']}: {claim['rule']}" for claim in figure["claims"]},
        },
    )


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 36_000 else f"{seconds / 3600:.0f} h"
