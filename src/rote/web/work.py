"""What the processes of a page do (`rote.web.workers`): tasks by name. Each process works on one model, run or plan."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from fastapi.responses import HTMLResponse

from rote.errors import InputError, RoteError, cut
from rote.experiments.ledgers.ledger import FILE as LEDGER
from rote.experiments.sizing.row import PlanRow
from rote.experiments.storage import zipped_bytes
from rote.folders.layout import CERTIFICATE, CONFIG
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
from rote.web.shelf import MOST_FOLDERS, Entry, open_below, version_of
from rote.web.workers import files_now, folder_number, inside_descriptor, opening

ListedT = TypeVar("ListedT", Stated, ListedRun)

LISTING_SECONDS = 3.0
"""CPU time for one list; the folder that is being read then is read to its end."""

_starting = threading.Lock()
_jobs = Jobs()
_listing = threading.Lock()
_lists: dict[tuple[object, Entry], tuple[object, Any]] = {}
"""What was read for lists, with the version of the files."""


def _body(answer: HTMLResponse) -> tuple[int, bytes]:
    return answer.status_code, bytes(answer.body)


class _Model:
    """The model of this process; one that cannot be opened is not tried again before a file of it changes."""

    def __init__(self) -> None:
        self._pages: ModelPages | None = None
        self._seen: tuple[object, ...] = ()
        self._error: str | None = None

    def pages(self, entry: Entry, place: Place) -> ModelPages:
        with _starting:  # so that it is opened once
            if self._pages is not None:
                return self._pages
            seen = files_now(folder_number(0))
            if self._error is not None and self._seen == seen:
                raise InputError(self._error)
            try:
                with opening():
                    self._pages = ModelPages(entry, place)
            except Exception as error:
                # The text alone: what was read hangs from the error itself.
                unforeseen = f"it cannot be shown ({type(error).__name__}: {cut(error)})"
                self._seen, self._error = seen, str(error) if isinstance(error, RoteError) else unforeseen
                raise
            return self._pages


_model = _Model()


@lru_cache(maxsize=1)
def _runs() -> RunPages:
    return RunPages()


def model_page(kind: str, entry: Entry, place: Place, given: dict[str, str]) -> tuple[int, bytes]:
    """A page about the model of this process."""
    pages = _model.pages(entry, place)
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
    return _listed(entries, Stated.of, (CONFIG, CERTIFICATE), Stated.unread)


def listed_runs(entries: Sequence[Entry]) -> list[ListedRun]:
    """Runs with their progress."""
    return _listed(entries, ListedRun.of_ledger, (LEDGER, f"{LEDGER}-wal"), ListedRun.unread)


def _listed(
    entries: Sequence[Entry],
    read: Callable[[Entry], ListedT],
    names: Sequence[str],
    unread: Callable[[Entry], ListedT],
) -> list[ListedT]:
    """What a list says of each folder: kept while its files stay as they are, and read for `LISTING_SECONDS` at most.

    Folders that this leaves out are listed as not read yet; the next request continues with them.
    """
    found = []
    with _listing:
        start = time.process_time()
        for entry in entries:
            number, *parts = entry.name.split("/")
            try:
                folder = open_below(folder_number(int(number)), parts)
            except OSError:
                continue  # it was removed meanwhile
            try:
                version = tuple(_version(folder, name) for name in names)
                seen, said = _lists.get((read, entry), (None, unread(entry)))
                if seen != version and time.process_time() < start + LISTING_SECONDS:
                    with inside_descriptor(folder):
                        said = read(entry)
                    _lists[read, entry] = version, said
                    while len(_lists) > 2 * MOST_FOLDERS:
                        _lists.pop(next(iter(_lists)))
                found.append(said)
            finally:
                os.close(folder)
    return found


def _version(folder: int, name: str) -> tuple[int, ...]:
    try:
        return version_of(folder, name)
    except OSError:
        return ()


def read_table(data: bytes, name: str) -> tuple[TaskShape, int]:
    """The sizes of a table that was dropped on the page, and the bytes of a zip of it."""
    task = require_tokens(facts_in(data, name), "plans are for token tasks")
    return task.shape, zipped_bytes(data)


def plan(source: str, data: bytes | None, dtype: Dtype | None, wait: float) -> Sequence[PlanRow] | JobProgress:
    """The rows of a plan, or its progress."""
    job = _jobs.ask((source, dtype), lambda progress: planned_rows(source, data, dtype, progress), wait)
    return job.result if job.ready else job.progress
