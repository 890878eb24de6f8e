"""Sparse integer ReLU networks, and a builder that emits them layer by layer.

A layer is a list of neurons relu(sum_i c_i h_i + bias) over the neurons of the layer before; coefficients and biases
are whole numbers of any length. Networks are evaluated as networks: `exact` in long integers, `floating` in torch.

Group selection: sorted keys are cut into groups, and a key x fetches the words of its group.

A group j > 0 is entered at x >= a_j, its smallest key: s_j = relu(1 - relu(a_j - x)) is 1 then and 0 before, exactly,
because both are whole numbers. Words telescope: w = w_0 + sum_j (w_j - w_{j-1}) s_j (Vardi, Yehudai and Shamir 2022,
Lemma A.3, with thresholds in place of bumps: bumps are ramps, which a matrix product does not reproduce exactly).

Integers are packed into words, and read from them by threshold neurons, two layers per binary digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple


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


class Neuron(NamedTuple):
    """relu(sum of factor x source + bias); sources are places in the layer before."""

    name: str
    terms: tuple[tuple[int, int], ...]
    """(source, factor), factors not zero."""
    bias: int

    @property
    def carries(self) -> bool:
        """Whether it only passes a value on."""
        return self.bias == 0 and len(self.terms) == 1 and self.terms[0][1] == 1


Layer = tuple[Neuron, ...]


@dataclass(frozen=True)
class Network:
    """Named inputs and layers of neurons; its outputs are the neurons of its last layer."""

    inputs: tuple[str, ...]
    layers: tuple[Layer, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(neuron.name for neuron in self.layers[-1])

    @property
    def depth(self) -> int:
        return len(self.layers)

    @property
    def width(self) -> int:
        return max(len(layer) for layer in self.layers)

    @property
    def nonzeros(self) -> int:
        return sum(len(neuron.terms) + (neuron.bias != 0) for layer in self.layers for neuron in layer)

    @property
    def dense_parameters(self) -> int:
        """Weights and biases of full matrices between layers of these sizes."""
        sizes = [len(self.inputs), *(len(layer) for layer in self.layers)]
        return sum(after * (before + 1) for before, after in pairwise(sizes))

    def constants(self) -> list[int]:
        """Every weight and bias that is not zero."""
        factors = [factor for layer in self.layers for neuron in layer for _, factor in neuron.terms]
        return factors + [neuron.bias for layer in self.layers for neuron in layer if neuron.bias != 0]

    @property
    def largest_bits(self) -> int:
        return max(abs(constant).bit_length() for constant in self.constants())

    @property
    def total_bits(self) -> int:
        """Length of all weights and biases that are not zero, with a sign each."""
        return sum(abs(constant).bit_length() + 1 for constant in self.constants())


class Builder:
    """Emits a network by naming what its neurons hold.

    *Registers* hold values that are never negative and live until deleted: every layer carries them on. Assigning a
    register an affine expression costs nothing by itself: the next layer's carrying neuron computes it (and, being a
    ReLU, clamps it at zero). A register that is a constant needs no neuron at all.
    *Temporaries* are the further neurons of one layer, and can be read by the layer after it only.
    """

    def __init__(self, inputs: tuple[str, ...] = ("x",)) -> None:
        self._inputs = inputs
        self._before = inputs
        self._registers = {name: Affine({name: 1}) for name in inputs}
        self._layers: list[Layer] = []

    @property
    def depth(self) -> int:
        return len(self._layers)

    def __getitem__(self, name: str) -> Affine:
        """A register, or a temporary of the last layer, as an expression in the last layer's neurons."""
        if name in self._registers:
            return self._registers[name]
        if name not in self._before:
            raise KeyError(name)
        return Affine({name: 1})

    def __setitem__(self, name: str, value: Affine | int) -> None:
        self._registers[name] = value if isinstance(value, Affine) else Affine(constant=value)

    def __delitem__(self, name: str) -> None:
        del self._registers[name]

    def layer(self, **temporaries: Affine) -> None:
        """Emit a layer: all registers, then these temporaries."""
        carried = {name: value for name, value in self._registers.items() if value.terms}
        self._emit({**carried, **temporaries})
        for name in carried:
            self._registers[name] = Affine({name: 1})

    def finish(self, *outputs: str) -> Network:
        """Emit a last layer of these registers alone."""
        self._emit({name: self._registers[name] for name in outputs})
        return Network(self._inputs, tuple(self._layers))

    def _emit(self, neurons: dict[str, Affine]) -> None:
        index_of = {name: index for index, name in enumerate(self._before)}
        layer = []
        for name, value in neurons.items():
            terms = sorted((index_of[source], factor) for source, factor in value.terms.items())
            layer.append(Neuron(name, tuple(terms), value.constant))
        self._layers.append(tuple(layer))
        self._before = tuple(neurons)


def packed(values: Sequence[int], bits: int, size: int) -> int:
    """`size` fields of `bits` bits, the first the highest; fields without a value are 0."""
    return concatenated((value, bits) for value in [*values, *[0] * (size - len(values))])


def concatenated(fields: Iterable[tuple[int, int]]) -> int:
    """(value, bits) fields of any lengths as one word, the first the highest."""
    word = 0
    for value, bits in fields:
        word = word << bits | value
    return word


def threshold(builder: Builder, value: Affine, level: Affine | int) -> None:
    """Leave in temporary `reached` 1 if value >= level, else 0, for whole numbers; `short` lives one layer."""
    builder.layer(short=level - value)
    builder.layer(reached=1 - builder["short"])


def remainder(builder: Builder, name: str, divisor: int, largest: int) -> None:
    """Register <- register mod divisor, for values up to `largest`: schoolbook division, a digit at a time."""
    for digit in reversed(range(max(0, (largest // divisor).bit_length()))):
        threshold(builder, builder[name], divisor << digit)
        builder[name] -= (divisor << digit) * builder["reached"]


def select(builder: Builder, starts: Sequence[int], words: Mapping[str, Sequence[int]], lanes: int = 1) -> None:
    """Fill registers with the words of the group that register x falls into.

    `starts[j]` is group j's smallest key (the first is never looked at: smaller keys fall into group 0).
    `lanes` thresholds are computed side by side: the depth is (groups - 1) / lanes, the width 1 + 2 lanes + words,
    and partial sums of a word may grow to (lanes + 1) times its size.
    """
    for name, values in words.items():
        builder[name] = values[0]
    compared: list[int] = []
    for first in range(1, len(starts) + lanes, lanes):
        # One layer compares the next groups' starts while the one before it is turned into switches.
        switched, compared = compared, list(range(first, min(first + lanes, len(starts))))
        if not switched and not compared:
            break
        asked = {f"below{lane}": starts[group] - builder["x"] for lane, group in enumerate(compared)}
        turned = {f"entered{lane}": 1 - builder[f"below{lane}"] for lane in range(len(switched))}
        builder.layer(**asked, **turned)
        for lane, group in enumerate(switched):
            for name, values in words.items():
                builder[name] += (values[group] - values[group - 1]) * builder[f"entered{lane}"]
