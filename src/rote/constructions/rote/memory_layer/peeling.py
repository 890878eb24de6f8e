"""Systems of equations with three unknowns each, solved modulo a number by peeling: in linear time, without division.

An unknown that occurs in one equation alone can be chosen last, to meet that equation; the equation is then left out,
which leaves other unknowns in one equation alone, and so on. With random equations this ends with none left where there
are more than 1.222 unknowns per equation (Molloy 2005; static functions by Majewski, Wormald, Havas and Czech 1996).
"""

from __future__ import annotations

import math

import numpy as np

UNKNOWNS = 3
PER_EQUATION, SPARE = 1.23, 1.3
"""Unknowns per equation, and spare ones per square root of the equations, with which peeling mostly succeeds: 97 % of
1,024 random equations, all of 60 systems of 4,096."""


def unknowns_per_head(equations: int) -> int:
    """Unknowns in each of the three parts, so that peeling mostly succeeds."""
    return math.ceil((PER_EQUATION * equations + SPARE * math.sqrt(equations) + UNKNOWNS) / UNKNOWNS)


def peeled(equations: np.ndarray, unknowns: int) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Rounds of equations with the unknown that is chosen to meet each; none where peeling ends before them.

    `equations` (equations x 3) are the numbers of their unknowns, which differ within an equation.
    """
    count = len(equations)
    degree = np.bincount(equations.ravel(), minlength=unknowns)
    # The exclusive or of an unknown's equations is the equation itself once one is left.
    joined = np.zeros(unknowns, dtype=np.int64)
    for column in equations.T:
        np.bitwise_xor.at(joined, column, np.arange(count))
    rounds, left = [], count
    alone = np.flatnonzero(degree == 1)
    while len(alone):
        chosen, first = np.unique(joined[alone], return_index=True)
        rounds.append((chosen, alone[first]))
        left -= len(chosen)
        touched = equations[chosen].ravel()
        np.subtract.at(degree, touched, 1)
        np.bitwise_xor.at(joined, touched, np.repeat(chosen, UNKNOWNS))
        touched = np.unique(touched)
        alone = touched[degree[touched] == 1]
    return None if left else rounds


def solved(equations: np.ndarray, sums: np.ndarray, unknowns: int, modulus: int) -> np.ndarray | None:
    """Values of the unknowns (unknowns x digits) whose sums modulo `modulus` are those of the equations.

    None where peeling fails; unknowns that no equation needs are zero.
    """
    rounds = peeled(equations, unknowns)
    if rounds is None:
        return None
    values = np.zeros((unknowns, sums.shape[1]), dtype=np.int64)
    for chosen, unknown in reversed(rounds):
        values[unknown] = (sums[chosen] - values[equations[chosen]].sum(1)) % modulus
    return values
