"""Attention whose outputs on all examples are independent, and the solve for W_V.

Notation is that of `theorem1`.

What the heads together must give on every example, and the readout that turns it into classes or real outputs.

The readout sees d_v numbers: for labels these are a code per class, for real targets the targets themselves, or their
coordinates in the space they span when there are more outputs than dimensions.

What Mahdavi, Liao and Thrampoulidis 2024 assume of their examples, measured; and the rank no attention exceeds.

Assumption 1: the queries have Kruskal rank at least n (any n of them are independent). Assumption 2: every context
(n x d) has rank n. Notation: n is `context`, d `dim`, H `heads`, k `head_dim`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.codes import answer_code
from rote.constructions.common.solvers.least_norm import Factored, factor
from rote.constructions.construction import Draft, Request
from rote.constructions.mahdavi2024.options import ID, TheoremOptions
from rote.constructions.mahdavi2024.routes import proof_route, random_route
from rote.errors import CheckFailed, InputError, problems
from rote.models.forward.query_attention import mixtures
from rote.models.model import Model, dtype_named
from rote.models.query_attention import QueryAttention
from rote.models.spec import FORWARD_FLOATS, rows_within
from rote.tasks import VectorTask

RELATIVE_ZERO = 1e-10
"""A singular value this much smaller than the largest counts as zero: data given in float64 are rounded at 1e-16."""


@dataclass(frozen=True)
class Assumptions:
    """How far the examples satisfy the theorem's assumptions."""

    queries_smallest: float
    """Smallest ratio of extreme singular values over the sampled sets of n queries; zero when some are dependent."""
    query_sets: int
    """Sets of n queries that were drawn: Kruskal rank is checked on samples, since there are too many sets."""
    context_rank: int
    """Smallest rank of a context."""
    context: int

    @property
    def hold(self) -> bool:
        return self.queries_smallest > RELATIVE_ZERO and self.context_rank == self.context

    def measured(self) -> dict[str, Any]:
        return {
            "assumptions_hold": self.hold,
            "query_sets_sampled": self.query_sets,
            "query_sets_smallest_singular_ratio": self.queries_smallest,
            "smallest_context_rank": self.context_rank,
        }


def measure_assumptions(
    contexts: np.ndarray, queries: np.ndarray, generator: np.random.Generator, samples: int = 200
) -> Assumptions:
    """Rank of every context, and singular values of sampled sets of n queries (of all of them if fewer)."""
    examples, dim = queries.shape
    size = min(contexts.shape[1], examples)
    sets = np.stack([generator.permutation(examples)[:size] for _ in range(samples if size < examples else 1)])
    ratios = np.zeros(len(sets)) if size > dim else _ratios(queries[sets])
    singular = np.linalg.svd(contexts, compute_uv=False)
    ranks = (singular > RELATIVE_ZERO * singular[:, :1]).sum(1)
    return Assumptions(float(ratios.min()), len(sets), int(ranks.min()), contexts.shape[1])


def _ratios(matrices: np.ndarray) -> np.ndarray:
    singular = np.linalg.svd(matrices, compute_uv=False)
    return np.divide(singular[:, -1], singular[:, 0], out=np.zeros(len(singular)), where=singular[:, 0] > 0)


