"""Trials over the threads of this process: the next are asked for whenever one ends.

Trials whose work releases the interpreter share a process; which of them runs next may depend on what ended, so nothing
is queued ahead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from operator import attrgetter
from typing import Any

from rote.errors import InputError
from rote.experiments.trainer import PendingTrials, TrialOutcome, TrialT
from rote.progress import Progress
from rote.training.failure import FAILURES, Failed

Record = dict[str, Any]


def in_threads(
    pending: PendingTrials[TrialT],
    workers: int | None,
    progress: Progress,
    what: str,
    work: Callable[[list[TrialT]], list[Record]],
    stack: Callable[[TrialT], Hashable] = attrgetter("key"),
    total: int | None = None,
) -> Iterator[TrialOutcome[TrialT, Record]]:
    """Run what `ask` wants until it wants nothing, and give each trial's record with its processor time.

    Trials of one `stack` are worked on together by one thread; `work` gives a record for each. `total` is how many
    there will be, where that is known.
    """
    workers = os.cpu_count() or 1 if workers is None else workers
    if workers < 1:
        raise InputError(f"`workers={workers}`: must be at least 1")
    with ThreadPoolExecutor(workers, f"rote-{what}") as pool, progress.stage(what, total) as stage:
        running: dict[Future[list[Record]], list[TrialT]] = {}
        ended = 0
        try:
            while True:
                busy = {stack(trials[0]) for trials in running.values()}
                waiting: dict[Hashable, list[TrialT]] = {}
                for trial in pending():
                    if (name := stack(trial)) not in busy:
                        waiting.setdefault(name, []).append(trial)
                for trials in list(waiting.values())[: workers - len(running)]:
                    running[pool.submit(work, trials)] = trials
                if not running:
                    return
                stage.describe(f"{what}: {ended} trials ended, {len(waiting)} known to be wanted")
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    for trial, record in _outcomes(running.pop(future), future):
                        ended += 1
                        stage.advance()
                        yield trial, record, 0.0 if isinstance(record, Failed) else record["seconds"]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _outcomes(trials: list[TrialT], future: Future[list[Record]]) -> list[tuple[TrialT, Record | Failed]]:
    try:
        records = future.result()
    except FAILURES as error:
        return [(trial, Failed(error)) for trial in trials]
    return list(zip(trials, records, strict=True))
