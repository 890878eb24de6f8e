"""Addresses of the planner."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from rote.experiments.sizing.charts import plan_chart
from rote.tasks.facts import source_names
from rote.web.facts_choice import NO_TABLE, Tables
from rote.web.jobs import Busy
from rote.web.pages import page
from rote.web.planner import DTYPES, FACTS_LIMITS, LIMITS, VARIANTS, PlannerState, state_of
from rote.web.plans import plan_of
from rote.web.query import Query
from rote.web.workers import MOST_WAITING, Workers
from rote.words import command

MOST_BYTES = 8 * 2**20
"""Of a table that is dropped on the page."""
TABLES_AT_ONCE = 4
"""Dropped tables that are read at a time, each in a process; others wait, so that no process makes room for them."""


def add(app: FastAPI, tables: Tables, workers: Workers) -> None:
    """Add the planner's addresses."""
    turns = Turns(TABLES_AT_ONCE)

    @app.get("/planner")
    def planner(request: Request) -> Response:
        state = state_of(Query(request.query_params))
        return page(
            "planner.html", title="Planner", here="planner", sources=source_names(), no_table=NO_TABLE, limits=LIMITS,
            facts_limits=FACTS_LIMITS, dtypes=DTYPES, variants=VARIANTS, **_numbers(state),
            **_plan(state, tables, workers),
        )  # fmt: skip

    @app.get("/planner/numbers")
    def numbers(request: Request) -> Response:
        """The part that depends on the sliders, as a fragment."""
        return page("planner_numbers.html", **_numbers(state_of(Query(request.query_params))))

    @app.get("/planner/plan")
    def plan(request: Request) -> Response:
        """The plan for the facts, or its progress, as a fragment."""
        state = state_of(Query(request.query_params))
        return page("planner_plan.html", state=state, **_plan(state, tables, workers))

    @app.post("/planner/table")
    async def table(request: Request) -> Response:
        """A table that was dropped on the page; the answer is the address of its plan."""
        name = request.query_params.get("name", "")[-120:].replace("/", "_").replace("\0", "_") or "table.csv"
        data = bytearray()
        try:
            async for chunk in request.stream():
                data += chunk
                if len(data) > MOST_BYTES:
                    hint = command("rote", "plan", name)
                    raise HTTPException(413, f"{name}: more than {MOST_BYTES // 2**20} MiB; use `{hint}`")
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        key = ("table", hashlib.sha256(data).digest(), name)
        async with turns.taken():
            try:
                shape, _ = await workers.ask(key, name, "read_table", bytes(data), name)
            finally:
                workers.release(key)
        chosen = tables.keep(bytes(data), name, shape)
        state = state_of(Query({key: str(value) for key, value in chosen.address.items()}))
        return JSONResponse({"address": state.address})


class Turns:
    """So many requests at a time; `MOST_WAITING` others wait, and more are rejected."""

    def __init__(self, at_once: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._waiting = 0

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        if self._waiting >= MOST_WAITING:
            raise Busy("too much is being computed at the moment; try again in a minute")
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()


def _numbers(state: PlannerState) -> dict[str, Any]:
    every = state.bounds()
    numbers = {"state": state, "bounds": every, "bounds_chart": state.bounds_chart(every)}
    if state.facts.kind != "none":
        return numbers
    rows = state.theory()
    return {**numbers, "theory": rows, "theory_chart": state.theory_chart(rows)}


def _plan(state: PlannerState, tables: Tables, workers: Workers) -> dict[str, Any]:
    shown = plan_of(state, tables, workers)
    title = f"Bytes of every way to hold {state.facts.name}"
    return {"plan": shown, "plan_chart": plan_chart(shown.rows, title) if shown and shown.rows else None}
