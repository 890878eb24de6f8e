"""Progress of long computations, passed as an argument: silent in the library, bars on stderr at the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from rote.words import guarded_streams, unguarded


@runtime_checkable
class Stage(Protocol):
    """One computation in progress, of known or unknown length."""

    def advance(self, steps: int = 1) -> None: ...

    def describe(self, text: str) -> None: ...


class Progress:
    """Silent progress, the default of every library call."""

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        yield _SilentStage()

    def record(self, values: Mapping[str, Any]) -> None:
        """Take note of a trial that ended; `rote.trackers` reports it."""


class _SilentStage:
    def advance(self, steps: int = 1) -> None:
        pass

    def describe(self, text: str) -> None:
        pass


class Bars(Progress):
    """Progress bars on stderr, removed when a stage ends."""

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn()]
        if total is not None:
            columns += [MofNCompleteColumn(), TimeRemainingColumn()]
        columns.append(TimeElapsedColumn())
        # rich draws on the terminal itself. What is printed meanwhile stands above the bar, its escapes written out.
        console = Console(file=unguarded(sys.stderr))
        with RichProgress(*columns, console=console, transient=True) as bars, guarded_streams():
            task = bars.add_task(description, total=total)
            yield _RichStage(bars, task)


class _RichStage:
    def __init__(self, bars, task) -> None:
        self._bars, self._task = bars, task

    def advance(self, steps: int = 1) -> None:
        self._bars.advance(self._task, steps)

    def describe(self, text: str) -> None:
        self._bars.update(self._task, description=text)


SILENT = Progress()
