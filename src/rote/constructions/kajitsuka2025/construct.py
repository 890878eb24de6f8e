"""From a task to a model: what Theorem 4.1 and its variants share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rote.constructions.construction import Draft, Request
from rote.constructions.kajitsuka2025 import real_tokens
from rote.constructions.kajitsuka2025.codes import Codes
from rote.constructions.kajitsuka2025.exact import token_values
from rote.constructions.kajitsuka2025.model import Entrance, floating_model, logit_bits
from rote.constructions.kajitsuka2025.transformer import Facts, Transformer, account, assemble, facts_codes
from rote.constructions.kajitsuka2025.variant import MemorizerOptions, Variant
from rote.constructions.vardi2022.memorizer import Storage, WordsTooLong
from rote.constructions.vardi2022.network import Builder
from rote.errors import InputError
from rote.models.deep_relu import MANTISSA_BITS
from rote.models.model import Model
from rote.tasks import AssociationTask, VectorTask, Vocabulary

SMALLEST_FIRST = ("float32", "float64")
"""The dtypes tried by default (`auto`)."""

MemorizerRequest = Request[AssociationTask | VectorTask, MemorizerOptions]


@dataclass(frozen=True)
class Prepared:
    """A task as facts in token values, and how its tokens enter a model."""

    facts: Facts
    answers: np.ndarray
    """The output that each label stands for."""
    entrance: Callable[[Codes], Entrance]
    entering: Callable[[Builder], None] | None = None
    codes: Codes | None = None
    vocabulary: Vocabulary | None = None
    measured: dict[str, Any] | None = None


def build_memorizer(request: MemorizerRequest, variant: Variant) -> Draft:
    """The smallest dtype that holds the words, or the requested one; then the requested storage, or the smallest."""
    dtypes = SMALLEST_FIRST if request.dtype == "auto" else (request.dtype,)
    prepared: Prepared | None = None
    for dtype in dtypes:
        try:
            if prepared is None or isinstance(request.task, VectorTask):
                # Real tokens are projected anew: how finely is for the dtype to say.
                prepared = _prepared(request, variant, dtype)
            _refuse_long_logits(len(prepared.answers), dtype)
            if prepared.codes is None:
                prepared = replace(prepared, codes=facts_codes(prepared.facts, request.seed, request.progress))
            return _build(request, variant, prepared, dtype)
        except WordsTooLong:
            if dtype == dtypes[-1]:
                raise
    raise InputError("dtype: none was tried")


def _refuse_long_logits(labels: int, dtype: str) -> None:
    if logit_bits(labels) > MANTISSA_BITS[dtype]:
        raise WordsTooLong(
            f"dtype {dtype}: logits of {labels} labels need whole numbers of {logit_bits(labels)} bits, "
            f"and {dtype} holds {MANTISSA_BITS[dtype]}; use `dtype=float64`"
        )


def _build(request: MemorizerRequest, variant: Variant, prepared: Prepared, dtype: str) -> Draft:
    limit = min(MANTISSA_BITS[dtype], variant.bits or MANTISSA_BITS[dtype])
    transformer = _smallest(request, variant, prepared, limit)
    model = floating_model(
        transformer,
        prepared.facts,
        prepared.entrance(transformer.codes),
        prepared.answers,
        dtype,
        prepared.vocabulary,
    )
    return Draft(model, measured=measured(transformer, prepared, model))


def measured(transformer: Transformer, prepared: Prepared, model: Model) -> dict[str, Any]:
    return {
        "storage": transformer.storage,
        "layout": transformer.layout,
        "tokens_with_code": len(transformer.codes.tokens),
        "id_bits": int(transformer.codes.sums.max()).bit_length(),
        "snap_layers": transformer.snap_layers,
        "word_bits": getattr(model.spec, "word_bits", None),
        **account(transformer, prepared.facts.labels).summary(),
        **(prepared.measured or {}),
    }


def _smallest(request: MemorizerRequest, variant: Variant, prepared: Prepared, limit_bits: int) -> Transformer:
    """The requested storage; on `auto` whichever of lean and hashed fits and has fewer non-zero weights."""
    asked = request.options.storage
    storages: tuple[Storage, ...] = ("lean", "hashed") if asked == "auto" else (asked,)
    made, refused = [], []
    for storage in storages:
        try:
            made.append(
                assemble(
                    prepared.facts,
                    storage,
                    limit_bits,
                    variant.mixing,
                    variant.table,
                    prepared.entering,
                    prepared.codes,
                    request.seed,
                )
            )
        except WordsTooLong as error:
            refused.append(error)
    if not made:
        raise refused[0]
    return min(made, key=lambda transformer: transformer.second.nonzeros)


def _prepared(request: MemorizerRequest, variant: Variant, dtype: str) -> Prepared:
    task = request.task
    if isinstance(task, AssociationTask):
        return _from_associations(task, request.options.ordered, variant)
    return _from_vectors(task, variant, dtype, request.seed)


def _from_associations(task: AssociationTask, ordered: bool, variant: Variant) -> Prepared:
    if variant.asked and task.context < 2:
        raise InputError(f"{variant.id}: keys of one token have no sequence besides the token that asks")
    values, kept = token_values(task, ordered), task.majority()
    answers, labels = np.unique(kept.answers, return_inverse=True)
    facts = Facts(values.of(kept.contexts), labels, task.context - variant.asked, variant.asked)
    entrance = values.table if variant.table else lambda _: values.entrance()
    return Prepared(facts, answers, entrance, vocabulary=task.vocabulary)


def _from_vectors(task: VectorTask, variant: Variant, dtype: str, seed: int) -> Prepared:
    """Contexts and queries as one sequence each, the query last."""
    if task.labels is None:
        raise InputError(f"{variant.id} stores labels; this vector task has real targets")
    if variant.table:
        raise InputError(f"{variant.id}: an embedding table needs tokens from a vocabulary, not vectors")
    contexts, queries = task.inputs(slice(None))
    tokens = np.concatenate([contexts, queries[:, None]], 1).reshape(-1, task.dim)
    vectors, index = np.unique(tokens, axis=0, return_inverse=True)
    projection = real_tokens.project(vectors, MANTISSA_BITS[dtype], seed)
    values = real_tokens.whole_values(projection, vectors)
    facts = Facts(
        values[index.reshape(task.facts, task.context + 1)],
        task.labels.astype(np.int64),
        task.context + (not variant.asked),
        variant.asked,
    )
    entrance, entering = real_tokens.entrance(projection, vectors, values, task.context, task.outputs)
    apart = real_tokens.separation(vectors)
    measured = {
        "tokens": apart.tokens,
        "radius": apart.radius,
        "distance": apart.distance,
        "token_bits": projection.bits,
        "floor_slope": projection.slope,
    }
    return Prepared(facts, np.arange(task.outputs), lambda _: entrance, entering, measured=measured)
