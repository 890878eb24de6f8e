"""Parameter counts that Section 6 of Dana, Pydi and Chevaleyre 2025 compares, for T associations; constants are one.

Notation: N vocab, S context, d dim, T associations (T_eps for an eps-approximation).
"""

from __future__ import annotations

import math


def corollary1_parameters(vocab: int, context: int, associations: int) -> int:
    """2(S + 2N + 4(T - 2)), which the paper rounds to 2S + 4N + 8T: attention alone at d = 2."""
    return 2 * (context + 2 * vocab + 4 * (associations - 2))


def theorem1_parameters(vocab: int, context: int, dim: int, associations: int) -> int:
    """d(S + 2N + 4(T - d)): attention alone at dimension d."""
    return dim * (context + 2 * vocab + 4 * (associations - dim))


def deep_parameters(vocab: int, context: int, associations: int) -> float:
    """S + N + sqrt(T log T): the result of Kim, Kim and Mozafari adapted to one answer per sequence."""
    return context + vocab + math.sqrt(associations * math.log(max(2, associations)))


def simulated_parameters(vocab: int, context: int, dim: int, associations: int) -> int:
    """(d + S)(S + N + T): heads that simulate the neurons of an MLP, one per association (Huben and Morris)."""
    return (dim + context) * (context + vocab + associations)


def approximate_parameters(vocab: int, context: int, dim: int, associations: int, epsilon: float) -> float:
    """log(1/eps) T log T / log(d / log T) (1 + S/d) + (d + S)(S + N): neurons that fit to eps (Bubeck et al.).

    It needs log T < d.
    """
    logarithm = math.log(associations)
    if logarithm >= dim:
        raise ValueError(f"log T = {logarithm:.3g} must be less than d = {dim}")
    neurons = math.log(1 / epsilon) * associations * logarithm / math.log(dim / logarithm)
    return neurons * (1 + context / dim) + (dim + context) * (context + vocab)


def simulation_load(vocab: int, context: int, dim: int, epsilon: float) -> float:
    """S log N log(1/eps) / (d log d): simulated neurons are competitive with Theorem 1 while this is O(1)."""
    return context * math.log(vocab) * math.log(1 / epsilon) / (dim * math.log(dim))
