"""`rote.selector`: facts (relation, subject) -> answer in closed form, in about as many dimensions as relations.

A subject's embedding holds the number of its answer under each relation, one coordinate per line; saturated heads of
dimension one move the number of the relation that is asked for into the stream, and the unembedding picks the nearest
one (`relations`, `layer`, `unembedding`). All weights are whole numbers, so that logits are exact and margins are 1.

    Parameters: d(S + 2N + 4H) with d = max(C, 2) and H = C to C + 2, for C lines and keys of two tokens.

C is the number of relations, or fewer where relations share a line: those whose answers are consecutive in one order of
the subjects, as continent and calling code are. Where numbers are too large for the dtype, they are split into digits,
each with a coordinate of its own. The seed has no say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from rote.constructions.construction import (
    Construction,
    Draft,
    EditRequest,
    Options,
    Request,
    SizeEstimate,
    register_construction,
)
from rote.constructions.rote.selector.layer import Layer, Numbers
from rote.constructions.rote.selector.long_keys import long_keys
from rote.constructions.rote.selector.relations import Lines, Relations
from rote.constructions.rote.selector.subject_first import subject_first
from rote.constructions.rote.selector.subject_last import subject_last
from rote.constructions.rote.selector.unembedding import Unembedding, envelope, nearest
from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask
from rote.tasks.rows import distinct_rows

if TYPE_CHECKING:
    from rote.models.model import Model

WHOLE_NUMBERS = {"float64": 2**53, "float32": 2**24, "float16": 2**11, "bfloat16": 2**8}
"""Up to which every whole number is exact in a dtype."""
LARGEST_SCORE = {"float16": 65_504}
"""What an attention score must stay below, in dtypes where that matters."""
MOST_LINES = 2_048
"""Lines beyond which a table is not one of relations and subjects: the model would have more dimensions than that."""
MOST_DIGITS = 12
HEADS_PER_SECOND = 4e6
"""Heads times facts that a certificate runs in one CPU second, in float32 and in float64."""


class SelectorOptions(Options):
    """Settings of the selector."""

    share: bool = True
    """Let relations share a line where their answers are consecutive in one order of the subjects."""


@dataclass(frozen=True, eq=False)
class Selector:
    """Everything about the model but its dtype: layer and unembedding in whole numbers."""

    layer: Layer
    unembedding: Unembedding
    lines: Lines
    numbers: Numbers
    digits: int
    spec: AttentionOnly
    largest: int
    """The largest whole number that a sum may reach, on the way to a logit."""

    def tensors(self) -> dict[str, np.ndarray]:
        """The model's weights, in whole numbers."""
        unembed = np.zeros((self.spec.vocab, self.spec.dim), dtype=np.int64)
        unembed[:, : self.digits] = self.unembedding.slopes
        unembed[:, self.layer.constant] = self.layer.sign * self.unembedding.constants
        return {
            "tokens": self.layer.tokens,
            "positions": self.layer.positions,
            "layers.0.query": self.layer.query[:, None],
            "layers.0.key": self.layer.key[:, None],
            "layers.0.value": self.layer.value,
            "layers.0.output": self.layer.output,
            "unembed": unembed,
        }


_selected: WeakKeyDictionary[AssociationTask, dict[tuple[str, bool], Selector]] = WeakKeyDictionary()
"""Selectors of tasks that are in use: a plan computes the size first and then builds."""


def select(task: AssociationTask, dtype: str = "float32", share: bool = True) -> Selector:
    """The smallest selector for these facts that is exact in this dtype, over all choices of the subject's position."""
    selected = _selected.setdefault(task, {})
    if (dtype, share) not in selected:
        selected[dtype, share] = _select(task, dtype, share)
    return selected[dtype, share]


def _select(task: AssociationTask, dtype: str, share: bool) -> Selector:
    tokens_at = [set(np.unique(column).tolist()) for column in task.contexts.T]
    if task.context < 2:
        raise InputError("rote.selector: keys have one token; it needs a relation and a subject, two columns of keys")
    if len(set().union(*tokens_at)) < sum(map(len, tokens_at)):
        raise InputError(
            "rote.selector: a token occurs at two positions of a key, so its embedding would be a relation's and "
            "a subject's at once; it needs keys of two columns or more that share no word"
        )
    best: Selector | None = None
    for relations in _by_subject(task):
        for lines in _choices(relations, share and task.context == 2):
            best = _smaller(best, relations, lines, task, dtype)
    if best is None:
        raise InputError(
            f"rote.selector: whichever token is the subject, the others form more than {MOST_LINES:,} relations, or "
            f"numbers are too large for {dtype}; use another method, or `dtype=float32`"
        )
    return best


def _by_subject(task: AssociationTask) -> list[Relations]:
    """The facts by relation, for each position that the subject may have, fewest relations first."""
    found = []
    for position in range(task.context):
        others, _ = distinct_rows(np.delete(task.contexts, position, axis=1), task.vocab)
        if len(others) <= MOST_LINES:
            found.append(Relations.of(task, position))
    return sorted(found, key=lambda relations: relations.count)


def _choices(relations: Relations, share: bool) -> Iterator[Lines]:
    """Ways to give relations lines: shared where that is possible, and a line for each."""
    if share and len(relations.shareable) > 1 and len(relations.lines) < relations.count:
        yield relations.lines
    yield tuple((relation,) for relation in range(relations.count))


