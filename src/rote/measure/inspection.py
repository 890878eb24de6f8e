"""Direct logit attribution and zero-ablation of one fact.

Direct logit attribution: what each head, each MLP and the direct path of the residual stream add to the logit of the
answer. Zero-ablation: the answer and its logit margin with one of them set to zero. What a fact loses under ablation is
an effect; it does not say where the fact is stored.

Contributions are computed in float64 from the model's own weights; logits and margins are those of the model in its own
dtype. The two differ by `rounding`, the error of arithmetic in that dtype.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.arguments import typed
from rote.errors import InputError
from rote.measure.recall import margins
from rote.models.asking import reader_of
from rote.models.attention_only import Transformer
from rote.models.forward.decomposition import Decomposition, decomposed
from rote.models.forward.memory_transformer import answered, memory_read, through
from rote.models.memory_transformer import MemoryTransformer
from rote.models.model import Model
from rote.tasks.association import Fact


class HeadIndex(NamedTuple):
    """A head, counted from 0 as its tensors are: `layers.LAYER.query[HEAD]`."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.layer}.{self.head}"


def heads_named(text: str) -> list[HeadIndex]:
    """Heads in the words of a command or an address: `0.3,0.7` is heads 3 and 7 of layer 0, and so is `3,7`."""
    heads = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        numbers = word.split(".")
        if len(numbers) > 2 or not all(part.isascii() and part.isdigit() and len(part) < 7 for part in numbers):
            raise InputError(
                f"{word!r}: a head is LAYER.HEAD counted from 0, such as 0.3; several are divided by commas"
            )
        layer, head = (0, int(numbers[0])) if len(numbers) == 1 else map(int, numbers)
        heads.append(HeadIndex(layer, head))
    return list(dict.fromkeys(heads))


@dataclass(frozen=True)
class SlotRead:
    """The slot of a memory layer that a head reads for one key."""

    group: int
    slot: int
    values: tuple[float, ...]
    """What it adds to the number that is read, one value per digit."""


@dataclass(frozen=True)
class Contribution:
    """Direct logit attribution of one part of a model: to the answer and to the runner-up."""

    part: Literal["skip", "head", "mlp", "bias"]
    layer: int | None
    head: int | None
    to_answer: float
    to_nearest: float
    attention: tuple[float, ...] | None = None
    """A head's attention to each token. None in a memory layer, where a head reads one slot."""
    answer_without: str | None = None
    """The model's answer with this part zero-ablated."""
    margin_without: float | None = None
    """The logit margin with this part zero-ablated; negative where the fact is lost."""
    slot: SlotRead | None = None
    """The slot that a head of a memory layer reads."""

    @property
    def name(self) -> str:
        """As tables show it."""
        if self.part == "head":
            return f"head {HeadIndex(self.layer or 0, self.head or 0)}"
        return {"skip": "direct path", "bias": "bias"}.get(self.part, f"mlp {self.layer}")

    @property
    def to_margin(self) -> float:
        return self.to_answer - self.to_nearest


@dataclass(frozen=True)
class Inspection:
    """One fact in one model.

    >>> import rote
    >>> model = rote.build({("colour", "plum"): "blue", ("colour", "rose"): "red"}).model
    >>> isinstance(rote.inspect(model, ("colour", "rose")), rote.Inspection)
    True
    """

    key: tuple[str, ...]
    tokens: tuple[str, ...]
    """The tokens that the model reads, with padding."""
    answer: str
    """The fact's answer where one was given, otherwise the answer of the model with all its heads."""
    said: str
    """The model's answer, with the heads in `off` ablated."""
    nearest: str
    """The runner-up: the best other answer."""
    answer_logit: float
    nearest_logit: float
    margin: float
    known: bool
    """Whether the key was stored."""
    contributions: tuple[Contribution, ...]
    """The direct path (in a model with a memory layer: the bias), then every layer's heads and its MLP; they sum to the
    logits up to rounding."""
    off: tuple[HeadIndex, ...] = ()
    """Heads that were zero-ablated first."""

    @property
    def recalled(self) -> bool:
        return self.margin > 0

    @property
    def rounding(self) -> float:
        """The answer's logit minus the sum of all contributions to it."""
        return self.answer_logit - sum(part.to_answer for part in self.contributions)

    @property
    def needed(self) -> tuple[Contribution, ...]:
        """Parts whose zero-ablation loses the fact."""
        return tuple(
            part for part in self.contributions if part.margin_without is not None and part.margin_without <= 0
        )

    def __str__(self) -> str:
        needed = ", ".join(part.name for part in self.needed[:5]) or "no single part"
        return f"{' '.join(self.key)} -> {self.answer}, ahead of {self.nearest} by {self.margin:.3g}; needs {needed}"

    def summary(self) -> dict[str, Any]:
        """As one JSON object."""
        contributions = [
            {"name": part.name, **asdict(part), "to_margin": part.to_margin} for part in self.contributions
        ]
        off = [str(head) for head in self.off]
        more = {"contributions": contributions, "off": off, "recalled": self.recalled, "rounding": self.rounding}
        return {**asdict(replace(self, contributions=(), off=())), **more}