@dataclass(frozen=True)
class Reach:
    """Largest rank that attention features can have on these contexts.

    Every head's output is a weighted mean of tokens, so it lies in their affine hull: of dimension a, it gives each
    head at most a directions, and one more for all heads together when the hull misses the origin. For one shared
    context of rank n this is H(n-1) + 1; for distinct contexts that span R^d it is Hd.
    """

    directions: int
    misses_origin: bool

    def rank(self, heads: int) -> int:
        return heads * self.directions + self.misses_origin

    def heads_for(self, examples: int) -> int:
        """Fewest heads whose features can reach rank `examples`."""
        return max(1, -(-(examples - self.misses_origin) // max(1, self.directions)))

    def words(self, heads: int) -> str:
        """The formula with its numbers."""
        return f"{heads} x {self.directions}{' + 1' if self.misses_origin else ''} = {self.rank(heads)}"


def reach(contexts: np.ndarray) -> Reach:
    """The affine hull of all tokens of all contexts."""
    tokens = contexts.reshape(-1, contexts.shape[-1])
    whole = np.linalg.matrix_rank(tokens, rtol=RELATIVE_ZERO)
    directions = np.linalg.matrix_rank(tokens - tokens.mean(0), rtol=RELATIVE_ZERO)
    return Reach(int(directions), bool(whole > directions))


def value_dim_for(task: VectorTask, asked: int | None) -> int:
    """d_v: for labels the length of a class code, for targets the rank of the matrix of targets."""
    if task.labels is not None:
        # Sixteen dimensions keep random class codes well apart at 32 numbers a head and dimension.
        return asked or min(task.outputs, task.dim, 16)
    needed = task.outputs
    if needed > task.dim:
        needed = int(np.linalg.matrix_rank(cast(np.ndarray, task.targets)))
    if needed > task.dim or needed > (asked or needed):
        limit = f"dim {task.dim}" if needed > task.dim else f"`value_dim={asked}`"
        raise InputError(
            f"{ID}: targets of rank {needed} do not fit through {limit}: all outputs are read from that many "
            "numbers. Give fewer outputs, or vectors of a larger dim"
        )
    return asked or needed


def wanted_outputs(
    task: VectorTask, spec: QueryAttention, generator: torch.Generator
) -> tuple[Float[Tensor, "examples value_dim"], Float[Tensor, "outputs dim"]]:
    """What the heads' sum must be on every example, and the readout that turns it into outputs."""
    readout = torch.zeros(spec.outputs, spec.dim, dtype=torch.float64)
    if task.labels is not None:
        if spec.value_dim == 1 and spec.outputs > 2:
            raise InputError(f"{ID}: `value_dim=1` tells two classes apart, not {spec.outputs}; give 2 or more")
        code = answer_code(spec.outputs, spec.value_dim, generator)
        readout[:, : spec.value_dim] = code
        return code[torch.from_numpy(task.labels).long()], readout
    targets = torch.from_numpy(cast(np.ndarray, task.targets))
    if spec.outputs <= spec.value_dim:
        readout[:, : spec.outputs] = torch.eye(spec.outputs, dtype=torch.float64)
        return torch.nn.functional.pad(targets, (0, spec.value_dim - spec.outputs)), readout
    left, singular, right = torch.linalg.svd(targets, full_matrices=False)
    kept = min(spec.value_dim, len(singular))
    readout[:, :kept] = right[:kept].T
    return torch.nn.functional.pad(left[:, :kept] * singular[:kept], (0, spec.value_dim - kept)), readout


GOOD_CONDITION = 1e5
"""Below this no further draw is made: float32 keeps two digits, enough for labels, and float64 eleven. Real targets in
float32 have no digit to spare and get the best of all draws."""


@dataclass(frozen=True, eq=False)
class Examples:
    """The distinct examples of a task, in float64."""

    contexts: Float[Tensor, "some context dim"]
    queries: Float[Tensor, "examples dim"]
    rows: np.ndarray
    """Where in the task each of them stands."""

    def __len__(self) -> int:
        return len(self.queries)


@dataclass(frozen=True, eq=False)
class Attention:
    """W_Q and W_K in the saved dtype, with their features factored."""

    query: Float[Tensor, "heads head_dim dim"]
    key: Float[Tensor, "heads head_dim dim"]
    exact: Factored
    """In float64, which shows the true rank."""
    solvable: Factored
    """As the saved dtype computes them, rounding and all: what the readout must work with."""
    draws: int


def solve_values(request: Request[VectorTask, TheoremOptions]) -> Draft:
    """W_Q and W_K by one of two routes, then W_V by a linear solve."""
    task, options = request.task, request.options
    examples = _distinct(task)
    assumptions = measure_assumptions(
        examples.contexts.numpy(), examples.queries.numpy(), np.random.default_rng(request.seed)
    )
    spec = _sizes(request, examples)
    guaranteed = spec.heads * (min(spec.context, spec.head_dim) - 1) + 1
    if options.route == "proof" and not assumptions.hold:
        raise InputError(
            f"{ID}: route proof needs the theorem's assumptions, which these examples fail "
            f"({assumptions.measured()}); use `route=random`"
        )
    dtype, generator = dtype_named(request.dtype), torch.Generator().manual_seed(request.seed)
    with request.progress.stage("drawing attention", options.draws):
        enough = GOOD_CONDITION if dtype == torch.float64 or task.labels is not None else 0.0
        drawn = _attention(spec, examples, options, enough, dtype, generator)
    wanted, readout = wanted_outputs(task, spec, generator)
    value = drawn.solvable.solve(wanted[examples.rows]).view(spec.heads, spec.dim, -1).transpose(1, 2)
    weights = {
        "query": drawn.query,
        "key": drawn.key,
        "value": value.to(dtype).contiguous(),
        "output": torch.eye(spec.dim, spec.value_dim, dtype=dtype).expand(spec.heads, -1, -1).contiguous(),
        "readout": readout.to(dtype),
    }
    measured = {
        "route": options.route,
        "examples": len(examples),
        "rank": drawn.exact.rank,
        "rank_at_most": reach(examples.contexts.numpy()).rank(spec.heads),
        "heads_times_dim": spec.heads * spec.dim,
        "condition": drawn.exact.condition,
        "draws": drawn.draws,
        **assumptions.measured(),
    }
    return Draft(Model(spec, weights), guaranteed, measured)


def _distinct(task: VectorTask) -> Examples:
    """Equal examples are solved once; no model distinguishes equal ones with different outputs."""
    outputs = cast(np.ndarray, task.targets if task.labels is None else task.labels[:, None])
    inputs = task.queries
    if len(task.contexts) > 1:
        inputs = np.concatenate([task.contexts.reshape(task.facts, -1), inputs], 1)
    _, first, index = np.unique(inputs, axis=0, return_index=True, return_inverse=True)
    twin = first[index.reshape(-1)]
    differ = np.flatnonzero((outputs[twin] != outputs).any(1))
    if len(differ):
        raise InputError(
            f"{ID}: examples {twin[differ[0]]} and {differ[0]} have the same context and query but different "
            f"outputs ({len(differ)} such examples); no model can give both. Keep one of each"
        )
    rows = np.sort(first)
    contexts = task.contexts if len(task.contexts) == 1 else task.contexts[rows]
    return Examples(torch.from_numpy(contexts), torch.from_numpy(task.queries[rows]), rows)


def _sizes(request: Request[VectorTask, TheoremOptions], examples: Examples) -> QueryAttention:
    """The specification, with default sizes chosen; more examples than rank are rejected here."""
    task, options = request.task, request.options
    refused = []
    if request.dim not in (None, task.dim):
        refused.append(f"`dim={request.dim}`: these examples' vectors have {task.dim} dimensions; leave it out")
    if task.context < 2:
        refused.append("context: with one token per context every head gives that token, whatever its weights")
    if refused:
        raise problems(ID, refused)
    head_dim = request.head_dim or min(task.context, task.dim)
    own = min(task.context, head_dim) - 1
    possible = reach(examples.contexts.numpy())
    if options.route == "proof":
        heads = request.heads or max(1, -(-(len(examples) - 1) // max(1, own)))
        most = heads * own + 1
        why = f"the heads of the proof give outputs of rank H (min(n, k) - 1) + 1 = {heads} x {own} + 1 = {most}"
    else:
        heads = request.heads or possible.heads_for(len(examples))
        most = possible.rank(heads)
        why = f"the heads' outputs have rank at most {possible.words(heads)} on these contexts"
    if len(examples) > most:
        raise InputError(
            f"{ID}: {len(examples)} examples, but {why}, so that outputs at will are possible for {most} only; "
            "give more `heads`, or store fewer examples"
        )
    return QueryAttention(
        context=task.context, dim=task.dim, head_dim=head_dim, heads=heads,
        value_dim=value_dim_for(task, options.value_dim), outputs=task.outputs,
    )  # fmt: skip


def _attention(
    spec: QueryAttention,
    examples: Examples,
    options: TheoremOptions,
    enough: float,
    dtype: torch.dtype,
    generator: torch.Generator,
) -> Attention:
    """The best-conditioned of a few draws, rounded to the saved dtype before features are computed from it.

    Rank is judged on float64 features: the rounding of a float32 forward pass would hide a missing one.
    """
    best: tuple[Tensor, Tensor, Factored] | None = None
    draws = 0
    while best is None or (draws < options.draws and best[2].condition > enough):
        draws += 1
        if options.route == "proof":
            heads = proof_route(examples.contexts, examples.queries, spec.heads, spec.head_dim, generator)
        else:
            heads = random_route(
                examples.contexts, examples.queries, spec.heads, spec.head_dim, options.score_std, generator
            )
        query, key = (matrix.to(dtype) for matrix in heads)
        exact = factor(_features(spec, query.double(), key.double(), examples))
        if best is None or exact.condition < best[2].condition:
            best = query, key, exact
    query, key, exact = best
    if exact.rank < len(examples):
        raise CheckFailed(
            f"{ID}: {len(examples)} examples, but the heads' outputs have rank {exact.rank} in the best of "
            f"{draws} draws; give more `heads`, try another `score_std`, or drop examples that nearly coincide"
        )
    solvable = exact if dtype == torch.float64 else factor(_features(spec, query, key, examples))
    return Attention(query, key, exact, solvable, draws)


def _features(
    spec: QueryAttention, query: Tensor, key: Tensor, examples: Examples
) -> Float[Tensor, "examples features"]:
    """z_1 .. z_H of every example side by side, computed in the dtype of the weights, then widened."""
    weights, step = {"query": query, "key": key}, rows_within(FORWARD_FLOATS, spec.floats_per_input())
    parts = []
    for start in range(0, len(examples), step):
        queries = examples.queries[start : start + step].to(query.dtype)
        some = examples.contexts if len(examples.contexts) == 1 else examples.contexts[start : start + step]
        contexts = some.to(query.dtype).expand(len(queries), -1, -1)
        parts.append(mixtures(spec, weights, (contexts, queries)).flatten(1).double())
    return torch.cat(parts)
