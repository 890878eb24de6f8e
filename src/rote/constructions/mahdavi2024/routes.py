"""Two ways to choose W_K and W_Q so that the heads' outputs on all examples are independent.

Both follow Mahdavi, Liao and Thrampoulidis 2024. Head h scores token j of example t with (E_t W_K^hT W_Q^h e_t)_j.
Notation: n is `context`, k `head_dim`, r = min(n, k).
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.draw import gaussian
from rote.constructions.common.saturation import ATTENDED
from rote.errors import InputError

DIRECTIONS = 64
"""Saturating directions tried per head; the one that saturates the weakest example most is kept."""

Heads = tuple[Float[Tensor, "heads head_dim dim"], Float[Tensor, "heads head_dim dim"]]
"""W_Q and W_K of every head."""


def random_route(
    contexts: Float[Tensor, "some context dim"],
    queries: Float[Tensor, "examples dim"],
    heads: int,
    head_dim: int,
    score_std: float,
    generator: torch.Generator,
) -> Heads:
    """Gaussian W_Q and W_K, scaled so that each head's scores on these examples have the given standard deviation.

    Tiny scores make every head nearly linear in the query (rank d + 1 to first order), saturated ones make heads
    agree; in between the features have full rank for almost every draw.
    """
    shape = (heads, head_dim, queries.shape[1])
    query, key = gaussian(shape, generator), gaussian(shape, generator)
    for head in range(heads):
        asked = (queries @ query[head].T) @ key[head]
        scores = asked @ contexts[0].T if len(contexts) == 1 else torch.einsum("td,tnd->tn", asked, contexts)
        size = float((scores - scores.mean(1, keepdim=True)).square().mean().sqrt())
        scale = (score_std / size) ** 0.5 if size > 0 else 1.0
        query[head] *= scale
        key[head] *= scale
    return query, key


def proof_route(
    contexts: Float[Tensor, "some context dim"],
    queries: Float[Tensor, "examples dim"],
    heads: int,
    head_dim: int,
    generator: torch.Generator,
) -> Heads:
    """The proof's own heads: each owns r - 1 examples and is saturated on all others; one example has no owner.

    With f_s the dual vectors of a head's own queries (f_s . e_s' = [s = s']) and v orthogonal to them,

        W_K^T W_Q = sum_s w_s f_s^T + lambda g v^T   (rank r)

    scores an own example by E_s w_s, which is at will since E_s has rank n, and any other one by lambda (v . e_t) E_t g
    up to bounded terms: lambda is the smallest that puts ATTENDED between its two best tokens. Own examples attend to
    one token each, so that nothing depends on small differences of scores.
    """
    examples, dim = queries.shape
    own = min(contexts.shape[1], head_dim) - 1
    query = torch.zeros(heads, head_dim, dim, dtype=torch.float64)
    key = torch.zeros_like(query)
    order = torch.randperm(examples, generator=generator)
    ends = Ends(queries, int(order[0]))
    for head, mine in enumerate(order[1:].split(own) if examples > 1 else ()):
        others = torch.ones(examples, dtype=torch.bool)
        others[mine] = False
        v = _saturating_query(queries, mine, others, generator)
        tokens = (torch.arange(len(mine)) + 2) % contexts.shape[1]
        if len(contexts) == 1 and len(mine) == contexts.shape[1] - 1:
            tokens[-1] = ends.token_for(int(mine[-1]), v)
        _own_examples(contexts, queries, mine, tokens, query[head], key[head])
        _saturate(contexts, queries, others, v, query[head], key[head], generator)
    return query, key


class Ends:
    """In a shared context, which of its two end tokens the last own example of each head attends to.

    Saturation leaves every other example at token 0 or 1 of a head, by the sign of v . e_t, and own examples at tokens
    2, 3, ... that no other one shares. What remains to be independent are the heads' last examples and the one without
    owner, in the columns 1 and s_h(t) = +1 or -1. Of the two signs a head's own last example may have, one adds to
    the determinant's absolute value what the other takes away: taking it, no head lowers the determinant.
    """

    def __init__(self, queries: Float[Tensor, "examples dim"], unowned: int) -> None:
        self.queries, self.rows = queries, [unowned]
        self.directions = queries.new_zeros(0, queries.shape[1])
        self.matrix = queries.new_ones(1, 1)

    def token_for(self, example: int, v: Float[Tensor, " dim"]) -> int:
        column = (self.queries[self.rows] @ v).sign()
        row = torch.cat([column.new_ones(1), (self.directions @ self.queries[example]).sign()])
        sign = -1.0 if float(row @ torch.linalg.solve(self.matrix, column)) > 0 else 1.0
        bottom = torch.cat([row, row.new_tensor([sign])])
        self.matrix = torch.cat([torch.cat([self.matrix, column[:, None]], 1), bottom[None]])
        self.directions = torch.cat([self.directions, v[None]])
        self.rows.append(example)
        return 0 if sign > 0 else 1


def _at(contexts: Tensor, rows: Tensor) -> Tensor:
    return contexts.expand(len(rows), -1, -1) if len(contexts) == 1 else contexts[rows]


def _own_examples(contexts: Tensor, queries: Tensor, mine: Tensor, tokens: Tensor, query: Tensor, key: Tensor) -> None:
    """Each own example attends to its own token of `tokens`: w_s solves E_s w_s = ATTENDED there and 0 elsewhere."""
    duals = torch.linalg.pinv(queries[mine])
    if not torch.allclose(queries[mine] @ duals, torch.eye(len(mine), dtype=torch.float64), atol=1e-6):
        raise InputError(
            f"route proof: {len(mine)} queries that one head should own are dependent, so they have no dual vectors; "
            "the theorem's assumption 1 (Kruskal rank of the queries) fails. Use `route=random`"
        )
    scores = ATTENDED * torch.nn.functional.one_hot(tokens, contexts.shape[1]).double()
    inverses = torch.linalg.pinv(contexts if len(contexts) == 1 else contexts[mine])
    key[: len(mine)] = (inverses @ scores[:, :, None])[:, :, 0]
    query[: len(mine)] = duals.T


def _saturating_query(queries: Tensor, mine: Tensor, others: Tensor, generator: torch.Generator) -> Tensor:
    """v: orthogonal to a head's own queries, and of the candidates the one with the largest smallest |v . e_t|.

    lambda, hence rounding, grows with the inverse of that.
    """
    free = torch.linalg.qr(queries[mine].T, mode="complete")[0][:, len(mine) :]
    v = gaussian((DIRECTIONS, free.shape[1]), generator) @ free.T
    v = v / v.norm(dim=1, keepdim=True)
    return v[(queries[others] @ v.T).abs().amin(0).argmax()]


def _saturate(
    contexts: Tensor,
    queries: Tensor,
    others: Tensor,
    v: Tensor,
    query: Tensor,
    key: Tensor,
    generator: torch.Generator,
) -> None:
    """Fill the last row of W_Q with v and of W_K with g, each times the root of lambda."""
    g = _saturating(contexts, generator)
    tokens = _at(contexts, others.nonzero()[:, 0])
    best = (tokens @ g * (queries[others] @ v)[:, None]).topk(2, dim=1).values
    bounded = torch.einsum("tnd,td->tn", tokens, (queries[others] @ query.T) @ key)
    spread = bounded.amax(1) - bounded.amin(1)
    weight = float(((ATTENDED + spread) / (best[:, 0] - best[:, 1])).max())
    if not weight < 1e12:
        raise InputError(
            f"route proof: saturating one head on other heads' examples takes scores of {weight:.1g}; two of their "
            "tokens, or a query and the head's own queries, are too close to dependent. Use `route=random`"
        )
    query[-1], key[-1] = v * weight**0.5, g * weight**0.5


def _saturating(contexts: Tensor, generator: torch.Generator) -> Tensor:
    """g, whose products with an example's tokens decide where saturation ends.

    In a shared context, tokens 0 and 1 score +1 and -1 and the others 0, so that every other example ends at one of
    two tokens; distinct contexts need no such order and take g at random.
    """
    n, dim = contexts.shape[1:]
    if len(contexts) > 1:
        return gaussian((dim,), generator) / dim**0.5
    wanted = torch.zeros(n, dtype=torch.float64)
    wanted[0], wanted[1] = 1.0, -1.0
    return torch.linalg.pinv(contexts[0]) @ wanted
