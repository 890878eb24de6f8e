"""Addresses of the inspector: models, one model, one fact."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from rote.errors import InputError
from rote.folders.layout import CONFIG
from rote.measure.head_use import facts_lost, head_table
from rote.measure.inspection import HeadIndex, Inspection, heads_named, inspect
from rote.report.model_charts import (
    attention_chart,
    components_chart,
    contributions_chart,
    heads_chart,
    layers_chart,
    lost_chart,
    margins_chart,
    specialisation_chart,
    without_chart,
)
from rote.tasks import AssociationTask, Fact
from rote.web.inspector import MOST_FOUND, Listing, Opened, Place, list_facts, open_model
from rote.web.jobs import Job, Jobs
from rote.web.pages import page
from rote.web.query import Query
from rote.web.shelf import Entry, Shelf, version_of
from rote.web.workers import Workers

PATIENCE = 0.5
"""Seconds that an answer waits for a result before it shows progress instead."""
READING_PATIENCE = 1.5
A_PAGE = 50
MOST_PARTS = 24
MOST_ATTENTION = 6000
"""Cells of an attention chart."""
AT_ONCE = 2
"""Facts taken apart at a time: each holds what every head adds to every logit, 80 MB at 999 heads and 10,000 tokens."""


def add(app: FastAPI, shelf: Shelf, workers: Workers) -> None:
    """Add the inspector's addresses; each model has its own process."""
    place = Place(Path.cwd(), tuple(shelf.folders))

    @app.get("/inspector")
    async def listed() -> Response:
        entries = await asyncio.to_thread(shelf.models)
        stated = await workers.ask("lists", "the list of models", "stated_models", entries, folders=shelf.roots)
        return page("models.html", title="Inspector", here="inspector", folders=shelf.folders, models=stated)

    async def answered(request: Request, kind: str) -> Response:
        with shelf.model(Query(request.query_params).text("model")) as (entry, folder):
            key = ("model", str(entry.path), *version_of(folder, CONFIG))
            status, body = await workers.ask(
                key, entry.label, "model_page", kind, entry, place, dict(request.query_params),
                folders=[folder, *shelf.roots],
            )  # fmt: skip
        return HTMLResponse(body, status)

    @app.get("/inspector/model")
    async def model(request: Request) -> Response:
        return await answered(request, "model")

    @app.get("/inspector/search")
    async def search(request: Request) -> Response:
        return await answered(request, "search")

    @app.get("/inspector/live")
    async def live(request: Request) -> Response:
        """Margins and heads, or their progress, as a fragment."""
        return await answered(request, "live")

    @app.get("/inspector/fact")
    async def fact(request: Request) -> Response:
        return await answered(request, "fact")


class ModelPages:
    """The pages about one model, made in its process. Facts are read in one queue, the model is run in another."""

    def __init__(self, entry: Entry, place: Place) -> None:
        self._opened, self._place = open_model(entry), place
        self._reading, self._measuring = Jobs(), Jobs()
        self._taking_apart = threading.BoundedSemaphore(AT_ONCE)

    def _listing(self) -> Listing | None:
        """The model's facts, unless reading them exceeds the time of an answer."""
        work = self._reading.ask("facts", lambda progress: list_facts(self._opened, self._place), READING_PATIENCE)
        return work.result if work.ready else None

    def model(self, query: Query) -> HTMLResponse:
        opened, listing = self._opened, self._listing()
        if listing is None:
            return _wait(opened)
        return page(
            "model.html", title=f"Model {opened.entry.label}", here="inspector", opened=opened, listing=listing,
            **_found(listing, query), **_facts(query, opened, listing, self._measuring),
        )  # fmt: skip

    def search(self, query: Query) -> HTMLResponse:
        listing = self._listing() or Listing(None)
        return page("found.html", opened=self._opened, listing=listing, **_found(listing, query))

    def live(self, query: Query) -> HTMLResponse:
        opened, listing = self._opened, self._listing() or Listing(None)
        facts = _facts(query, opened, listing, self._measuring)
        return page("model_live.html", opened=opened, listing=listing, **facts)

    def fact(self, query: Query) -> HTMLResponse:
        opened = self._opened
        heads = tuple(heads_named(query.text("off")))
        row = query.whole("row", 0, 0) if "row" in query else None
        every = query.text("parts") == "all"
        query.check()
        listing = self._listing()
        if listing is None:
            return _wait(opened)
        asked = _asked(listing, row, query.text("words"))
        with self._taking_apart:
            seen = inspect(opened.folder.model, asked, off=heads)
        job = _lost(opened, listing.task, heads, self._measuring) if heads and listing.task is not None else None
        lost = job.result if job is not None and job.ready else None
        return page(
            "fact.html", title=f"{' '.join(seen.key)} in {opened.entry.label}", here="inspector", opened=opened,
            listing=listing, row=row, words=query.text("words"), seen=seen, off=",".join(map(str, heads)), lost=lost,
            counting=job is not None and lost is None,
            every=every, **_taken_apart(seen, every),
        )  # fmt: skip


