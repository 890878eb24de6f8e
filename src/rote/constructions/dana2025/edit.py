"""Edits of a model of Theorem 1: facts are changed, added and erased by a change of W_O alone.

Attention is kept, so the stream is linear in W_O, and `output_system` gives the change of least norm that moves the
streams of the changed facts and of no other. Where features are used up, heads are added. An answer that the model has
no row of W_U for gets one, away from all others. A fact that is to be as if never stored takes another solve
(`never_stored`), after which all other changes are made again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from rote.constructions.common.more_tokens import with_vocabulary
from rote.constructions.common.random_attention.draw import Embeddings, Heads, ScoreSize, draw_heads, gaussian
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.construction import Draft, EditRequest
from rote.constructions.dana2025.gated_adds import (
    OTHERWISE,
    check_bits,
    gated_heads,
    has_indicator,
    has_own_coordinate,
    with_coordinate,
    with_gated_heads,
    without_coordinate,
)
from rote.constructions.dana2025.never_stored import never_stored
from rote.constructions.dana2025.options import Theorem1Options
from rote.constructions.dana2025.output_system import OutputSystem
from rote.constructions.dana2025.threshold_heads import draw_threshold_heads
from rote.errors import CheckFailed, InputError
from rote.models.attention_only import AttentionOnly
from rote.models.forward.attention_only import stream
from rote.models.forward.kept_attention import KeptAttention
from rote.models.model import Model
from rote.tasks import AssociationTask
from rote.tasks.change import Change
from rote.tasks.changes import changed, final, rows_by_key
from rote.theory.dana2025 import guaranteed

MOST_ATTEMPTS = 4
"""How often heads are added before an edit is given up: a random head adds its full rank but in rare cases."""
SAMPLED = 256
"""Facts whose streams are looked at for the usual length of one."""
MOST_CODES = 64
"""Answer codes that a folder may say were drawn."""
CANDIDATES = 64
"""Directions tried for the row of W_U of a new answer."""


def edit(request: EditRequest[Theorem1Options]) -> Draft:
    """Make the changes; all facts that were forgotten as never stored are left out of one solve."""
    if request.keep_bits:
        return _appended(request)
    together = final((*request.history, *request.changes))
    gone = [key for key, change in together.items() if change.forget == "never-stored"]
    if any(change.forget == "never-stored" for change in request.changes):
        model, before = _without(request, gone)
        return _output_edit(model, before, [c for c in together.values() if c.forget != "never-stored"], request)
    return _output_edit(request.model, request.before, list(request.changes), request)


def _without(request: EditRequest[Theorem1Options], gone: list[tuple[str, ...]]) -> tuple[Model, AssociationTask]:
    """The model that was built, but for the facts of these keys."""
    base, options = request.base, request.request.options
    sample = _sample(request.sample, _layer(request.model).heads, options.right_hand_sides)
    built = _layer(request.model).model_copy(update={"heads": sample["heads"], "heads_apart": 0, "vocab": base.vocab})
    weights = request.model.weights
    attention = {name: weights[f"layers.0.{name}"][: built.heads] for name in ("query", "key", "value")}
    attention = {f"layers.0.{name}": tensor for name, tensor in attention.items()}
    attention |= {"tokens": weights["tokens"][: base.vocab], "positions": weights["positions"]}
    if has_own_coordinate(weights):
        attention, built = without_coordinate(attention), built.model_copy(update={"dim": built.dim - 1})
    rows = rows_by_key(base)
    index = base.vocabulary.index
    lost = {rows.get(tuple(index[token] for token in key)) for key in gone}
    kept = torch.tensor([row for row in range(base.facts) if row not in lost])
    if not len(kept):
        raise InputError("nothing would be left: a model holds at least one fact")
    seed = request.request.seed
    solved = never_stored(attention, built, base, kept, seed, sample, options.right_hand_sides, request.progress)
    return Model(built, solved, base.vocabulary), base.take(kept.numpy())


def _sample(stated: dict[str, Any], heads: int, codes: int) -> dict[str, Any]:
    """Which random sample a model folder says that it was solved from, in bounds: the folder may be a stranger's."""
    try:
        sample = _Sample(**stated)
    except ValidationError:
        sample = None
    if (
        sample is None
        or sample.heads > heads
        or sample.code >= min(codes, MOST_CODES)
        or sum(sample.group_heads) > sample.heads
    ):
        raise InputError(
            "the model folder does not say which random sample it was solved from, as an older rote or another program "
            "leaves it; build it again, or forget with `forget_as=erased`"
        )
    return sample.model_dump()


