"""The queue of models to train over the cores: results are yielded as they end.

One model per core is faster than parallelism inside a step, since a step is too short to divide. A result depends on
its trial alone, never on the number of workers or on what else runs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rote.errors import InputError
from rote.models import Spec, Transformer
from rote.models.grid import GridName
from rote.progress import SILENT, Progress, Stage
from rote.tasks import TokenTask
from rote.training import native_engine
from rote.training.failure import FAILURES, Failed
from rote.training.initial import flattened, initial_weights, trainable
from rote.training.memory import MOST_STACKED, bytes_per_model, free_memory, refuse_what_cannot_fit
from rote.training.objective import Objective
from rote.training.on_grid import refuse_off_grid, run_on_grid
from rote.training.problem import TrainingProblem
from rote.training.protocol import EngineName, Protocol
from rote.training.result import Trained
from rote.training.run import Data, Report, run
from rote.training.torch_objective import TorchObjective


@dataclass(frozen=True, eq=False)
class TrainingTrial:
    """One model to train. `key` is the caller's name for it and is returned unchanged."""

    task: TokenTask
    spec: Spec
    protocol: Protocol
    seed: int
    key: Any = None
    start: dict[str, Tensor] | None = field(default=None, repr=False)
    """Initial weights, for example a construction's. Default: random, as in the released experiments."""


@dataclass(frozen=True, eq=False)
class _Job:
    trials: list[TrainingTrial]
    spec: Transformer
    problem: TrainingProblem
    native: bool


class _Stopped(Exception):
    pass


def run_trials(
    trials: Sequence[TrainingTrial],
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    device: str = "cpu",
    memory: int | None = None,
    progress: Progress = SILENT,
) -> Iterator[tuple[TrainingTrial, Trained]]:
    """Train every trial and yield it with its result as soon as it ends, in no particular order.

    `engine=auto` is the native engine if it was built and `device` is the CPU, else the torch engine. `memory` is a
    limit in bytes. Default: the free memory. All trials are checked before the first one runs.
    """
    jobs, refused = _jobs(list(trials), engine, device, memory, workers)
    for _, failed in refused:
        raise failed.error
    return _whole(_run_jobs(jobs, workers or os.cpu_count() or 1, device, memory, progress))


def attempt_trials(
    trials: Sequence[TrainingTrial],
    *,
    workers: int | None = None,
    engine: EngineName = "auto",
    device: str = "cpu",
    progress: Progress = SILENT,
) -> Iterator[tuple[TrainingTrial, Trained | Failed]]:
    """As `run_trials`, but a trial that fails is yielded with its reason, and the others continue."""
    jobs, refused = _jobs(list(trials), engine, device, None, workers)
    return chain(refused, _run_jobs(jobs, workers or os.cpu_count() or 1, device, None, progress))


def train_here(trial: TrainingTrial, engine: EngineName = "auto") -> Trained:
    """Train one model in the calling thread, whose CPU time is then the model's too."""
    jobs, refused = _jobs([trial], engine, "cpu", None, 1)
    for _, failed in refused:
        raise failed.error
    with SILENT.stage("training", trial.protocol.steps) as stage:
        return _run_job(jobs[0], "cpu", stage, threading.Event())[0]


def _whole(outcomes: Iterator[tuple[TrainingTrial, Trained | Failed]]) -> Iterator[tuple[TrainingTrial, Trained]]:
    for trial, outcome in outcomes:
        if isinstance(outcome, Failed):
            raise outcome.error
        yield trial, outcome


def _jobs(
    trials: list[TrainingTrial], engine: EngineName, device: str, memory: int | None, workers: int | None
) -> tuple[list[_Job], list[tuple[TrainingTrial, Failed]]]:
    """The jobs, and the trials that do not fit into memory."""
    if engine not in ("auto", "native", "torch"):
        raise InputError(f"`engine={engine}`: is not one of auto, native, torch")
    if workers is not None and workers < 1:
        raise InputError(f"`workers={workers}`: must be at least 1")
    _must_exist(device)
    fused = engine != "torch" and device == "cpu" and native_engine.available(required=engine == "native")
    # Trials that share a task share the problem made of it.
    problems_of: dict[TokenTask, TrainingProblem] = {}
    jobs: list[_Job] = []
    refused: list[tuple[TrainingTrial, Failed]] = []
    for trial in trials:
        spec = trainable(trial.spec)
        if trial.task not in problems_of:
            problems_of[trial.task] = TrainingProblem.of(trial.task)
        problem = problems_of[trial.task]
        _must_match(spec, problem)
        if trial.protocol.dtype is not None:
            refuse_off_grid(spec, trial.protocol.dtype)
            if trial.start is not None:
                raise InputError(f"`start`: training on a grid (`dtype={trial.protocol.dtype}`) begins at random")
        try:
            refuse_what_cannot_fit(spec, problem, trial.protocol, not fused, memory)
        except InputError as error:
            refused.append((trial, Failed(error)))
            continue
        if not fused and jobs and _stackable(jobs[-1], trial, memory):
            jobs[-1].trials.append(trial)
        else:
            jobs.append(_Job([trial], spec, problem, fused))
    return jobs, refused


