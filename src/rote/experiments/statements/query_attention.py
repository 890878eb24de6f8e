"""Statements of Mahdavi, Liao and Thrampoulidis 2024: Theorem 1 built at its size, and how tight it is (Proposition 2).

With attention as it is, outputs are a linear readout of the heads' mixtures of tokens: T random targets are fitted by
least squares as far as the mixtures have rank.
"""

from __future__ import annotations

import numpy as np
import torch

from rote.constructions.build import build
from rote.constructions.mahdavi2024.routes import random_route
from rote.experiments.statements.encoders import Numbers
from rote.models.forward.query_attention import mixtures
from rote.models.query_attention import QueryAttention
from rote.papers.kinds.statement_settings import BuiltQueryAttention, QueryAttentionRank
from rote.tasks.generators import random_vectors

SCORES = 3.0
"""Standard deviation of scores: the mixtures are best conditioned about there."""
RANK_CUT = 1e-12
CLASSES = 10
MORE = 5
"""Examples beyond the largest rank on which it is counted."""


def rank_numbers(cell: QueryAttentionRank, seed: int) -> Numbers:
    """The rank on more examples than it can have, and what least squares leaves of targets of variance one."""
    guaranteed = cell.heads * (min(cell.context, cell.head_dim) - 1) + 1
    tight = cell.heads * (cell.context - 1) + 1
    largest = tight if cell.shared else cell.heads * cell.dim
    examples = largest + MORE
    task = random_vectors(examples, cell.context, cell.dim, shared=cell.shared, targets=1, seed=seed)
    contexts, queries = torch.from_numpy(task.contexts), torch.from_numpy(task.queries)
    generator = torch.Generator().manual_seed(seed)
    query, key = random_route(contexts, queries, cell.heads, cell.head_dim, SCORES, generator)
    spec = QueryAttention(
        context=cell.context, dim=cell.dim, head_dim=cell.head_dim, heads=cell.heads, value_dim=1, outputs=1
    )
    features = mixtures(spec, {"query": query, "key": key}, (contexts.expand(examples, -1, -1), queries)).flatten(1)
    sizes = torch.linalg.svdvals(features)
    targets = np.random.default_rng([seed, 1]).standard_normal(examples)
    rank = int((sizes > RANK_CUT * sizes[0]).sum())
    return {
        "guaranteed": guaranteed,
        "rank": rank,
        "rank_shared": rank if cell.shared else None,
        "rank_narrow": rank if cell.shared and cell.head_dim < cell.context else None,
        "rank_fresh": None if cell.shared else rank,
        "largest_rank": largest,
        "tight": tight if cell.shared else None,
        "tight_if_shared": tight,
        "heads_times_dim": None if cell.shared else largest,
        "error_at_largest": _error(features[:largest], targets[:largest]),
        "error_at_one_more": _error(features[: largest + 1], targets[: largest + 1]),
    }


def built_numbers(cell: BuiltQueryAttention, seed: int) -> Numbers:
    """Labels recalled of exactly as many examples as are guaranteed."""
    guaranteed = cell.heads * (min(cell.context, cell.head_dim) - 1) + 1
    task = random_vectors(guaranteed, cell.context, cell.dim, shared=cell.shared, classes=CLASSES, seed=seed)
    built = build(
        task,
        "mahdavi2024.theorem1",
        head_dim=cell.head_dim,
        heads=cell.heads,
        dtype="float64",
        seed=seed,
        route=cell.route,
    )
    return {
        "guaranteed": guaranteed,
        "recalled": built.certificate.recalled,
        "rank": built.certificate.measured["rank"],
        "parameters": built.model.spec.parameters(),
        "condition": built.certificate.measured["condition"],
    }


def _error(features: torch.Tensor, targets: np.ndarray) -> float:
    """Mean squared error of the best readout."""
    wanted = torch.from_numpy(targets)[:, None]
    solved = torch.linalg.lstsq(features, wanted, driver="gelsd").solution
    return float((features @ solved - wanted).square().mean())
