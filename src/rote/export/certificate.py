"""Certificates for a runtime: every fact asked through the library that will run the exported files.

As with a model's own certificate this is a claim, which `rote.export.verify` makes again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field

from rote.export.exported_files import ExportedFiles
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.measure.certificate import weights_fingerprint
from rote.progress import SILENT, Progress
from rote.tasks.templates import sentences


class Condition(BaseModel):
    """One thing that must be so for an export's arithmetic to be the model's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    value: float
    below: float
    """The value has to stay below this."""

    @property
    def holds(self) -> bool:
        return self.value < self.below


class RuntimeCertificate(BaseModel):
    """What an exported folder was seen to do in its target library."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str
    runtime: dict[str, str]
    """Library and release."""
    facts_fingerprint: str
    weights_fingerprint: str
    """Of the model that was exported."""
    files: dict[str, str]
    """SHA-256 of every exported file."""
    dtype: str
    cache_dtype: str | None
    parameters: int
    bytes: int
    vocab: int
    """Tokens that compete for an answer."""
    gain: float
    """What the logits were multiplied by; margins below are per unit of the model's own logits."""
    facts: int
    asked: int | None = Field(None, ge=2)
    """Facts that the runtime was asked, of which the counts below are. None: all."""
    read: int
    """Facts whose text the runtime reads as the ids that were meant, and whose answer it writes in the same words."""
    recalled: int
    """Facts whose answer, asked from text, is the strict maximum over all tokens that compete."""
    generated: int | None
    """Facts whose answer the library wrote after their text, where it writes text."""
    recalled_before: int
    """Facts that the model recalled before it was exported."""
    min_margin: float
    min_margin_float64: float
    """Smallest margin of the model's own weights, run in float64."""
    largest_margin_change: float
    """Largest difference of a fact's margin between the runtime and float64."""
    conditions: tuple[Condition, ...]
    sentences: int = 0
    """Sentences of all templates."""
    sentences_read: int = 0
    """Sentences that are read as the ids of their key."""

    @property
    def checked(self) -> int:
        """Facts that the runtime was asked."""
        return self.facts if self.asked is None else self.asked

    @property
    def complete(self) -> bool:
        """Nothing that was asked was lost on the way."""
        return (
            self.read == self.checked
            and self.sentences_read == self.sentences
            and self.recalled >= self.recalled_before
            and (self.generated is None or self.generated >= self.recalled_before)
            and all(condition.holds for condition in self.conditions)
        )

    def losses(self) -> list[str]:
        """What was lost, in words."""
        lost = []
        if self.read < self.checked:
            lost.append(
                f"{self.checked - self.read:,} of {self.checked:,} facts are not read from text and written back"
            )
        if self.sentences_read < self.sentences:
            missed = self.sentences - self.sentences_read
            lost.append(f"{missed:,} of {self.sentences:,} sentences are not read as their keys")
        if self.recalled < self.recalled_before:
            lost.append(
                f"{self.recalled:,} facts are recalled where the model recalls {self.recalled_before:,} "
                f"(a margin changes by {self.largest_margin_change:.2g}, the smallest is {self.min_margin_float64:.2g})"
            )
        if self.generated is not None and self.generated < self.recalled_before:
            lost.append(f"{self.generated:,} answers are generated right where {self.recalled_before:,} are recalled")
        lost += [
            f"{condition.name} is {condition.value:.3g} and has to stay below {condition.below:.3g}"
            for condition in self.conditions
            if not condition.holds
        ]
        return lost


@dataclass(frozen=True)
class RuntimeExamination:
    """A certificate together with the rows that are missed."""

    certificate: RuntimeCertificate
    missed: np.ndarray


def examine_runtime(
    target: str,
    runtime: Runtime,
    subject: ExportSubject,
    conditions: tuple[Condition, ...],
    files: ExportedFiles,
    progress: Progress = SILENT,
    sample: int | None = None,
) -> RuntimeExamination:
    """Ask every fact, from text, through the target library; or a sample of so many (`ExportSubject.asked`)."""
    order = subject.asked(sample)
    texts = [subject.texts[row] for row in order.tolist()]
    answers = torch.from_numpy(subject.task.answers).long()[order]
    meant = runtime.meant(subject.contexts)
    expected = [meant[row] for row in order.tolist()]
    first_words, wanted = ([words[row] for row in order.tolist()] for words in (subject.first_words, subject.answers))
    read, wrote, generating = [], 0, True
    seen = torch.full((len(texts),), -float("inf"), dtype=torch.float64)
    written = dict(zip(distinct := sorted(set(answers.tolist())), runtime.words(distinct), strict=True))
    with progress.stage(f"asking {target}", len(texts)) as stage:
        for start in range(0, len(texts), runtime.rows):
            rows = slice(start, min(start + runtime.rows, len(texts)))
            ids = runtime.ids(texts[rows])
            same = [
                got == ids_meant and written[answer] == word
                for got, ids_meant, answer, word in zip(
                    ids, expected[rows], answers[rows].tolist(), first_words[rows], strict=True
                )
            ]
            read += same
            # A text that was read as something else is a fact that is missed: there is nothing to ask it with.
            asked = [row for row, ok in enumerate(same, start) if ok]
            if asked:
                batch = torch.tensor([ids[row - start] for row in asked])
                seen[asked] = runtime.margins(batch, answers[asked]).double()
            generated = runtime.generated(texts[rows]) if generating else None
            generating = generated is not None
            if generated is not None:
                wrote += sum(a == b for a, b in zip(generated, wanted[rows], strict=True))
            stage.advance(rows.stop - rows.start)
    said = sentences(subject.templates, subject.task)
    right = seen > 0
    exact = subject.margins[order]
    known = seen.isfinite()
    certificate = RuntimeCertificate(
        target=target,
        runtime=runtime.versions,
        facts_fingerprint=subject.task.fingerprint,
        weights_fingerprint=weights_fingerprint(subject.model.weights),
        files=files.digests,
        dtype=runtime.dtype,
        cache_dtype=runtime.cache_dtype,
        parameters=runtime.parameters,
        bytes=files.bytes,
        vocab=runtime.vocab,
        gain=runtime.gain,
        facts=subject.task.facts,
        asked=None if len(order) == subject.task.facts else len(order),
        read=sum(read),
        recalled=int(right.sum()),
        generated=wrote if generating else None,
        recalled_before=int(subject.kept[order].sum()),
        min_margin=float(seen.nan_to_num(nan=-float("inf")).min()),
        min_margin_float64=float(exact.min()),
        largest_margin_change=float((seen - exact)[known].abs().max()) if bool(known.any()) else float("inf"),
        conditions=conditions,
        sentences=len(said),
        sentences_read=sum(
            got == meant[row] for (row, _), got in zip(said, runtime.ids([text for _, text in said]), strict=True)
        )
        if said
        else 0,
    )
    return RuntimeExamination(certificate, np.sort(order.numpy()[~right.numpy()]))
