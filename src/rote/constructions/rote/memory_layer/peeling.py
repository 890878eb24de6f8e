"""Systems of equations with three unknowns each, solved modulo a number by peeling: in linear time, without division.

An unknown that occurs in one equation alone can be chosen last, to meet that equation; the equation is then left out,
which leaves other unknowns in one equation alone, and so on. `rote.theory.rote_peeling` says how many unknowns that
takes. Static functions are built in this way (Majewski, Wormald, Havas and Czech 1996).
"""

from __future__ import annotations

import numpy as np

from rote.theory.rote_peeling import UNKNOWNS


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
