"""Facts that a bilinear MLP between given embeddings stores by interpolation.

Generic neurons (a_j . x)(b_j . x) span quadratic forms, so on generic keys m of them have rank min(m, d(d + 1)/2). Up
to that many keys, one linear solve for W gives every key its answer's embedding, which has the largest product with
itself among embeddings on a sphere.
"""

from __future__ import annotations

from rote.models.bilinear_memory import BilinearMemory
from rote.theory.bound import Value
from rote.theory.result import result


@result(
    "rote.bilinear_rank",
    where="generic embeddings on a sphere",
    kind="lower",
    about=BilinearMemory,
    statement="T = min(m, d(d + 1)/2): as many facts as independent bilinear neurons",
)
def bilinear_rank(spec: BilinearMemory) -> Value:
    """As many facts as the neurons have rank."""
    forms = spec.dim * (spec.dim + 1) // 2
    stored = 1 if spec.dim == 1 else min(spec.width, forms, spec.inputs)
    return Value(stored, spec.free_parameters, "the 3dm parameters are those of the MLP; embeddings are given")
