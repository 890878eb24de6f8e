"""Vardi, Yehudai and Shamir 2022: the memorization power of deep ReLU networks.

Their memorizer is the one behind `kajitsuka2025`, as a ReLU network on separated points instead of sequences.
"""

from __future__ import annotations

import math

from rote.models.spec import Spec
from rote.theory.bound import Value
from rote.theory.contexts import largest
from rote.theory.result import result


@result(
    "vardi2022.theorem3_1",
    where="Theorem 3.1",
    kind="order",
    about=Spec,
    subject="deep ReLU network",
    statement="a deep ReLU network stores T separated points with ~ d + sqrt(T log T) parameters",
)
def theorem3_1(spec: Spec) -> Value:
    """T = largest with d + sqrt(T log T) <= P, constants one; each parameter takes O~(sqrt T) bits."""
    budget, dim = spec.parameters(), spec.dim or 1
    T = largest(lambda T: dim + math.sqrt(T * math.log(max(2, T))) <= budget, budget**2)
    return Value(
        T, budget, "a deep ReLU network in the same parameters, each context a point of R^d; constants taken as one"
    )