def _smaller(
    best: Selector | None,
    relations: Relations,
    lines: Lines,
    task: AssociationTask,
    dtype: str,
) -> Selector | None:
    """The selector with these lines and the fewest digits that are exact in this dtype, if it beats the best so far."""
    shared = len(lines[0]) > 1  # relations share a line of one digit only
    for digits in range(1, 2 if shared else MOST_DIGITS + 1):
        least = 2 * task.vocab * len(lines) * digits
        if best is not None and least >= best.spec.parameters():
            return best
        selector = _selector(relations, lines, digits, task)
        if _is_exact(selector, dtype):
            return selector if best is None or selector.spec.parameters() < best.spec.parameters() else best
        if selector.numbers.size <= 2:
            break  # more digits make no number smaller
    return best


def _selector(relations: Relations, lines: Lines, digits: int, task: AssociationTask) -> Selector:
    alone = (answer for line in lines if len(line) == 1 for answer in relations.answer_sets[line[0]])
    numbers = _numbers(alone, digits, task.vocab)
    layer = _centred(_layer_for(relations)(relations, lines, numbers, digits, task.vocab), task, digits, relations)
    points, reach = layer.points(task.contexts, digits)
    if digits == 1:
        unembedding = envelope(points[:, 0], task.answers, task.vocab)
    else:
        unembedding = nearest(points, task.answers, task.vocab)
    heads, dim = layer.query.shape
    spec = AttentionOnly(
        vocab=task.vocab,
        context=task.context,
        dim=dim,
        head_dim=digits,
        heads=heads,
        query_key_rank=None if digits == 1 else 1,
    )
    return Selector(layer, unembedding, lines, numbers, digits, spec, max(reach, unembedding.largest_term(points)))


def _layer_for(relations: Relations) -> Callable[[Relations, Lines, Numbers, int, int], Layer]:
    if relations.keys.shape[1] > 1:
        return long_keys
    return subject_first if relations.subject_position == 0 else subject_last


def _numbers(answers: Iterable[int], digits: int, vocab: int) -> Numbers:
    """Different digits for different answers, in the smallest base that has enough; further digits around zero."""
    distinct = np.array(sorted(set(answers)), dtype=np.int64)
    base = 1
    while base**digits < len(distinct):
        base += 1
    spelled = np.zeros((vocab, digits), dtype=np.int64)
    rest = np.arange(len(distinct))
    for place in range(digits):
        spelled[distinct, place] = rest % base - (base // 2 if place else 0)
        rest //= base
    return Numbers(spelled, base)


def _centred(layer: Layer, task: AssociationTask, digits: int, relations: Relations) -> Layer:
    """The same layer with points around zero, where a head that always writes the constant can move them."""
    if task.context > 2 or relations.subject_position == 0:
        return layer
    points = layer.points(task.contexts, digits)[0][:, 0]
    writes = next(h for h in range(len(layer.output)) if layer.output[h, layer.constant, 0] == 1)
    layer.output[writes, 0, 0] -= int(points.min() + points.max()) // 2
    return layer


def _is_exact(selector: Selector, dtype: str) -> bool:
    """Whether every number that decides an answer is one that the dtype has, and no score overflows."""
    layer = selector.layer
    read = int(np.abs(layer.tokens).max() + np.abs(layer.positions).max())
    if max(selector.largest, read) > WHOLE_NUMBERS[dtype]:
        return False
    return layer.largest_asked() * read * int(np.abs(layer.key).sum(axis=1).max()) <= LARGEST_SCORE.get(dtype, 2**100)


def spec_of(request: Request[AssociationTask, SelectorOptions]) -> AttentionOnly:
    """The specification of the model that `build` makes."""
    return select(request.task.majority(), request.dtype, request.options.share).spec


def estimate(request: Request[AssociationTask, SelectorOptions]) -> SizeEstimate:
    """Bytes of the weights, packed as a folder packs them."""
    from rote.folders.folder import packed

    model = _model(request)
    streams = packed(model.weights)
    size = model.bytes if streams is None else sum(stream.numel() for stream in streams.values())
    return SizeEstimate(model.parameters, size, "weights are exact; only building tells the size of the certificate")


def cpu_seconds(request: Request[AssociationTask, SelectorOptions]) -> float:
    """Estimate, nearly all of it for running every head on every fact."""
    return 0.1 + request.task.facts * spec_of(request).heads / HEADS_PER_SECOND


def build(request: Request[AssociationTask, SelectorOptions]) -> Draft:
    """Compute the weights; nothing is drawn and nothing is fitted."""
    selector = select(request.task.majority(), request.dtype, request.options.share)
    measured = {
        "relations": sum(map(len, selector.lines)),
        "lines": len(selector.lines),
        "digits": selector.digits,
    }
    return Draft(_model(request), measured=measured)


def _model(request: Request[AssociationTask, SelectorOptions]) -> Model:
    import torch

    from rote.models.model import Model, dtype_named

    task = request.task.majority()
    selector, dtype = select(task, request.dtype, request.options.share), dtype_named(request.dtype)
    weights = {name: torch.from_numpy(array).to(dtype) for name, array in selector.tensors().items()}
    return Model(selector.spec, weights, task.vocabulary)


def edit(request: EditRequest[SelectorOptions]) -> Draft:
    """Change, add and forget facts."""
    from rote.constructions.rote.selector.edit import edit as changed_weights

    return changed_weights(request)


register_construction(
    Construction(
        id="rote.selector",
        summary="relations and subjects: subjects hold the numbers of their answers, saturated heads select one",
        paper="rote",
        passage="whole-number weights, margin 1",
        unguaranteed="its size depends on the relations of the table, not on the number of facts alone",
        tasks=(AssociationTask,),
        build=build,
        edit=edit,
        spec=spec_of,
        estimate=estimate,
        cpu_seconds=cpu_seconds,
        sizes=(),
        options=SelectorOptions,
    )
)
