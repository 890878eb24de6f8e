"""Trials on vector tasks over a ledger, where the next ones may depend on those that ended.

What is wanted is a pure function of the results so far. Whenever a trial ends it is committed and the function asked
again: a grid wants all its cells at once, a search one size at a time, and a run that was killed goes on.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from rote import __version__
from rote.errors import InputError
from rote.experiments.ledger import Ledger, TrialKey
from rote.experiments.vector_trial import VectorTrial
from rote.progress import SILENT, Progress

Results = Mapping[TrialKey, dict[str, Any]]
Wanted = Callable[[Results], Sequence[VectorTrial]]
"""Trials to run next, most urgent first, given what has ended; those that run already may be among them."""


def run_wanted(
    wanted: Wanted,
    folder: str | Path,
    identity: dict[str, Any],
    *,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> dict[TrialKey, dict[str, Any]]:
    """Run what is wanted until nothing is, one thread a trial; every result that the ledger then holds, by trial."""
    workers = os.cpu_count() or 1 if workers is None else workers
    if workers < 1:
        raise InputError(f"workers: {workers} must be at least 1")
    about = {"rote": __version__, "machine": platform.machine(), "python": platform.python_version()}
    with Ledger.open(folder, identity, about) as ledger:
        results = {TrialKey.of(row.cell, row.seed): row.result for row in ledger.rows()}
        with ThreadPoolExecutor(workers, "rote-vectors") as pool, progress.stage("training") as stage:
            running: dict[Future[dict[str, Any]], VectorTrial] = {}
            try:
                while True:
                    busy = {trial.key for trial in running.values()}
                    named = {trial.key: trial for trial in wanted(results)}
                    waiting = [trial for key, trial in named.items() if key not in busy]
                    for trial in waiting[: workers - len(running)]:
                        running[pool.submit(trial.run)] = trial
                    if not running:
                        return results
                    stage.describe(f"training: {len(results)} trials ended, {len(waiting)} known to be wanted")
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        trial = running.pop(future)
                        results[trial.key] = future.result()
                        ledger.record(trial.cell, trial.seed, results[trial.key], results[trial.key]["seconds"])
                        stage.advance()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
