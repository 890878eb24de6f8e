"""The Transformer of Theorem 4.1, in exact integers: F1, uniform attention, F2.

F1 maps a token to its code (0 for most), attention averages the codes of all n positions, and n times the average is
the sequence's id, which F2 maps to its label. For sequence to sequence (Corollary 4.1) F1 passes the token on, and F2
maps id and token together.

Averages cannot tell (a, b) from (a, b, a, b), nor see order: all sequences here have one length, and order counts only
where positions enter the token values.

What a memorizer costs: parameters and the bits in them, beside the bits of the labels it holds.

Counted are F1, attention and F2, as the theorem does; not the embedding of tokens, nor the unembedding of labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from rote.constructions.kajitsuka2025.codes import Codes, sequence_codes
from rote.constructions.kajitsuka2025.variant import Mixing
from rote.constructions.vardi2022.exact import evaluate, exact_values
from rote.constructions.vardi2022.memorizer import Storage, WordsTooLong, memorize
from rote.constructions.vardi2022.network import Builder, Network
from rote.errors import InputError
from rote.progress import SILENT, Progress
from rote.tasks.task import entropy_bits


def snap(builder: Builder, bits: int) -> None:
    """Register x <- the whole number below 2^bits that x is within 1/4 of.

    A softmax over n positions gives 1/n, which is rounded unless n is a power of two; so are the averages. The
    threshold relu(1 - relu(4T - 2 - 4x)) is 1 from x = T - 1/2 on and 0 up to T - 3/4.
    """
    _digits(builder, bits, slope=4, early=2)


def floor(builder: Builder, bits: int, slope: int) -> None:
    """Register x <- floor(x), for 0 <= x < 2^bits whose fractional part is at most 1 - 1/slope.

    The threshold relu(1 - relu(slope (T - x))) is 1 from x = T on and 0 up to T - 1/slope.
    """
    _digits(builder, bits, slope=slope, early=0)


def _digits(builder: Builder, bits: int, slope: int, early: int) -> None:
    builder["whole"] = 0
    for digit in reversed(range(bits)):
        builder.layer(short=slope * (1 << digit) - early - slope * builder["x"])
        builder.layer(reached=1 - builder["short"])
        builder["x"] -= (1 << digit) * builder["reached"]
        builder["whole"] += (1 << digit) * builder["reached"]
    builder["x"] = builder["whole"]
    del builder["whole"]


@dataclass(frozen=True)
class Facts:
    """What is to be memorized, in token values: whole numbers from 1 on.

    `attended` (facts x length) are the tokens that attention sees; the first `coded` columns must be told apart by
    their sum. With `asked`, the label belongs to the last token within its sequence: then sequences may repeat with
    other last tokens.
    """

    attended: np.ndarray
    labels: np.ndarray
    coded: int
    asked: bool = False

    @property
    def length(self) -> int:
        return self.attended.shape[1]


@dataclass(frozen=True)
class Transformer:
    """Exact networks before and after one layer of uniform attention."""

    first: Network | None
    """F1; none where an embedding table gives the codes."""
    second: Network
    codes: Codes
    length: int
    asked: bool
    mixing: Mixing
    snap_layers: int
    """Layers of F2 in which the average becomes an integer again."""
    storage: Storage
    layout: dict[str, int]
    """How F2 stores its labels."""

    @property
    def width(self) -> int:
        return max(self.second.width, self.first.width if self.first else 0)

    @property
    def depth(self) -> int:
        """ReLU layers, and one of attention."""
        return self.second.depth + 1 + (self.first.depth if self.first else 0)

    def codes_of(self, values: np.ndarray) -> np.ndarray:
        """What F1, or the embedding table, gives for token values, exactly."""
        if self.first is None:
            return exact_values(self.codes.of(values))
        return evaluate(self.first, {"x": exact_values(values)})["y"]

    def ids(self, attended: np.ndarray) -> np.ndarray:
        """Ids by evaluating F1 exactly on every token value, then averaging in exact rationals."""
        values, index = np.unique(attended, return_inverse=True)
        # n times the average is the sum itself: rationals would be divided by n and multiplied by it.
        return self.codes_of(values)[index.reshape(attended.shape)].sum(1)

    def labels(self, attended: np.ndarray, ids: np.ndarray | None = None) -> np.ndarray:
        """Labels by exact evaluation of the complete network, or of what follows attention for given ids."""
        inputs = {"x": self.ids(attended) if ids is None else exact_values(ids)}
        if self.asked:
            inputs["token"] = exact_values(attended[:, -1])
        return evaluate(self.second, inputs)["y"].astype(np.int64)


def assemble(
    facts: Facts,
    storage: Storage,
    limit_bits: int | None = None,
    mixing: Mixing = "softmax",
    table: bool = False,
    entering: Callable[[Builder], None] | None = None,
    codes: Codes | None = None,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Transformer:
    """The Transformer that memorizes these facts.

    `limit_bits`: every sum stays below 2^limit_bits, as a dtype needs; none for exact arithmetic, where words grow as
    sqrt(N). `table`: an embedding table gives codes in place of F1. `entering` emits layers that make the tokens'
    values whole. `codes`: those of an earlier call for the same facts.
    """
    codes = codes or facts_codes(facts, seed, progress)
    first = None if table else _first(codes, facts.asked, storage, limit_bits, entering, seed)
    second, snap_layers, layout = _second(facts, codes, storage, limit_bits, mixing, seed)
    return Transformer(first, second, codes, facts.length, facts.asked, mixing, snap_layers, storage, layout)


def facts_codes(facts: Facts, seed: int = 0, progress: Progress = SILENT) -> Codes:
    """Codes that tell the facts' sequences apart."""
    sequences = np.unique(np.sort(facts.attended[:, : facts.coded], axis=1), axis=0)
    return sequence_codes(sequences, seed, progress)