def _must_exist(device: str) -> None:
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"`device={device}`: cannot be used here ({str(error).splitlines()[0]}); use cpu") from None


def _stackable(job: _Job, trial: TrainingTrial, memory: int | None) -> bool:
    first = job.trials[0]
    if job.native or (first.spec, first.protocol) != (trial.spec, trial.protocol) or first.task != trial.task:
        return False
    limit = free_memory() if memory is None else memory
    needed = bytes_per_model(job.spec, job.problem, trial.protocol, stacked=True) * (len(job.trials) + 1)
    return len(job.trials) < MOST_STACKED and (limit is None or needed <= limit)


def _must_match(spec: Transformer, problem: TrainingProblem) -> None:
    if spec.context != problem.context:
        raise InputError(
            f"context: the specification reads {spec.context} tokens but the task's keys have {problem.context}"
        )
    if spec.vocab != problem.vocab:
        raise InputError(f"vocab: the specification has {spec.vocab} tokens but the task's vocabulary {problem.vocab}")


def _run_jobs(
    jobs: list[_Job], workers: int, device: str, memory: int | None, progress: Progress
) -> Iterator[tuple[TrainingTrial, Trained | Failed]]:
    stop = threading.Event()
    models = sum(len(job.trials) for job in jobs)
    ended = 0
    # Longest first, so that no core idles at the end.
    waiting = sorted(jobs, key=_cost)
    limit = free_memory() if memory is None else memory
    total = sum(job.trials[0].protocol.steps * len(job.trials) for job in jobs)
    with (
        progress.stage(f"training {models} models", total) as stage,
        ThreadPoolExecutor(workers, thread_name_prefix="rote-train") as pool,
    ):
        running: dict[Future[list[Trained]], _Job] = {}
        taken = 0
        try:
            while waiting or running:
                while waiting and (
                    not running or _may_start(waiting[-1], list(running.values()), workers, taken, limit)
                ):
                    job = waiting.pop()
                    running[pool.submit(_run_job, job, device, stage, stop)] = job
                    taken += _bytes(job)
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    taken -= _bytes(job)
                    ended += len(job.trials)
                    stage.describe(f"training: {ended} of {models} models done")
                    yield from zip(job.trials, _outcomes(job, future), strict=True)
        finally:
            stop.set()


def _outcomes(job: _Job, future: Future[list[Trained]]) -> Sequence[Trained | Failed]:
    """The outcomes of a job; the models of a stack fail together."""
    try:
        return future.result()
    except FAILURES as error:
        return [Failed(error)] * len(job.trials)


def _may_start(job: _Job, running: list[_Job], workers: int, taken: int, limit: int | None) -> bool:
    """True if another job may start now. Torch divides a step over the cores itself, so its jobs run alone."""
    if not running:
        return True
    if len(running) >= workers or not job.native or not all(other.native for other in running):
        return False
    return limit is None or taken + _bytes(job) <= limit


def _bytes(job: _Job) -> int:
    return bytes_per_model(job.spec, job.problem, job.trials[0].protocol, not job.native) * len(job.trials)


def _cost(job: _Job) -> int:
    protocol = job.trials[0].protocol
    contexts = len(job.problem) if protocol.batch is None else protocol.batch
    return len(job.trials) * protocol.steps * (contexts + job.spec.vocab) * job.spec.parameters()


def _run_job(job: _Job, device: str, stage: Stage, stop: threading.Event) -> list[Trained]:
    def report(steps: int) -> None:
        stage.advance(steps * len(job.trials))
        if stop.is_set():
            raise _Stopped

    protocol = job.trials[0].protocol
    seeds = [trial.seed for trial in job.trials]
    data = [Data(job.problem, protocol, seed) for seed in seeds]
    flat = np.stack([_start(job.spec, trial) for trial in job.trials])
    weights = np.stack([sampled.weights for sampled in data])
    if protocol.dtype is not None:
        return [_run_on_grid(job, protocol.dtype, seed, device, report) for seed in seeds]
    if job.native:
        objective = native_engine.NativeObjective(job.spec, job.problem, weights[0])
    else:
        objective = TorchObjective(job.spec, job.problem, weights, device)
    return run(objective, protocol, flat, data, seeds, job.trials[0].task.vocabulary, report)


def _run_on_grid(job: _Job, dtype: GridName, seed: int, device: str, report: Report) -> Trained:
    def reweighted(weights: np.ndarray) -> Objective:
        if job.native:
            return native_engine.NativeObjective(job.spec, job.problem, weights)
        return TorchObjective(job.spec, job.problem, weights[None], device)

    first = job.trials[0]
    return run_on_grid(reweighted, job.problem, first.protocol, dtype, seed, first.task.vocabulary, report)


def _start(spec: Transformer, trial: TrainingTrial) -> np.ndarray:
    return initial_weights(spec, trial.seed) if trial.start is None else flattened(spec, trial.start)
