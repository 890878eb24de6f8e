"""What is exported: a model that reads tokens, the facts it was made for, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.build import Built
from rote.errors import InputError, problems
from rote.export.spelling import Spelling, refuse_ambiguous
from rote.export.templates import Template, parsed_templates
from rote.folders.folder import Folder, read_folder
from rote.folders.named_facts import facts_of_folder
from rote.measure.certificate import Certificate
from rote.measure.matching import for_model
from rote.measure.recall import margins
from rote.measure.streaming import stream_logits
from rote.models.model import Model
from rote.tasks import AssociationTask, Task, require_associations
from rote.tasks.facts import facts as read_facts
from rote.tasks.origin import UNNAMED, Origin

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

    @cached_property
    def margins(self) -> Float[Tensor, " facts"]:
        """Every fact's margin when the model's weights are run in float64: what a runtime is held against."""
        exact = self.model.to("float64")
        answers = torch.from_numpy(self.task.answers).long()
        return torch.cat([margins(logits, answers[rows]) for rows, logits in stream_logits(exact, self.task)])

    @cached_property
    def recalled(self) -> int:
        """Facts that the model recalls in its own dtype: what a runtime must recall as well."""
        answers = torch.from_numpy(self.task.answers).long()
        parts = [margins(logits, answers[rows]) > 0 for rows, logits in stream_logits(self.model, self.task)]
        return int(torch.cat(parts).sum())

    @cached_property
    def contexts(self) -> np.ndarray:
        return self.task.contexts.astype(np.int64)

    @cached_property
    def texts(self) -> list[str]:
        return self.spelling.texts(self.contexts)

    @cached_property
    def answers(self) -> list[str]:
        """The answers in words."""
        return [self.spelling.tokens[answer] for answer in self.task.answers.tolist()]


def subject_of(source: Exportable, facts: Task | str | None = None, templates: Sequence[str] = ()) -> ExportSubject:
    """The model and its facts; facts that are not given are read again from where the model's folder says."""
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
    read = parsed_templates(templates, task, spelling)
    return ExportSubject(model, task, spelling, task.origin, provenance, certificate, read)


def _parts(source: Exportable) -> tuple[Model, Origin | None, dict[str, Any], Certificate | None]:
    if isinstance(source, str | Path):
        source = read_folder(source)
    if isinstance(source, Folder):
        return source.model, source.origin, source.provenance, source.certificate
    if isinstance(source, Built):
        return source.model, None, source.provenance, source.certificate
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
