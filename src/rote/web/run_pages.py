"""Addresses of the runs: a list, one run with its progress, two side by side."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from rote.errors import InputError
from rote.report.run_charts import SIZES
from rote.report.run_section import run_section
from rote.report.run_view import RunView
from rote.web.jobs import Jobs, Latest
from rote.web.pages import page
from rote.web.query import Query
from rote.web.shelf import Entry, Shelf

PATIENCE = 0.6
"""Seconds that an answer waits for a result before it shows progress instead."""
RECENT = 30
"""Seconds since its last trial within which a run counts as going on."""


def add(app: FastAPI, shelf: Shelf, jobs: Jobs) -> None:
    """Add the addresses of runs."""
    sections = Latest(jobs)

    @app.get("/runs")
    def runs() -> Response:
        listed = [_listed(entry) for entry in shelf.runs()]
        return page("runs.html", title="Runs", here="runs", runs=listed, folders=shelf.folders)

    @app.get("/runs/view")
    def view(request: Request) -> Response:
        entry = shelf.run(Query(request.query_params).text("run"))
        run = RunView.of(entry.nearby)
        return page("run.html", title=f"Run {entry.label}", here="runs", **_content(entry, run, sections))

    @app.get("/runs/live")
    def live(request: Request) -> Response:
        """What changes while a run goes on, alone."""
        entry = shelf.run(Query(request.query_params).text("run"))
        return page("run_live.html", **_content(entry, RunView.of(entry.nearby), sections))

    @app.get("/runs/compare")
    def compare(request: Request) -> Response:
        query = Query(request.query_params)
        pair = [shelf.run(query.text(name)) for name in ("a", "b")]
        sides = [_content(entry, RunView.of(entry.nearby), sections) for entry in pair]
        return page(
            "compare.html", title="Two runs side by side", here="runs", sides=sides,
            cells=_shared(*(RunView.of(entry.nearby) for entry in pair)),
        )  # fmt: skip


def _listed(entry: Entry) -> dict[str, Any]:
    try:
        run = RunView.of(entry.nearby)
    except InputError as error:
        return {"entry": entry, "problem": str(error)}
    return {"entry": entry, "problem": "", "run": run, "going": _going(run)}


def _content(entry: Entry, run: RunView, sections: Latest) -> dict[str, Any]:
    section = sections.ask(("run", str(entry.path)), len(run.rows), lambda progress: run_section(run), PATIENCE)
    return {"entry": entry, "run": run, "going": _going(run), "section": section}


def _going(run: RunView) -> bool:
    """Whether trials are missing and the last one ended just now."""
    if run.last_ended is None or (run.planned is not None and len(run.rows) >= run.planned):
        return run.last_ended is None
    return (datetime.now(UTC) - datetime.fromisoformat(run.last_ended)).total_seconds() < RECENT


def _shared(first: RunView, second: RunView) -> list[list[Any]]:
    """Mean accuracy of the cells that both runs have, told apart by the sizes that vary."""
    means = [_means(run) for run in (first, second)]
    shared = sorted(cell for cell in means[0] if cell in means[1])
    varying = [index for index in range(len(SIZES)) if len({cell[index] for cell in shared}) > 1]
    return [
        [
            ", ".join(f"{SIZES[index]} {cell[index]}" for index in varying) or "the one cell",
            means[0][cell],
            means[1][cell],
            means[1][cell] - means[0][cell],
        ]
        for cell in shared
    ]


def _means(run: RunView) -> dict[tuple[int, ...], float]:
    """Mean accuracy by the sizes of the model; 0 stands for a size that it has not."""
    cells: dict[tuple[int, ...], list[float]] = {}
    for row in run.rows:
        accuracy = row.result.get("accuracy")
        if isinstance(accuracy, int | float):
            spec = row.cell.get("spec", {})
            cells.setdefault(tuple(int(spec.get(name) or 0) for name in SIZES), []).append(float(accuracy))
    return {cell: sum(values) / len(values) for cell, values in cells.items()}
