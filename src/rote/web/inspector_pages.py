"""Addresses of the inspector: models, one model, one fact."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from rote.errors import InputError
from rote.measure.inspection import Inspection, heads_named, inspect
from rote.report.model_charts import attention_chart, contributions_chart, heads_chart, margins_chart
from rote.web.inspector import MOST_FOUND, Models, Opened
from rote.web.jobs import Job, Jobs
from rote.web.pages import page
from rote.web.query import Query
from rote.web.shelf import Shelf

PATIENCE = 0.5
"""Seconds that an answer waits for a result before it shows progress instead."""
A_PAGE = 50
MOST_PARTS = 24
MOST_ATTENTION = 6000
"""Cells of an attention chart."""


def add(app: FastAPI, shelf: Shelf, models: Models, jobs: Jobs) -> None:
    """Add the inspector's addresses."""

    @app.get("/inspector")
    def listed() -> Response:
        return page("models.html", title="Inspector", here="inspector", models=shelf.models(), folders=shelf.folders)

    @app.get("/inspector/model")
    def model(request: Request) -> Response:
        query = Query(request.query_params)
        opened = models.open(query.text("model"))
        text = query.text("search").strip()
        return page(
            "model.html", title=f"Model {opened.entry.label}", here="inspector", opened=opened, search=text,
            found=_found(opened, text), most=MOST_FOUND, **_facts(query, opened, jobs),
        )  # fmt: skip

    @app.get("/inspector/search")
    def search(request: Request) -> Response:
        query = Query(request.query_params)
        opened = models.open(query.text("model"))
        text = query.text("search").strip()
        return page("found.html", opened=opened, search=text, found=_found(opened, text), most=MOST_FOUND)

    @app.get("/inspector/live")
    def live(request: Request) -> Response:
        """Margins and heads, or how far they have come, alone."""
        query = Query(request.query_params)
        opened = models.open(query.text("model"))
        return page("model_live.html", opened=opened, **_facts(query, opened, jobs))

    @app.get("/inspector/fact")
    def fact(request: Request) -> Response:
        query = Query(request.query_params)
        opened = models.open(query.text("model"))
        heads = tuple(heads_named(query.text("off")))
        row = query.whole("row", 0, 0) if "row" in query else None
        every = query.text("parts") == "all"
        query.check()
        asked = _asked(opened, row, query.text("words"))
        seen = inspect(opened.folder.model, asked, off=heads)
        lost = _lost(opened, heads, jobs) if heads and opened.task is not None else None
        return page(
            "fact.html", title=f"{' '.join(seen.key)} in {opened.entry.label}", here="inspector", opened=opened,
            row=row, words=query.text("words"), seen=seen, off=",".join(map(str, heads)), lost=lost, every=every,
            **_taken_apart(seen, opened, every),
        )  # fmt: skip


def _asked(opened: Opened, row: int | None, words: str) -> Any:
    if row is not None:
        if opened.task is None or row >= opened.task.facts:
            raise InputError(f"row={row}: there is no such fact in this model's table")
        return opened.task[row]
    if not words.strip():
        raise InputError("which fact? Give the words of its key")
    return words.split()


def _found(opened: Opened, text: str) -> list[int]:
    return opened.search(text) if text else []


def _facts(query: Query, opened: Opened, jobs: Jobs) -> dict[str, Any]:
    """Margins and heads where they are ready, and the page of facts that is asked for."""
    number = query.whole("page", 1, 1, 10**6)
    order = query.choice("order", ("smallest", "largest"), "smallest")
    query.check()
    content = {"number": number, "order": order, "job": None, "table": None, "rows": [], "pages": 0, "charts": []}
    if opened.task is None or not opened.has_heads:
        return content
    job = jobs.ask(("heads", opened.version), opened.table, PATIENCE)
    content["job"] = job
    if job.ready:
        table = job.result
        ranked = table.by_margin() if order == "smallest" else table.by_margin()[::-1]
        heads = sorted(table.heads, key=lambda use: -(use.decides if use.loses is None else use.loses))
        content |= {
            "table": table,
            "rows": [int(row) for row in ranked[(number - 1) * A_PAGE : number * A_PAGE]],
            "pages": -(-len(ranked) // A_PAGE),
            "charts": [margins_chart(table, opened.task), heads_chart(table, 12)],
            "heads": heads,
        }
    return content


def _lost(opened: Opened, heads: tuple[Any, ...], jobs: Jobs) -> Job:
    key = ("lost", opened.version, heads)
    return jobs.ask(key, lambda progress: opened.lost(heads, progress), 2 * PATIENCE)


def _taken_apart(seen: Inspection, opened: Opened, every: bool) -> dict[str, Any]:
    order = sorted(seen.contributions, key=lambda part: -abs(part.to_margin))
    shown = order if every else order[:MOST_PARTS]
    layers = sorted({part.layer for part in seen.contributions if part.part == "head" and part.layer is not None})
    cells = len(seen.tokens) * sum(part.part == "head" for part in seen.contributions)
    return {
        "parts": shown,
        "others": order[len(shown) :],
        "contributions": contributions_chart(seen, 16),
        "attention": [attention_chart(seen, layer) for layer in layers] if cells <= MOST_ATTENTION else [],
    }