def _wait(opened: Opened) -> HTMLResponse:
    """A page that reloads itself until the facts are read."""
    return page("waiting.html", title=f"Model {opened.entry.label}", here="inspector", opened=opened)


def _asked(listing: Listing, row: int | None, words: str) -> Fact | list[str]:
    if row is not None:
        if listing.task is None or row >= listing.task.facts:
            raise InputError(f"row={row}: there is no such fact in this model's table")
        return listing.task[row]
    if not words.strip():
        raise InputError("which fact? Give the words of its key")
    return words.split()


def _found(listing: Listing, query: Query) -> dict[str, Any]:
    text = query.text("search").strip()
    return {"search": text, "found": listing.search(text), "most": MOST_FOUND}


def _facts(query: Query, opened: Opened, listing: Listing, measuring: Jobs) -> dict[str, Any]:
    """Margins and heads where they are ready, and one page of facts."""
    number = query.whole("page", 1, 1, 10**6)
    order = query.choice("order", ("smallest", "largest"), "smallest")
    query.check()
    content = {"number": number, "order": order, "job": None, "table": None, "rows": [], "pages": 0, "charts": []}
    if (task := listing.task) is None or not opened.has_heads:
        return content
    model = opened.folder.model
    job = measuring.ask("heads", lambda progress: head_table(model, task, progress), PATIENCE)
    if not job.ready:
        # Asked once: a job may end while the page is made.
        content["job"] = job
    else:
        table = job.result
        ranked = table.by_margin() if order == "smallest" else table.by_margin()[::-1]
        heads = sorted(table.heads, key=lambda use: -(use.decides if use.loses is None else use.loses))
        content |= {
            "table": table,
            "rows": [int(row) for row in ranked[(number - 1) * A_PAGE : number * A_PAGE]],
            "pages": -(-len(ranked) // A_PAGE),
            "charts": [margins_chart(table, task), heads_chart(table, 12)],
            "maps": [chart for chart in (lost_chart(table), specialisation_chart(table)) if chart is not None],
            "heads": heads,
        }
    return content


def _lost(opened: Opened, task: AssociationTask, heads: tuple[HeadIndex, ...], measuring: Jobs) -> Job:
    model, key = opened.folder.model, ("lost", heads)
    return measuring.ask(key, lambda progress: facts_lost(model, task, heads, progress), 2 * PATIENCE)


def _taken_apart(seen: Inspection, every: bool) -> dict[str, Any]:
    order = sorted(seen.contributions, key=lambda part: -abs(part.to_margin))
    shown = order if every else order[:MOST_PARTS]
    layers = sorted({part.layer for part in seen.contributions if part.part == "head" and part.layer is not None})
    cells = len(seen.tokens) * sum(part.part == "head" for part in seen.contributions)
    return {
        "parts": shown,
        "others": order[len(shown) :],
        "charts": [
            chart
            for chart in (contributions_chart(seen, 16), without_chart(seen, 16), layers_chart(seen))
            if chart is not None
        ],
        "components": components_chart(seen),
        "attention": [attention_chart(seen, layer) for layer in layers] if cells <= MOST_ATTENTION else [],
    }
