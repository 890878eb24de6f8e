"""Training of one query-attention model on a vector task.

Initial weights are those of the released experiments. The embedding and the readout start as linear layers do, uniform
in +-1/sqrt(inputs) with their biases; W_Q, W_K and W_V are Xavier uniform head by head, W_O Xavier uniform as one
matrix from all heads' values.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rote.errors import InputError
from rote.measure.error import error
from rote.measure.recall import recall
from rote.models.model import Model
from rote.models.query_attention import QueryAttention
from rote.models.spec import Spec
from rote.tasks import VectorTask
from rote.training.initial import generator
from rote.training.memory import keep_freed_memory
from rote.training.query_attention.descent import Report, descend
from rote.training.query_attention.objective import FoldedObjective
from rote.training.query_attention.problem import Coordinates, VectorProblem, must_match
from rote.training.query_attention.projection import project
from rote.training.query_attention.protocol import VectorProtocol, vector_protocol


@dataclass(frozen=True, eq=False)
class VectorTrained:
    """One trained model, measured on every example as `rote.recall` and `rote.measure.error` do."""

    model: Model
    seed: int
    protocol: VectorProtocol
    accuracy: float | None
    """Share of labels recalled; None for regression, or if training diverged."""
    mean_square: float | None
    """Mean squared error; None for classification, or if training diverged."""
    loss: float
    """Loss of the kept weights over all examples: cross-entropy in nats, or squared error."""
    steps: int
    """Steps taken: fewer than the protocol's if every label was right before."""
    diverged_at: int | None
    seconds: float
    """CPU time."""
    curve: np.ndarray = field(repr=False)
    """Rows of (step, loss over all examples)."""

    engine: str = "folded"

    @property
    def diverged(self) -> bool:
        return self.diverged_at is not None

    def summary(self) -> dict[str, Any]:
        """Everything but the weights as one JSON document."""
        return {
            "seed": self.seed,
            "protocol": self.protocol.name,
            "steps": self.steps,
            "engine": self.engine,
            "accuracy": self.accuracy,
            "mean_square": self.mean_square,
            "loss": self.loss,
            "diverged_at": self.diverged_at,
            "parameters": self.model.parameters,
            "seconds": self.seconds,
        }


def trainable_on_vectors(spec: Spec) -> QueryAttention:
    """The specification, if the folded engine can train it."""
    if not isinstance(spec, QueryAttention):
        raise InputError(f"{spec.architecture} models do not read vectors; train a query-attention model on them")
    if spec.value_dim != 1:
        raise InputError(
            f"value_dim: {spec.value_dim} is not trained here; the published experiments have value_dim 1, "
            "and more heads do what more value dimensions would"
        )
    return spec


def initial_vector_weights(spec: QueryAttention, seed: int) -> dict[str, Tensor]:
    """Every tensor of the specification in float32."""
    rng = generator(seed, "initial weights")
    return {
        name: torch.from_numpy(rng.uniform(-bound, bound, shape)).float()
        for name, shape in spec.shapes().items()
        for bound in (_bound(spec, name),)
    }


def _bound(spec: QueryAttention, name: str) -> float:
    if name in ("query", "key"):
        return math.sqrt(6 / (spec.dim + spec.head_dim))
    if name == "value":
        return math.sqrt(6 / (spec.dim + spec.value_dim))
    if name == "output":
        return math.sqrt(6 / (spec.heads * spec.value_dim + spec.dim))
    return 1 / math.sqrt(spec.dim)


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