class _Sample(BaseModel):
    """`Draft.sample` of Theorem 1, as a folder has it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    solve: Literal["dense", "arrowhead", "output"]
    redraws: int = Field(ge=0, le=10_000)
    heads: int = Field(ge=0)
    code: int = Field(ge=0)
    group_heads: list[Annotated[int, Field(ge=0)]] = []


def _output_edit(
    model: Model, before: AssociationTask, changes: list[Change], request: EditRequest[Theorem1Options]
) -> Draft:
    """Set, add and erase facts by a change of W_O."""
    after = changed(before, changes)
    model = with_vocabulary(model, after.vocabulary)
    spec = _layer(model)
    measured = {"method": "edit", "heads_added": 0}
    before = before.in_vocabulary(after.vocabulary)
    rows, wanted = _rows_and_answers(before, after, changes)
    if not len(rows):
        return Draft(model, guaranteed(spec), measured)
    added = after.contexts[len(after.contexts) - int((rows >= before.facts).sum()) :]
    contexts = torch.from_numpy(np.concatenate([before.contexts, added])).long()
    system, model = _system(model, contexts, request)
    grown, place = _layer(model), torch.from_numpy(rows)
    asked = _compared(before, wanted)
    only_set = not len(added) and not any(change.forget for change in changes)
    streams = _streams(model, contexts, torch.cat([place, asked]), request.kept.get("attention") if only_set else None)
    output, unembed = model.weights["layers.0.output"].double(), model.weights["unembed"].double()
    unembed, targets = _targets(
        unembed, streams[len(place) :], before.take(asked.numpy()), before, after, wanted, request.request.seed
    )
    change = system.change(place, targets - streams[: len(place)])
    dtype = model.dtype
    weights = {
        **model.weights,
        "layers.0.output": (output + change).to(dtype),
        "unembed": unembed.to(dtype),
    }
    measured |= {"heads_added": grown.heads - spec.heads, "condition": system.condition, "room": system.room}
    request.kept["system"] = system if only_set else None
    return Draft(replace(model, weights=weights), guaranteed(grown), measured)


def _appended(request: EditRequest[Theorem1Options]) -> Draft:
    """Add facts by heads that are exactly zero on all other keys."""
    before, changes = request.before, list(request.changes)
    after = changed(before, changes)
    if after.vocab > before.vocab or not np.isin(after.answers, before.answers).all():
        known = {before.vocabulary.tokens[answer] for answer in np.unique(before.answers).tolist()}
        new = next(change.answer for change in changes if change.answer not in known)
        raise InputError(
            f"`keep_bits`: no stored fact has the answer {new!r}, and a row of W_U for it would change a logit of "
            f"every fact; {OTHERWISE}"
        )
    spec, old = _layer(request.model), with_vocabulary(request.model, before.vocabulary)
    model = old if has_indicator(old.weights) else with_coordinate(old, spec)
    spec, added = _layer(model), after.contexts[before.facts :]
    exact = {name: tensor.double() for name, tensor in model.weights.items()}
    wanted: list[int | None] = after.answers[before.facts :].tolist()
    asked = _compared(before, wanted)
    contexts = torch.from_numpy(np.concatenate([before.contexts[asked.numpy()], added])).long()
    streams = stream(spec, exact, contexts)
    compared, places = before.take(asked.numpy()), streams[: len(asked)]
    _, targets = _targets(exact["unembed"], places, compared, before, after, wanted, request.request.seed)
    maps = gated_heads(model, spec, before.contexts, added)
    model = with_gated_heads(model, spec, maps, targets - streams[len(asked) :])
    check_bits(old, model, before)
    request.kept["system"] = None
    measured = {"method": "append", "heads_added": len(added), "kept_bits": True}
    return Draft(model, guaranteed(_layer(model)), measured)


def _layer(model: Model) -> AttentionOnly:
    """The specification of a model that is one layer of plain attention."""
    spec = model.spec
    if not isinstance(spec, AttentionOnly) or spec.layers > 1 or spec.compressed or spec.positions != "stream":
        raise InputError("only one layer of plain attention is edited by its output maps")
    return spec


def _rows_and_answers(
    before: AssociationTask, after: AssociationTask, changes: list[Change]
) -> tuple[np.ndarray, list[int | None]]:
    """Rows of the system that change (added facts follow the others), and the answer that each gets."""
    row_of, index = rows_by_key(before), after.vocabulary.index
    rows, wanted, extra = [], [], before.facts
    for key, change in final(changes).items():
        row = row_of.get(tuple(index[token] for token in key))
        answer = None if change.answer is None else index[change.answer]
        if row is None and answer is None:
            continue
        if row is None:
            row, extra = extra, extra + 1
        rows.append(row)
        wanted.append(answer)
    return np.array(rows, dtype=np.int64), wanted


def _system(model: Model, contexts: Tensor, request: EditRequest[Theorem1Options]) -> tuple[OutputSystem, Model]:
    """The system of these facts, with as many more heads as it takes."""
    spec, progress = _layer(model), request.progress
    kept = request.kept.get("system")
    if isinstance(kept, OutputSystem) and kept.facts == len(contexts) and kept.spec.heads == spec.heads:
        return kept, model
    system = OutputSystem(spec, model.weights, contexts, progress)
    for _ in range(MOST_ATTEMPTS):
        if system.solvable:
            return system, model
        model = with_heads(model, max(1, math.ceil(-system.room / system.width)), contexts, request.request.seed)
        system = OutputSystem(_layer(model), model.weights, contexts, progress)
    if system.solvable:
        return system, model
    raise CheckFailed(
        f"the features of these {len(contexts):,} facts stay dependent with {_layer(model).heads - spec.heads} more "
        "heads; build the model again from the changed table"
    )


def _streams(model: Model, contexts: Tensor, rows: Tensor, kept: KeptAttention | None) -> Tensor:
    """The streams of some facts, in float64 unless the model's attention is kept.

    Those of a float32 model then round to float32, which moves the stream of a changed fact as its own rounding does.
    """
    spec = _layer(model)
    exact_enough = model.dtype in (torch.float32, torch.float64)
    if exact_enough and kept is not None and kept.spec == spec and torch.equal(contexts, kept.contexts):
        return kept.stream(model.weights)[rows].double()
    exact = {name: tensor.double() for name, tensor in model.weights.items()}
    return stream(spec, exact, contexts[rows])


def with_heads(model: Model, count: int, contexts: Tensor, seed: int) -> Model:
    """The model with further random heads whose output maps are zero."""
    spec, weights = _layer(model), dict(model.weights)
    generator = torch.Generator().manual_seed(seed * 65_537 + spec.heads)
    grown = spec.model_copy(update={"heads": spec.heads + count})
    size = ScoreSize().plain(grown.heads)
    if has_indicator(weights) and spec.rank >= 2 and spec.dim >= 4:
        embeddings = Embeddings(weights["tokens"], weights["positions"])
        heads = draw_threshold_heads(count, grown, size, Differences(embeddings, contexts), generator)
    else:
        heads = draw_heads(count, grown, size, model.dtype, generator)
    old = Heads(*(weights[f"layers.0.{name}"] for name in ("query", "key", "value")))
    together = Heads.together([old, heads])
    weights |= {f"layers.0.{name}": getattr(together, name) for name in ("query", "key", "value")}
    weights["layers.0.output"] = torch.nn.functional.pad(weights["layers.0.output"], (0, 0, 0, 0, 0, count))
    return Model(grown, weights, model.vocabulary)


def _compared(before: AssociationTask, wanted: list[int | None]) -> Tensor:
    """Rows whose streams tell what an answer asks for: some of every wanted answer's, and a sample of all."""
    is_wanted, compared = np.zeros(before.vocab, dtype=bool), np.zeros(before.facts, dtype=bool)
    is_wanted[[answer for answer in wanted if answer is not None]] = True
    own = np.flatnonzero(is_wanted[before.answers])
    _, first = np.unique(before.answers[own], return_index=True)
    compared[own[first]] = compared[own[:SAMPLED]] = True
    compared[np.linspace(0, before.facts - 1, min(before.facts, SAMPLED)).astype(np.int64)] = True
    return torch.from_numpy(np.flatnonzero(compared))


