"""The application: addresses and their handlers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from rote.errors import RoteError
from rote.report.html import style_sheet
from rote.web import inspector_pages, planner_pages, run_pages
from rote.web.facts_choice import Tables
from rote.web.jobs import Busy
from rote.web.pages import page
from rote.web.safety import LOOPBACK, Safety
from rote.web.shelf import NotThere, Shelf
from rote.web.workers import Workers

STATIC = {"app.js": "text/javascript", "site.css": "text/css", "icon.svg": "image/svg+xml"}


def make_app(folders: Sequence[str | Path] = (), hosts: Collection[str] = LOOPBACK) -> FastAPI:
    """The application over these folders, answering to these names."""
    shelf, workers = Shelf(folders), Workers()
    app = FastAPI(title="rote", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Safety, hosts=hosts)
    app.add_exception_handler(RoteError, _refused)
    app.add_exception_handler(HTTPException, _not_found)

    @app.get("/")
    def home() -> RedirectResponse:
        return RedirectResponse("/planner")

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name == "page.css":
            return Response(style_sheet(), media_type="text/css")
        if name not in STATIC:
            raise HTTPException(404, "there is no such file")
        text = files("rote.web").joinpath(f"static/{name}").read_text(encoding="utf-8")
        return Response(text, media_type=STATIC[name])

    planner_pages.add(app, Tables(), workers)
    run_pages.add(app, shelf, workers)
    inspector_pages.add(app, shelf, workers)
    app.state.workers = workers
    return app


def _refused(request: Request, error: Exception) -> Response:
    """Bad input is one plain message, on a page or as JSON where a script asked."""
    status = 404 if isinstance(error, NotThere) else 429 if isinstance(error, Busy) else 400
    if request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse({"error": str(error)}, status)
    return page("refused.html", status, title="That cannot be shown", message=str(error), here="")


def _not_found(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 400
    detail = str(error.detail) if isinstance(error, HTTPException) else str(error)
    message = "there is no page at this address" if detail == "Not Found" else detail
    return page("refused.html", status, title="That cannot be shown", message=message, here="")
