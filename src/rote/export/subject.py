"""What is exported: a model that reads tokens, the facts it was made for, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Integer
from torch import Tensor

from rote.constructions.build import Built
from rote.errors import InputError, problems
from rote.export.answer_words import AnswerTokens, AnswerWords
from rote.export.common.places import Pairs
from rote.folders.folder import Folder, read_folder
from rote.folders.named_facts import facts_of_folder
from rote.measure.certificate import Certificate
from rote.measure.matching import for_model, stream_logits
from rote.measure.recall import margins
from rote.models.model import Model
from rote.tasks import AssociationTask, Task, require_associations
from rote.tasks.facts import facts as read_facts
from rote.tasks.origin import UNNAMED, Origin
from rote.tasks.spelling import Spelling, refuse_ambiguous
from rote.tasks.templates import Template, parsed_templates

Exportable = Model | Built | Folder | str | Path


@dataclass(frozen=True)
class ExportSubject:
    """A model with its facts in the model's own token ids."""

    model: Model
    task: AssociationTask
    spelling: Spelling
    origin: Origin
    provenance: dict[str, Any]
    certificate: Certificate | None
    templates: tuple[Template, ...] = ()
    """Sentences that the exported tokenizer reads as keys, in targets that have one."""
    format: str | None = None
    """The target's own format of few bits for the matrices, where one was chosen."""
    gain: float | None = None
    """What the logits are multiplied by. Default: the smallest power of two that makes every answer certain."""
    answer_tokens: AnswerTokens = "one"
    """Whether an answer is one token, or its words and an end of text."""

    def answer_words(self, pairs: Pairs | None) -> AnswerWords | None:
        """The words of every answer; None where an answer is one token."""
        if self.answer_tokens == "one":
            return None
        return AnswerWords.of(self.task.answers.tolist(), self.spelling.tokens, self.vocab + len(pairs or ()))

    @cached_property
    def longest_answer(self) -> int:
        """Tokens that are generated for the longest answer, its end included."""
        words = self.answer_words(None)
        return 1 if words is None else words.longest + 1

    @cached_property
    def first_words(self) -> list[str]:
        """What the first token of every answer says."""
        words = self.answer_words(None)
        return self.answers if words is None else [words.words[answer][0] for answer in self.task.answers.tolist()]

    @property
    def vocab(self) -> int:
        return len(self.spelling.tokens)

    @property
    def read_back(self) -> np.ndarray | None:
        """Answers that the exported model reads after it wrote them."""
        return None if self.answer_tokens == "one" else self.task.answers

    @cached_property
    def margins(self) -> Float[Tensor, " facts"]:
        """Every fact's margin when the model's weights are run in float64: what a runtime is held against."""
        exact = self.model.to("float64")
        answers = torch.from_numpy(self.task.answers).long()
        return torch.cat([margins(logits, answers[rows]) for rows, logits in stream_logits(exact, self.task)])

    @cached_property
    def kept(self) -> Bool[Tensor, " facts"]:
        """Which facts the model recalls in its own dtype: what a runtime must recall as well."""
        answers = torch.from_numpy(self.task.answers).long()
        return torch.cat([margins(logits, answers[rows]) > 0 for rows, logits in stream_logits(self.model, self.task)])

    @property
    def recalled(self) -> int:
        return int(self.kept.sum())

    def asked(self, sample: int | None) -> Integer[Tensor, " asked"]:
        """Facts that a runtime is asked: all, or so many, half of them those with the smallest margins and half spread
        evenly. Keys that begin alike come one after another, so that a runtime may keep what it has read of them."""
        order = torch.from_numpy(np.lexsort(self.contexts.T[::-1]))
        if sample is None or sample >= len(order):
            return order
        chosen = torch.zeros(len(order), dtype=torch.bool)
        chosen[self.margins.argsort(stable=True)[: sample // 2]] = True
        others = (~chosen).nonzero().flatten()
        spread = torch.linspace(0, len(others) - 1, sample - sample // 2, dtype=torch.float64)
        chosen[others[spread.long()]] = True
        return order[chosen[order]]

    @cached_property
    def largest_squares(self) -> dict[tuple[int, int], float]:
        """The stream's largest square by the layers and dimensions of a normal form, where it was measured."""
        return {}

    @cached_property
    def contexts(self) -> np.ndarray:
        return self.task.contexts.astype(np.int64)

    @cached_property
    def texts(self) -> list[str]:
        return self.spelling.texts(self.contexts)

    @cached_property
    def answers(self) -> list[str]:
        return [self.spelling.tokens[answer] for answer in self.task.answers.tolist()]


def subject_of(
    source: Exportable,
    facts: Task | str | None = None,
    templates: Sequence[str] | None = None,
    answer_tokens: AnswerTokens = "one",
) -> ExportSubject:
    """The model and its facts. Facts and templates that are not given are those of the model's folder."""
    model, origin, provenance, certificate = _parts(source)
    folder = source.path if isinstance(source, Folder) else Path(source) if isinstance(source, str | Path) else Path()
    found = facts if isinstance(facts, Task) else _facts_of(origin, certificate, facts, folder)
    task = require_associations(found, "an export is checked fact by fact; give keys with one answer each")
    if model.spec.reads != "tokens":
        raise InputError(
            f"a {model.spec.architecture} model of this kind reads vectors, and other tools would have no text to give "
            "it; export a model that reads tokens"
        )
    if model.vocabulary is None:
        raise InputError("the model has no vocabulary, so that its answers have no text; give the model its vocabulary")
    task = for_model(task, model)
    spelling = Spelling.of(task)
    if wrong := refuse_ambiguous(spelling, task):
        raise problems("export", wrong)
    remembered = () if origin is None else origin.templates
    read = parsed_templates(remembered if templates is None else templates, task, spelling)
    written = task.origin if not remembered else task.origin.model_copy(update={"templates": remembered})
    return ExportSubject(model, task, spelling, written, provenance, certificate, read, answer_tokens=answer_tokens)


def _parts(source: Exportable) -> tuple[Model, Origin | None, dict[str, Any], Certificate | None]:
    if isinstance(source, str | Path):
        source = read_folder(source)
    if isinstance(source, Folder):
        return source.model, source.origin, source.provenance, source.certificate
    if isinstance(source, Built):
        return source.model, source.origin, source.provenance, source.certificate
    return source, None, {}, None


def _facts_of(origin: Origin | None, certificate: Certificate | None, given: Task | str | None, folder: Path) -> Task:
    if given is not None and not isinstance(given, str):
        return given
    if given is not None:
        return read_facts(given, **({} if origin is None else origin.reading.model_dump(exclude_defaults=True)))
    if origin is None or origin.source in UNNAMED:
        raise InputError(
            "`facts`: give the facts that the model was made for; an export is checked on every one of them"
        )
    task = facts_of_folder(origin, folder)
    if certificate is not None and task.fingerprint != certificate.facts_fingerprint:
        raise InputError(
            f"`facts`: {origin.source!r} holds other facts now than those the model was certified on; "
            "name the right ones"
        )
    return task