@typed
def inspect(
    model: Model, fact: Fact | Sequence[str] | str, *, off: Iterable[HeadIndex | tuple[int, int]] = ()
) -> Inspection:
    """Direct logit attribution and zero-ablation of one fact.

    `fact` is a row of a task, or the words of a key; `off` are heads to zero-ablate first.

    >>> import rote
    >>> model = rote.build({("colour", "plum"): "blue", ("colour", "rose"): "red"}).model
    >>> seen = rote.inspect(model, ("colour", "plum"))
    >>> seen.answer, seen.margin > 0
    ('blue', True)
    """
    inspected_spec(model)
    heads = tuple(HeadIndex(*head) for head in off)
    seen = without_heads(model, heads) if heads else model
    reader = reader_of(model)
    wanted = fact.answer if isinstance(fact, Fact) else None
    key = tuple(fact.key) if isinstance(fact, Fact) else reader.taken([fact] if isinstance(fact, str) else list(fact))
    ids, known = _ids(model, key, isinstance(fact, Fact))
    logits = seen.logits(ids)[0].double()
    token = int(model.logits(ids)[0].argmax()) if wanted is None else _token(model, wanted)
    nearest = int(logits.index_fill(0, torch.tensor([token]), -float("inf")).argmax())
    words = reader.vocabulary.tokens
    exact = seen.to("float64")
    if isinstance(exact.spec, MemoryTransformer):
        contributions = _memory_contributions(exact, exact.spec, ids, token, nearest, words, set(heads))
    else:
        parts = decomposed(transformer_of(exact), exact.weights, ids)
        contributions = _contributions(exact, ids, parts, token, nearest, words, set(heads))
    return Inspection(
        key=key,
        tokens=tuple(words[place] for place in ids[0].tolist()),
        answer=words[token],
        said=words[int(logits.argmax())],
        nearest=words[nearest],
        answer_logit=float(logits[token]),
        nearest_logit=float(logits[nearest]),
        margin=float(margins(logits[None], torch.tensor([token]))[0]),
        known=known,
        contributions=tuple(contributions),
        off=heads,
    )


def transformer_of(model: Model) -> Transformer:
    """The model's specification, if it has heads that attend to tokens."""
    if isinstance(model.spec, MemoryTransformer):
        raise InputError(
            f"a head of this {model.spec.architecture} model reads one slot of a memory and attends to no token, so "
            "that it has no attention heads for this; `rote inspect MODEL KEY` and `rote.inspect` show its slots"
        )
    if not isinstance(model.spec, Transformer) or not model.spec.heads:
        raise InputError(
            f"this {model.spec.architecture} model has no attention heads between an embedding and an unembedding; "
            "inspect reads attention-only, mlp-transformer and memory-transformer models (`rote ask` answers for the "
            "others)"
        )
    return model.spec


def inspected_spec(model: Model) -> Transformer | MemoryTransformer:
    """The model's specification, if it has heads that attend to tokens or read slots of a memory."""
    return model.spec if isinstance(model.spec, MemoryTransformer) else transformer_of(model)


def is_linear(spec: Transformer) -> bool:
    """Whether only the unembedding reads what a head adds: one layer without an MLP."""
    return spec.layers == 1 and not spec.width


def without_heads(model: Model, heads: Iterable[HeadIndex]) -> Model:
    """The model with these heads zero-ablated: their output matrices, or their slots in all groups, are set to zero."""
    weights = dict(model.weights)
    spec = inspected_spec(model)
    memory = isinstance(spec, MemoryTransformer)
    layers = 1 if memory else spec.layers
    for head in heads:
        if not (0 <= head.layer < layers and 0 <= head.head < spec.heads):
            raise InputError(
                f"head {head}: this model has layers 0 to {layers - 1} of heads 0 to {spec.heads - 1} each"
            )
        name = "values" if memory else f"layers.{head.layer}.output"
        if weights[name] is model.weights[name]:
            weights[name] = weights[name].clone()
        if memory:
            weights[name][:, head.head] = 0
        else:
            weights[name][head.head] = 0
    return replace(model, weights=weights, precision=None if memory else model.precision)


def _ids(model: Model, key: tuple[str, ...], tokens: bool) -> tuple[Integer[Tensor, "1 context"], bool]:
    """Token ids of a key, and whether it was stored; a fact's key is tokens already, a question's key is cells."""
    reader = reader_of(model)
    if tokens and len(key) == reader.context and all(token in reader.vocabulary.index for token in key):
        ids = torch.tensor([[reader.vocabulary.index[token] for token in key]])
        return ids, reader.stored is None or bool(reader.stored.knows(ids.numpy())[0])
    ids, known = reader.ids([key])
    if not known[0]:
        raise InputError(f"{' '.join(key)}: was never stored in this model, so there is nothing to inspect")
    return torch.from_numpy(ids).long(), True


def _token(model: Model, answer: str) -> int:
    index = reader_of(model).vocabulary.index
    if answer not in index:
        raise InputError(f"{answer!r}: is not an answer that this model can give")
    return index[answer]


