"""Integer affine combinations of neurons: what one neuron of the next layer computes before its ReLU."""

from __future__ import annotations


class Affine:
    """sum_i c_i neuron_i + constant, with whole coefficients of any length. Values, never changed in place."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[str, int] | None = None, constant: int = 0) -> None:
        self.terms = {name: factor for name, factor in (terms or {}).items() if factor != 0}
        self.constant = constant

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.constant + other)
        terms = dict(self.terms)
        for name, factor in other.terms.items():
            terms[name] = terms.get(name, 0) + factor
        return Affine(terms, self.constant + other.constant)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Affine:
        return Affine({name: own * factor for name, own in self.terms.items()}, self.constant * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + -other

    def __rsub__(self, other: int) -> Affine:
        return -self + other

    def __repr__(self) -> str:
        parts = [f"{factor:+d} {name}" for name, factor in self.terms.items()]
        return " ".join([*parts, f"{self.constant:+d}"])
