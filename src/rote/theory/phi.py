"""phi and its inverse: accuracy and associations, one in terms of the other (Dana et al. 2025, Corollary 2).

A model that holds X of T associations and guesses the others among N tokens is right on a share

    phi(X) = 1/N + (1 - 1/N) X / T.
"""

from __future__ import annotations

from rote.errors import problems


def phi(associations: float, facts: int, vocab: int) -> float:
    """Accuracy of a model that holds so many of `facts` associations and guesses the others."""
    _check(facts, vocab)
    return 1 / vocab + (1 - 1 / vocab) * min(associations, facts) / facts


def phi_inverse(accuracy: float, facts: int, vocab: int) -> float:
    """Associations that an accuracy on `facts` facts speaks for; negative when it is below chance, 1/N."""
    _check(facts, vocab)
    return facts * (accuracy - 1 / vocab) / (1 - 1 / vocab)


def _check(facts: int, vocab: int) -> None:
    refused = []
    if facts < 1:
        refused.append(f"facts: there must be at least one, given {facts}")
    if vocab < 2:
        refused.append(f"vocab: with {vocab} tokens there is nothing to guess between; at least 2")
    if refused:
        raise problems("phi", refused)