def _first(
    codes: Codes,
    asked: bool,
    storage: Storage,
    limit_bits: int | None,
    entering: Callable[[Builder], None] | None,
    seed: int,
) -> Network:
    """F1: token value to code, 0 for all tokens without one."""
    builder = Builder(("x",))
    if entering is not None:
        entering(builder)
    if asked:
        builder["token"] = builder["x"]
    # Hashed storage cannot answer 0 for the tokens it does not hold.
    chosen = "lean" if storage == "hashed" else storage
    memorize(builder, codes.tokens.tolist(), codes.codes.tolist(), chosen, "match", limit_bits, seed)
    return builder.finish("y", "token") if asked else builder.finish("y")


def _second(
    facts: Facts, codes: Codes, storage: Storage, limit_bits: int | None, mixing: Mixing, seed: int
) -> tuple[Network, int, dict[str, int]]:
    """F2: id (and token) to label."""
    ids = codes.of(facts.attended).sum(1)
    tokens = facts.attended[:, -1] if facts.asked else np.zeros_like(ids)
    token_bits = int(tokens.max()).bit_length()
    if int(ids.max() + 1).bit_length() + token_bits > 62:
        raise WordsTooLong(f"ids and tokens of {token_bits} bits together exceed 62 bits; use fewer distinct tokens")
    keys, labels = _distinct((ids + 1 << token_bits) + tokens, facts.labels)
    builder = Builder(("x", "token") if facts.asked else ("x",))
    if mixing == "softmax" and facts.length & (facts.length - 1):
        bits = int(ids.max()).bit_length()
        _refuse_rounding(bits, facts.length, limit_bits)
        snap(builder, max(1, bits))
    snap_layers = builder.depth
    builder["x"] = (1 << token_bits) * (builder["x"] + 1)
    if facts.asked:
        builder["x"] += builder["token"]
        del builder["token"]
    meaning = "match" if storage == "faithful" else "interval"
    layout = memorize(builder, keys, labels, storage, meaning, limit_bits, seed)
    return builder.finish("y"), snap_layers, layout


def _distinct(keys: np.ndarray, labels: np.ndarray) -> tuple[list[int], list[int]]:
    """Each key once; two labels for one key cannot be memorized."""
    kept, first, index = np.unique(keys, return_index=True, return_inverse=True)
    own = labels[first]
    if not np.array_equal(own[index], labels):
        rows = np.flatnonzero(own[index] != labels)
        raise InputError(
            f"facts: {len(rows)} have the tokens of another one but not its label (the first is row {rows[0]}); "
            "order counts only if positions enter the tokens (`ordered=True`)"
        )
    return kept.tolist(), own.tolist()


def _refuse_rounding(id_bits: int, length: int, limit_bits: int | None) -> None:
    """n terms, each rounded twice, leave the id within (n + 2) 2^-mantissa of itself, relatively: 1/4 is allowed."""
    needed = id_bits + (length + 2).bit_length() + 2
    if limit_bits is not None and needed > limit_bits:
        raise WordsTooLong(
            f"softmax over {length} positions rounds ids of {id_bits} bits by more than 1/4 in {limit_bits} bits; "
            f"{needed} are needed: use `dtype=float64`, or kajitsuka2025.deep_sets (sums in place of attention)"
        )


@dataclass(frozen=True)
class Account:
    labels: int
    width: int
    depth: int
    nonzeros: int
    """Weights and biases that are not zero."""
    nonzeros_after: int
    """Those of F2 alone."""
    dense: int
    """Weights and biases of full matrices between layers of these sizes."""
    largest_bits: int
    """Longest weight or bias."""
    total_bits: int
    """Length of all that are not zero, with signs."""
    label_bits: float
    """Entropy of the labels, times their number."""

    @property
    def bits_over_entropy(self) -> float | None:
        """Bits spent per bit held; none where the labels hold nothing."""
        return self.total_bits / self.label_bits if self.label_bits else None

    def summary(self) -> dict[str, float | int | None]:
        return {**asdict(self), "bits_over_entropy": self.bits_over_entropy}


def account(transformer: Transformer, labels: np.ndarray) -> Account:
    """Add up F1, attention (a value and an output weight; queries and keys are zero) and F2."""
    networks = [network for network in (transformer.first, transformer.second) if network is not None]
    return Account(
        labels=len(labels),
        width=transformer.width,
        depth=transformer.depth,
        nonzeros=sum(network.nonzeros for network in networks) + 2,
        nonzeros_after=transformer.second.nonzeros,
        dense=sum(network.dense_parameters for network in networks) + 4 * transformer.width,
        largest_bits=max(network.largest_bits for network in networks),
        total_bits=sum(network.total_bits for network in networks) + transformer.length.bit_length() + 3,
        label_bits=entropy_bits(np.bincount(labels)) * len(labels),
    )
