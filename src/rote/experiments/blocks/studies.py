"""Optuna's own record of a run: a study for each point and #blocks, in `studies.sqlite` beside the ledger.

The ledger is what a run resumes from; the studies are brought level with it whenever the run goes on, and can be opened
with Optuna's tools.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from rote.experiments.blocks.proposals import Tried, frozen, tuner

FILE = "studies.sqlite"


class Studies:
    """The studies of a run; in memory alone when there is no folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._kept: dict[str, int] = {}

    @cached_property
    def _storage(self) -> Any:
        storages = tuner().storages
        if self._folder is None:
            return storages.InMemoryStorage()
        self._folder.mkdir(parents=True, exist_ok=True)
        return storages.RDBStorage(f"sqlite:///{self._folder / FILE}")

    def keep(self, name: str, tried: Iterable[Tried]) -> None:
        """Add the trials that a study does not have yet; they are given in the order of their numbers."""
        tried = list(tried)
        if self._kept.get(name, 0) == len(tried):
            return
        study = tuner().create_study(study_name=name, storage=self._storage, direction="maximize", load_if_exists=True)
        study.add_trials([frozen(trial) for trial in tried[len(study.trials) :]])
        self._kept[name] = len(tried)
