"""Where Theorem 1's promise of Hk + d fails: the rank of attention features, counted exactly.

Lemma 2 of Dana, Pydi and Chevaleyre 2025 needs k <= N + S - 2. The four settings below promise more than the features'
rank min(d, N) + H min(k, N + S - 2), which the numerical rank of random attention reaches exactly.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import rote
from rote.constructions.common.random_attention.draw import draw_embeddings, draw_heads
from rote.constructions.common.random_attention.features import Differences
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask, Vocabulary
from rote.theory.dana2025 import guaranteed

COUNTEREXAMPLES = [
    # vocab, context, dim = head_dim, heads, facts guaranteed, rank
    (5, 2, 10, 2, 25, 15),
    (5, 3, 12, 8, 100, 53),
    (8, 2, 20, 3, 64, 32),
    (4, 4, 8, 20, 168, 124),
]


def table(vocab: int, context: int, facts: int) -> AssociationTask:
    """That many contexts, drawn from all, so that every token occurs."""
    rng = np.random.default_rng(0)
    contexts = np.array(list(itertools.product(range(vocab), repeat=context)))
    return AssociationTask(
        contexts[rng.permutation(len(contexts))[:facts]], rng.integers(0, vocab, facts), Vocabulary.numbered(vocab)
    )


def features(spec: AttentionOnly, task: AssociationTask, seed: int) -> torch.Tensor:
    """x_S and every head's W_V A, uncentred, of random attention in float64; scores of moderate size."""
    generator = torch.Generator().manual_seed(seed)
    differences = Differences(draw_embeddings(spec, torch.float64, generator), torch.from_numpy(task.contexts).long())
    heads = draw_heads(spec.heads, spec, 3.0, torch.float64, generator)
    centred = torch.empty(task.facts, spec.heads * spec.head_dim, dtype=torch.float64)
    differences.features(heads, spec.head_dim, centred)
    last = differences.last()
    return torch.cat([last, centred + last @ heads.value.flatten(0, 1).T], 1)


@pytest.mark.parametrize(("vocab", "context", "dim", "heads", "facts", "rank"), COUNTEREXAMPLES)
@pytest.mark.parametrize("seed", range(3))
def test_rank_is_smaller_than_promised(vocab, context, dim, heads, facts, rank, seed):
    spec = AttentionOnly(vocab=vocab, context=context, dim=dim, head_dim=dim, heads=heads)
    assert min(guaranteed(spec), vocab**context) >= facts > rank
    sizes = torch.linalg.svdvals(features(spec, table(vocab, context, facts), seed))
    # Exactly `rank` singular values stand above rounding: those after it fall by many orders at once.
    assert int((sizes > sizes[0] * 1e-12).sum()) == rank
    assert float(sizes[rank] / sizes[rank - 1]) < 1e-4


@pytest.mark.parametrize(("vocab", "context", "dim", "heads", "facts", "rank"), COUNTEREXAMPLES)
def test_the_promise_is_refused_with_the_reason(vocab, context, dim, heads, facts, rank):
    with pytest.raises(rote.InputError, match=rf"cannot hold {facts} facts.*= {rank}\b"):
        rote.build(table(vocab, context, facts), dim=dim, head_dim=dim, heads=heads)


@pytest.mark.parametrize(("vocab", "context", "dim", "heads", "facts", "rank"), COUNTEREXAMPLES)
def test_as_many_facts_as_the_rank_are_stored(vocab, context, dim, heads, facts, rank):
    task = table(vocab, context, rank)
    assert task.shape.key_tokens == vocab
    built = rote.build(task, dim=dim, head_dim=dim, heads=heads, dtype="float64")
    assert built.certificate.recalled == rank


def test_facts_that_crowd_are_the_reason_of_a_failed_build():
    """81 of 110 facts on three tokens: Hk + d = 110 at these sizes, and the rank is 82."""
    crowded = np.array(list(itertools.product(range(3), repeat=4)))
    others = np.unique(np.random.default_rng(0).integers(3, 40, size=(40, 4)), axis=0)[:29]
    contexts = np.concatenate([crowded, others])
    task = AssociationTask(contexts, np.random.default_rng(1).integers(0, 40, 110), Vocabulary.numbered(50))
    with pytest.raises(rote.CheckFailed, match=r"crowd on few tokens: 81 of the facts use 3 tokens.*rank 53 at most"):
        rote.build(task, method="dana2025.theorem1", dim=10, head_dim=10, heads=10)
