"""What the processes of a page do (`rote.web.workers`): tasks by name. Each process works on one model, run or plan."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from fastapi.responses import HTMLResponse

from rote.experiments.sizing.row import PlanRow
from rote.experiments.storage import zipped_bytes
from rote.models.spec import Dtype
from rote.tasks import require_tokens
from rote.tasks.facts import facts_in
from rote.tasks.shape import TaskShape
from rote.web.inspector import Place, Stated
from rote.web.inspector_pages import ModelPages
from rote.web.jobs import JobProgress, Jobs
from rote.web.plans import planned_rows
from rote.web.query import Query
from rote.web.run_pages import ListedRun, RunPages
from rote.web.shelf import Entry, open_below
from rote.web.workers import folder_number, inside_descriptor

ListedT = TypeVar("ListedT", Stated, ListedRun)

_starting = threading.Lock()
_jobs = Jobs()


def _body(answer: HTMLResponse) -> tuple[int, bytes]:
    return answer.status_code, bytes(answer.body)


@lru_cache(maxsize=1)
def _model(entry: Entry, place: Place) -> ModelPages:
    return ModelPages(entry, place)


@lru_cache(maxsize=1)
def _runs() -> RunPages:
    return RunPages()


def model_page(kind: str, entry: Entry, place: Place, given: dict[str, str]) -> tuple[int, bytes]:
    """A page about the model of this process."""
    with _starting:  # so that it is opened once
        pages = _model(entry, place)
    answers: dict[str, Callable[[Query], HTMLResponse]] = {
        "model": pages.model, "search": pages.search, "live": pages.live, "fact": pages.fact,
    }  # fmt: skip
    return _body(answers[kind](Query(given)))


def run_page(kind: str, entries: Sequence[Entry]) -> tuple[int, bytes]:
    """A page about the runs of this process."""
    with _starting:
        pages = _runs()
    return _body(pages.answer(kind, entries))


def stated_models(entries: Sequence[Entry]) -> list[Stated]:
    """Configurations and certificates of model folders."""
    return [_inside(entry, Stated.of) for entry in entries]


def listed_runs(entries: Sequence[Entry]) -> list[ListedRun]:
    """Runs with their progress."""
    return [_inside(entry, ListedRun.of_ledger) for entry in entries]


def _inside(entry: Entry, work: Callable[[Entry], ListedT]) -> ListedT:
    number, *parts = entry.name.split("/")
    folder = open_below(folder_number(int(number)), parts)
    try:
        with inside_descriptor(folder):
            return work(entry)
    finally:
        os.close(folder)


def read_table(data: bytes, name: str) -> tuple[TaskShape, int]:
    """The sizes of a table that was dropped on the page, and the bytes of a zip of it."""
    task = require_tokens(facts_in(data, name), "plans are for token tasks")
    return task.shape, zipped_bytes(data)


def plan(source: str, data: bytes | None, dtype: Dtype | None, wait: float) -> Sequence[PlanRow] | JobProgress:
    """The rows of a plan, or its progress."""
    job = _jobs.ask((source, dtype), lambda progress: planned_rows(source, data, dtype, progress), wait)
    return job.result if job.ready else job.progress
