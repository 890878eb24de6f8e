"""Training of one query-attention model on a vector task."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from rote.measure.error import error
from rote.measure.recall import recall
from rote.models.model import Model
from rote.models.spec import Spec
from rote.tasks import VectorTask
from rote.training.freed_memory import keep_freed_memory
from rote.training.query_attention.coordinates import Coordinates
from rote.training.query_attention.descent import Report, descend
from rote.training.query_attention.initial import initial_vector_weights, trainable_on_vectors
from rote.training.query_attention.objective import FoldedObjective
from rote.training.query_attention.problem import VectorProblem, must_match
from rote.training.query_attention.projection import project
from rote.training.query_attention.protocol import VectorProtocol, vector_protocol
from rote.training.query_attention.result import VectorTrained


def train_vectors(
    task: VectorTask,
    spec: Spec,
    seed: int = 0,
    protocol: str | VectorProtocol = "fast",
    *,
    report: Report = lambda steps: None,
    **changes: Any,
) -> VectorTrained:
    """Train from the initial weights of a seed, in float32 on one thread; the same seed gives the same model.

    `protocol` is `paper`, `fast`, `best` or a `VectorProtocol`; `changes` replace its fields (`steps=2000`).
    """
    shape = trainable_on_vectors(spec)
    must_match(shape, task)
    protocol = vector_protocol(protocol, task, **changes) if isinstance(protocol, str) else protocol.changed(**changes)
    with one_thread():
        started = time.thread_time()
        coordinates = Coordinates.of(task, shape) if protocol.standardise else Coordinates()
        objective = FoldedObjective(shape, VectorProblem.of(task, coordinates))
        weights = coordinates.inside(initial_vector_weights(shape, seed))
        if protocol.method == "projection":
            path = project(objective, weights, protocol, report)
        else:
            path = descend(objective, weights, protocol, seed, report)
        model = Model(shape, coordinates.outside(path.weights))
        diverged = path.diverged_at is not None
        labelled = task.targets is None
        return VectorTrained(
            model=model,
            seed=seed,
            protocol=protocol,
            accuracy=None if diverged or not labelled else recall(model, task).recall,
            mean_square=None if diverged or labelled else error(model, task).mean_square,
            loss=path.loss,
            steps=path.steps,
            diverged_at=path.diverged_at,
            seconds=time.thread_time() - started,
            curve=np.array(path.curve, dtype=np.float64).reshape(-1, 2),
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Run with one thread per operation, denormal numbers flushed to zero, and freed memory kept for the next step.

    Results then depend neither on the number of cores nor on what else runs.
    """
    keep_freed_memory()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)