def _targets(
    unembed: Float[Tensor, "vocab dim"],
    streams: Float[Tensor, "compared dim"],
    compared: AssociationTask,
    before: AssociationTask,
    after: AssociationTask,
    wanted: list[int | None],
    seed: int,
) -> tuple[Float[Tensor, "vocab dim"], Float[Tensor, "changed dim"]]:
    """W_U with a row for every new answer, and the stream of every changed fact; zero where it is erased.

    An answer that facts have already is asked for as they do: by the mean of their streams, which differ in length
    only.
    """
    held, means, unheld = torch.from_numpy(compared.answers).long(), {}, []
    for answer in dict.fromkeys(answer for answer in wanted if answer is not None):
        own = (held == answer).nonzero().flatten()
        if len(own):
            means[answer] = streams[own].mean(0)
        else:
            unheld.append(answer)
    if unheld:
        unembed, asked = _new_answers(unembed, streams, before, after, unheld, seed)
        means |= asked
    nothing = torch.zeros(unembed.shape[1], dtype=torch.float64)
    return unembed, torch.stack([nothing if answer is None else means[answer] for answer in wanted])


def _new_answers(
    unembed: Float[Tensor, "vocab dim"],
    streams: Float[Tensor, "compared dim"],
    before: AssociationTask,
    after: AssociationTask,
    answers: list[int],
    seed: int,
) -> tuple[Float[Tensor, "vocab dim"], dict[int, Float[Tensor, " dim"]]]:
    """W_U with a row for every one of these answers, which no fact has, and the stream that asks for each.

    The metric of W_U's rows gives the stream: r = K^-1 c with W_U = c K, c near the unit sphere. A new answer takes
    over the row of one that no fact has any more, where there is one: all other logits stay.
    """
    dim = unembed.shape[1]
    known = torch.from_numpy(np.unique(before.answers)).long()
    rows = unembed[known]
    sizes, axes = torch.linalg.eigh(rows.T @ rows * (dim / len(known)))
    sizes = torch.where(sizes > sizes[-1] * 1e-12, sizes, sizes[-1]).sqrt()
    to_code, to_row = axes / sizes @ axes.T, axes * sizes @ axes.T
    lengths = (streams @ to_row).norm(dim=1).median()
    codes = torch.nn.functional.normalize(rows @ to_code, dim=1)
    unembed, asked = unembed.clone(), {}
    free = np.setdiff1d(before.answers, after.answers).tolist()
    generator = torch.Generator().manual_seed(seed * 65_537 + len(unembed))
    for answer in answers:
        if bool(unembed[answer].any()):
            code = torch.nn.functional.normalize(unembed[answer] @ to_code, dim=0)
        elif free:
            old = free.pop()
            code = torch.nn.functional.normalize(unembed[old] @ to_code, dim=0)
            unembed[answer], unembed[old] = unembed[old].clone(), 0
        else:
            drawn = torch.nn.functional.normalize(gaussian((CANDIDATES, dim), generator), dim=1)
            code = drawn[(drawn @ codes.T).amax(1).argmin()]
            unembed[answer] = code @ to_row
            codes = torch.cat([codes, code[None]])
        asked[answer] = code @ to_code * lengths
    return unembed, asked
