"""Addresses of the runs: a list, one run with its progress, two side by side."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from rote.errors import RoteError, cut
from rote.experiments.ledgers.file import foreign
from rote.experiments.ledgers.ledger import Ledger
from rote.report.run_charts import SIZES
from rote.report.run_section import run_section
from rote.report.run_view import RunView
from rote.web.inspector import LONGEST_PROBLEM, UNREAD
from rote.web.jobs import Jobs, Latest
from rote.web.pages import page
from rote.web.query import Query
from rote.web.shelf import Entry, Shelf
from rote.web.workers import Workers, inside

PATIENCE = 0.6
"""Seconds that an answer waits for a result before it shows progress instead."""
RECENT = 30
"""A run counts as running for this many seconds after its last trial."""


def add(app: FastAPI, shelf: Shelf, workers: Workers) -> None:
    """Add the addresses of runs; each run has its own process."""

    @app.get("/runs")
    async def runs() -> Response:
        entries = await asyncio.to_thread(shelf.runs)
        listed = await workers.ask("lists", "the list of runs", "listed_runs", entries, folders=shelf.roots)
        return page("runs.html", title="Runs", here="runs", runs=listed, folders=shelf.folders)

    async def answered(request: Request, kind: str, names: Sequence[str]) -> Response:
        query = Query(request.query_params)
        with ExitStack() as opening:
            opened = [opening.enter_context(shelf.run(query.text(name))) for name in names]
            entries, folders = [entry for entry, _ in opened], [folder for _, folder in opened]
            # The numbers of the folders themselves: one that was replaced is another run.
            key = ("run", *((str(entry.path), os.fstat(folder).st_ino) for entry, folder in opened))
            label = " and ".join(entry.label for entry in entries)
            status, body = await workers.ask(key, label, "run_page", kind, entries, folders=folders)
        return HTMLResponse(body, status)

    @app.get("/runs/view")
    async def view(request: Request) -> Response:
        return await answered(request, "view", ("run",))

    @app.get("/runs/live")
    async def live(request: Request) -> Response:
        """The part that changes while a run continues, as a fragment."""
        return await answered(request, "live", ("run",))

    @app.get("/runs/compare")
    async def compare(request: Request) -> Response:
        return await answered(request, "compare", ("a", "b"))


@dataclass(frozen=True)
class ListedRun:
    """A run in a list; of one that cannot be used, why."""

    entry: Entry
    problem: str = ""
    of: str = ""
    protocol: str = ""
    trials: int = 0
    planned: int | None = None
    seconds: float = 0.0
    last_ended: str | None = None

    @property
    def going(self) -> bool:
        """Whether trials are missing and the last one ended recently."""
        return not self.problem and _going(self.last_ended, self.trials, self.planned)

    @classmethod
    def of_ledger(cls, entry: Entry) -> ListedRun:
        """Of the folder that this process is in."""
        try:
            with foreign(entry.label), Ledger.reading(Path(), whole=False) as ledger:
                said = ledger.overview()
            planned = said.about.get("trials")
            planned = max(planned, said.trials) if type(planned) is int else None
            named = said.identity.get("experiment") or said.identity.get("kind") or entry.path.name
            protocol = str(said.identity.get("protocol", ""))[:40]
            ended = None if said.last_ended is None else cut(said.last_ended)
            return cls(entry, "", cut(named), protocol, said.trials, planned, said.seconds, ended)
        except RoteError as error:
            return cls(entry, str(error)[:LONGEST_PROBLEM])

    @classmethod
    def unread(cls, entry: Entry) -> ListedRun:
        return cls(entry, UNREAD)


class RunPages:
    """The pages about one run, or two side by side, made in their process."""

    def __init__(self) -> None:
        self._sections = Latest(Jobs())

    def answer(self, kind: str, entries: Sequence[Entry]) -> HTMLResponse:
        with foreign(" and ".join(entry.label for entry in entries)):
            sides = [self._content(number, entry) for number, entry in enumerate(entries)]
            if kind == "view":
                return page("run.html", title=f"Run {entries[0].label}", here="runs", **sides[0])
            if kind == "live":
                return page("run_live.html", **sides[0])
            cells = _shared(sides[0]["run"], sides[1]["run"])
            return page("compare.html", title="Two runs side by side", here="runs", sides=sides, cells=cells)

    def _content(self, number: int, entry: Entry) -> dict[str, Any]:
        with inside(number):
            run = RunView.of(Path())
            run = replace(run, folder=entry.nearby, swept=run.sweep)
        work = lambda progress: run_section(run)  # noqa: E731
        section = self._sections.ask(("run", number), len(run.rows), work, PATIENCE)
        going = _going(run.last_ended, len(run.rows), run.planned)
        return {"entry": entry, "run": run, "going": going, "section": section}


def _going(last_ended: str | None, trials: int, planned: int | None) -> bool:
    """Whether trials are missing and the last one ended recently; times in the future do not count."""
    if last_ended is None or (planned is not None and trials >= planned):
        return last_ended is None
    return 0 <= (datetime.now(UTC) - datetime.fromisoformat(last_ended)).total_seconds() < RECENT


def _shared(first: RunView, second: RunView) -> list[list[Any]]:
    """Mean accuracy of the cells that both runs have, labelled by the sizes that vary."""
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
