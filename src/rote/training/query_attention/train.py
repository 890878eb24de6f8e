"""Training of one query-attention model on a vector task.

Initial weights are those of the released experiments. The embedding and the readout start as linear layers do, uniform
in +-1/sqrt(inputs) with their biases; W_Q, W_K and W_V are Xavier uniform head by head, W_O Xavier uniform as one
matrix from all heads' values.

Variable projection for regression on one target: the readout is solved at every step while attention is trained.

For fixed attention the output is linear in what the heads read: with a shared context in the Hn attention weights
(a head's values are n free numbers as long as n <= d), with fresh ones in the Hd coordinates of the heads' mixtures. A
ridge regression gives the best readout; it is written into the released parameters (W_V carries it, W_O and the readout
only pass it on), and by the envelope theorem the gradient of the best error in everything else is the ordinary gradient
at that readout (Golub and Pereyra 1973).
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
from jaxtyping import Float
from torch import Tensor

from rote.errors import InputError
from rote.measure import error, recall
from rote.models import QueryAttention, Spec
from rote.models.model import Model
from rote.tasks import VectorTask
from rote.training.initial import generator
from rote.training.memory import keep_freed_memory
from rote.training.query_attention.descent import FoldedObjective, Optimiser, Path, Report, descend, rates_of
from rote.training.query_attention.examples import chunks, shares_of
from rote.training.query_attention.fold import Embedding, fold
from rote.training.query_attention.problem import Coordinates, VectorProblem, must_match
from rote.training.query_attention.protocol import VectorProtocol, vector_protocol

SOLVED = ("value", "output", "readout", "readout_bias")
COLUMNS_AT_ONCE = 160
"""Columns whose products with those after them are one matrix product: enough for it to run at full speed, few enough
that little more than half of all products are computed."""


def project(objective: FoldedObjective, weights: dict[str, Tensor], protocol: VectorProtocol, report: Report) -> Path:
    """Train W_Q, W_K and the embedding; the readout is optimal at every step."""
    _must_be_linear(objective)
    trained = {name: tensor.clone().requires_grad_() for name, tensor in weights.items() if name not in SOLVED}
    optimiser = Optimiser(trained, protocol)
    rates, matrix_rates = rates_of(protocol)
    path, attended = Path(weights), AttendedExamples(objective)
    for step in range(protocol.steps + 1):
        detached = {name: tensor.detach() for name, tensor in trained.items()}
        whole = trained | solved_readout(objective, detached, protocol.ridge, attended)
        loss = objective.gradient(whole, shares=attended.shares).mean_loss
        path.steps = step
        if not math.isfinite(loss):
            path.diverged_at = step
            break
        path.keep(whole, 0.0, loss)
        if step == protocol.steps:
            break
        optimiser.step(rates[step], matrix_rates[step])
        report(1)
    return path


class AttendedExamples:
    """The features that the heads read of every example; the memory is reused at every step."""

    def __init__(self, objective: FoldedObjective) -> None:
        spec, queries = objective.spec, objective.problem.queries
        self._objective = objective
        self.shares: Float[Tensor, "examples heads context"] = queries.new_empty(len(queries), spec.heads, spec.context)
        """Attention weights."""
        width = spec.context if objective.problem.shared else spec.dim
        self.features: Float[Tensor, "examples features"] = queries.new_empty(len(queries), spec.heads * width)
        """Features in which the output is linear."""

    @torch.no_grad()
    def read(self, weights: dict[str, Tensor]) -> None:
        """Read all examples with these weights of attention and embedding."""
        spec, problem = self._objective.spec, self._objective.problem
        blank = weights["query"]
        no_readout = {
            "value": blank.new_zeros(spec.heads, 1, spec.dim),
            "output": blank.new_zeros(spec.heads, spec.dim, 1),
            "readout": blank.new_zeros(1, spec.dim),
            "readout_bias": blank.new_zeros(1),
        }
        tables = fold(spec, weights | no_readout, problem.contexts)
        embedding = Embedding.of(spec, weights)
        for part in chunks(problem, spec.heads):
            examples, shares = problem.rows(part), self.shares[part]
            shares.copy_(shares_of(tables, examples))
            if problem.shared:
                self.features[part] = shares.flatten(1)
                continue
            mixtures, embedded = shares @ examples.contexts, self.features[part].view(-1, spec.dim)
            torch.mm(mixtures.view(-1, spec.dim), embedding.matrix.T, out=embedded)
            embedded.addmm_(shares.view(-1, spec.context), embedding.tokens)


@torch.no_grad()
def solved_readout(
    objective: FoldedObjective, weights: dict[str, Tensor], ridge: float, attended: AttendedExamples
) -> dict[str, Tensor]:
    """W_V, W_O, the readout and its bias with the least squared error for this attention, in released parameters.

    W_O and the readout place every head's value in the first coordinate and read it there. The features of `attended`
    are left centred.
    """
    spec, problem = objective.spec, objective.problem
    attended.read(weights)
    features = attended.features
    targets = problem.answers[:, 0]
    means, middle = features.mean(0), targets.mean()
    features -= means
    gram = products_of_columns(features).double()
    gram.diagonal().add_(ridge * len(targets))
    projected = (features.T @ (targets - middle)).double()
    solution = torch.cholesky_solve(projected[:, None], torch.linalg.cholesky(gram))[:, 0]
    bias = middle.double() - means.double() @ solution
    values = solution.view(spec.heads, -1)
    if problem.shared:
        tokens = Embedding.of(spec, weights).context(problem.contexts[0]).double()
        values = values @ torch.linalg.pinv(tokens).T
    first = torch.eye(spec.dim, 1, dtype=torch.float64)
    solved = {"value": values[:, None], "output": first.expand(spec.heads, -1, -1), "readout": first.T}
    if spec.readout_bias:
        solved["readout_bias"] = bias[None]
    return {name: tensor.to(targets.dtype).contiguous() for name, tensor in solved.items()}


def products_of_columns(matrix: Float[Tensor, "rows columns"]) -> Float[Tensor, "columns columns"]:
    """The products of all pairs of columns; those below the diagonal are copied from above it."""
    columns = matrix.shape[1]
    products = matrix.new_empty(columns, columns)
    for start in range(0, columns, COLUMNS_AT_ONCE):
        end = start + COLUMNS_AT_ONCE
        products[start:end, start:] = matrix[:, start:end].T @ matrix[:, start:]
        products[end:, start:end] = products[start:end, end:].T
    return products


def _must_be_linear(objective: FoldedObjective) -> None:
    spec, problem = objective.spec, objective.problem
    reasons = []
    if problem.labelled or spec.outputs != 1:
        reasons.append("it takes one real target per example")
    if problem.shared and spec.context > spec.dim:
        reasons.append(f"a shared context of {spec.context} tokens has more values than {spec.dim} dimensions can give")
    if not spec.readout_bias:
        reasons.append("the model needs a readout_bias")
    if reasons:
        raise InputError(f"variable projection cannot train this: {'; '.join(reasons)}. Use method descent")


@dataclass(frozen=True, eq=False)
class VectorTrained:
    """One trained model, measured on every example as `rote.recall` and `rote.measure.measures` do."""

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
