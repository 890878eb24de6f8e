"""Small tasks for the training tests."""

import numpy as np

from rote.tasks import AssociationTask, DistributionTask, Vocabulary


def lookup(vocab, context=2, seed=0):
    """A random answer for every context."""
    grid = np.meshgrid(*[np.arange(vocab)] * context, indexing="ij")
    contexts = np.stack(grid, -1).reshape(-1, context)
    answers = np.random.default_rng(seed).integers(vocab, size=len(contexts))
    return AssociationTask(contexts, answers, Vocabulary.numbered(vocab))


def noisy(vocab, context=2, seed=0):
    """A prior over contexts and a sparse distribution for each."""
    rng = np.random.default_rng(seed)
    contexts = lookup(vocab, context).contexts[:: 2 if vocab**context > 4 else 1]
    rows = rng.random((len(contexts), vocab)) * (rng.random((len(contexts), vocab)) < 0.5)
    rows[:, 0] += 0.1
    return DistributionTask.from_dense(contexts, rows, rng.random(len(contexts)) + 0.1)
