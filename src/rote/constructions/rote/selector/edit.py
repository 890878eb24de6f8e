"""Edits of a selector: one number of a subject, or two rows of W_U; else the selector of the changed table.

A changed fact is first looked for among other subjects: one that has the new answer under the same relation lends its
number, if all other facts of the subject stay right. An answer that only the changed fact had gives its row of W_U to
one that no fact had. Either way no other fact's logit margin changes by a bit. Where neither is possible, and for facts
that are added or forgotten, weights are computed again from the changed table, which takes no random numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from rote.constructions.common.more_tokens import with_vocabulary
from rote.constructions.common.rebuilding import rebuilt_by, refuse_erased
from rote.constructions.construction import Draft, EditRequest
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.tasks import AssociationTask

LENDERS = 8
"""Subjects with the new answer whose numbers are tried."""


def edit(request: EditRequest[Any]) -> Draft:
    """Change the fewest numbers that do, or compute all of them again."""
    refuse_erased("rote.selector", request)
    before, after = request.before, request.after
    if all(change.answer is not None for change in request.changes) and before.facts == after.facts:
        model = _few_numbers(_with_silent(request.model, before, after), before, after)
        if model is not None:
            return Draft(model, measured={"edit": "few numbers"})
    return rebuilt_by("rote.selector")(request)


def _with_silent(model: Model, before: AssociationTask, after: AssociationTask) -> Model:
    """The model with the new answers in its vocabulary, which it never gives yet."""
    return with_vocabulary(model, after.vocabulary, _silent(model, before))


def _few_numbers(model: Model, before: AssociationTask, after: AssociationTask) -> Model | None:
    """The model with each changed fact's number borrowed or its answer's row moved; None if one has no such way."""
    before = before.in_vocabulary(after.vocabulary)
    for row in np.flatnonzero(before.answers != after.answers).tolist():
        answers = before.answers.copy()
        answers[row] = after.answers[row]
        found = _borrowed(model, before, row, int(answers[row])) or _moved(model, before, row, int(answers[row]))
        if found is None:
            return None
        model, before = found, replace(before, answers=answers)
    return model


def _borrowed(model: Model, task: AssociationTask, row: int, answer: int) -> Model | None:
    """The subject of this fact takes the number of one that has the answer under the same relation."""
    digits = model.spec.head_dim if isinstance(model.spec, AttentionOnly) else 1
    context, dim = task.contexts[row], model.weights["tokens"].shape[1]
    for position in range(task.context):
        others = np.delete(np.arange(task.context), position)
        same = (task.contexts[:, others] == context[others]).all(1) & (task.answers == answer)
        own = np.flatnonzero(task.contexts[:, position] == context[position])
        lenders = task.contexts[same, position][:LENDERS].tolist()
        wanted = np.where(own == row, answer, task.answers[own])
        for lender in lenders:
            for begin in range(dim - digits + 1):
                span = slice(begin, begin + digits)
                tokens = model.weights["tokens"].clone()
                tokens[context[position], span] = tokens[lender, span]
                changed = replace(model, weights={**model.weights, "tokens": tokens})
                if _right(changed, task.contexts[own], wanted):
                    return changed
    return None


def _moved(model: Model, task: AssociationTask, row: int, answer: int) -> Model | None:
    """The row of W_U of an answer that no other fact has goes to one that no fact has."""
    old = int(task.answers[row])
    if (task.answers == old).sum() > 1 or (task.answers == answer).any():
        return None
    unembed = model.weights["unembed"].clone()
    silent = _silent(model, task)
    unembed[answer], unembed[old] = model.weights["unembed"][old], silent
    return replace(model, weights={**model.weights, "unembed": unembed})


def _silent(model: Model, task: AssociationTask) -> torch.Tensor:
    """The row of W_U of a token that is nobody's answer."""
    nobody = np.setdiff1d(task.contexts.ravel(), task.answers)
    return model.weights["unembed"][int(nobody[0])]


def _right(model: Model, contexts: np.ndarray, answers: np.ndarray) -> bool:
    logits = model.logits(contexts)
    rows = torch.arange(len(logits))
    wanted = torch.from_numpy(answers).long()
    own = logits[rows, wanted]
    logits[rows, wanted] = -float("inf")
    return bool((own - logits.amax(1) >= 1).all())