def _contributions(
    exact: Model, ids: Integer[Tensor, "1 context"], parts: Decomposition, token: int, nearest: int,
    words: Sequence[str], off: set[HeadIndex],
):  # fmt: skip
    unembed = exact.weights["unembed"]
    directions = unembed[[token, nearest]]
    to_answer, to_nearest = (directions @ parts.skip[0]).tolist()
    said, margin = _left(exact, ids, parts.skip, token, words)
    yield Contribution("skip", None, None, to_answer, to_nearest, None, said, margin)
    for number, layer in enumerate(parts.layers):
        both = layer.heads_along(directions[:1])[0].tolist(), layer.heads_along(directions[1:])[0].tolist()
        left = _left_without_heads(exact, ids, parts, number, token, words)
        for head, (to_answer, to_nearest) in enumerate(zip(*both, strict=True)):
            attention = tuple(layer.attention[0, head].tolist())
            without = (None, None) if HeadIndex(number, head) in off else left[head]
            yield Contribution("head", number, head, to_answer, to_nearest, attention, *without)
        if layer.mlp is not None:
            to_answer, to_nearest = (directions @ layer.mlp[0]).tolist()
            said, margin = _left_without_mlp(exact, ids, number, token, words)
            yield Contribution("mlp", number, None, to_answer, to_nearest, None, said, margin)


def _memory_contributions(
    exact: Model, spec: MemoryTransformer, ids: Integer[Tensor, "1 context"], token: int, nearest: int,
    words: Sequence[str], off: set[HeadIndex],
) -> Iterator[Contribution]:  # fmt: skip
    """The bias, the slot of every head, and the MLP that reads their sum."""
    weights = exact.weights
    read = memory_read(spec, weights, ids)
    total, unembed, bias = read.values.sum(1), weights["unembed.weight"], weights["unembed.bias"]
    directions = unembed[[token, nearest]]
    answer = through(total, weights["answer.bias"], weights["answer.output"])
    without_bias, without_mlp = answer @ unembed.T, total @ unembed.T + bias
    to_answer, to_nearest = bias[[token, nearest]].tolist()
    said, margin = _said(without_bias, token, words)[0]
    yield Contribution("bias", None, None, to_answer, to_nearest, None, said, margin)
    left = _said(answered(weights, (total[:, None] - read.values)[0]), token, words)
    for head, values in enumerate(read.values[0]):
        slot = SlotRead(int(read.group[0]), int(read.slot[0, head]), tuple(values.tolist()))
        without = (None, None) if HeadIndex(0, head) in off else left[head]
        to_answer, to_nearest = (directions @ values).tolist()
        yield Contribution("head", 0, head, to_answer, to_nearest, None, *without, slot)
    to_answer, to_nearest = (directions @ (answer - total)[0]).tolist()
    said, margin = _said(without_mlp, token, words)[0]
    yield Contribution("mlp", 0, None, to_answer, to_nearest, None, said, margin)


def _left(
    exact: Model, ids: Tensor, vector: Float[Tensor, "1 dim"], token: int, words: Sequence[str]
) -> tuple[str | None, float | None]:
    """Answer and margin with a vector taken from the residual stream; only where just the unembedding reads it."""
    if not is_linear(transformer_of(exact)):
        return None, None
    rest = (exact.logits(ids) - vector @ exact.weights["unembed"].T)[0]
    return _said(rest[None], token, words)[0]


def _left_without_heads(
    exact: Model, ids: Tensor, parts: Decomposition, layer: int, token: int, words: Sequence[str]
) -> list[tuple[str, float]]:
    """Answer and margin with each head of a layer zero-ablated, by linearity or by running the model again."""
    spec, part = transformer_of(exact), parts.layers[layer]
    if is_linear(spec):
        vectors = torch.einsum("hk,hdk->hd", part.values[0], part.outward)
        return _said(exact.logits(ids) - vectors @ exact.weights["unembed"].T, token, words)
    name = f"layers.{layer}.output"
    kept = exact.weights[name]
    silenced = kept.clone()
    again = replace(exact, weights={**exact.weights, name: silenced})
    logits = []
    for head in range(spec.heads):
        silenced[head] = 0
        logits.append(again.logits(ids)[0])
        silenced[head] = kept[head]
    return _said(torch.stack(logits), token, words)


def _left_without_mlp(exact: Model, ids: Tensor, layer: int, token: int, words: Sequence[str]) -> tuple[str, float]:
    name = f"layers.{layer}.mlp_out"
    again = replace(exact, weights={**exact.weights, name: torch.zeros_like(exact.weights[name])})
    return _said(again.logits(ids), token, words)[0]


def _said(logits: Float[Tensor, "rows vocab"], token: int, words: Sequence[str]) -> list[tuple[str, float]]:
    left = margins(logits, torch.full((len(logits),), token)).tolist()
    best: list[int] = logits.argmax(1).tolist()
    return [(words[token], float(margin)) for token, margin in zip(best, left, strict=True)]
