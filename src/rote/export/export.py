"""Export: refuse what cannot be, write aside, ask every fact in the target library, and only then put the folder up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rote.arguments import typed
from rote.errors import CheckFailed, InputError, cut, disk_error, nearest, problems
from rote.export.answer_words import AnswerTokens
from rote.export.certificate import RuntimeCertificate, RuntimeExamination, examine_runtime
from rote.export.common.temperature import LARGEST
from rote.export.exported_files import ExportedFiles
from rote.export.requirement import install_line, refuse_missing
from rote.export.subject import Exportable, ExportSubject, subject_of
from rote.export.target import TARGETS, Manifest, Target, target_named, write_manifest
from rote.files import held
from rote.folders.destination import FolderKind, check_destination, written_aside
from rote.folders.folder import write_folder, write_json
from rote.folders.layout import CERTIFICATE, MANIFEST, SOURCE
from rote.progress import SILENT, Progress
from rote.tasks import Task
from rote.tasks.facts import Facts
from rote.tasks.facts import facts as read_facts

EXPORTED_FOLDER = FolderKind("an exported folder", (MANIFEST,))


@dataclass(frozen=True)
class Exported:
    """A folder in somebody else's format, and what it was seen to do there."""

    path: Path
    certificate: RuntimeCertificate


@typed
def export_model(
    model: Exportable,
    to: str,
    output: str | Path,
    facts: Facts | None = None,
    *,
    cache: str | None = None,
    format: str | None = None,
    templates: tuple[str, ...] | list[str] | None = None,
    answers: AnswerTokens = "one",
    gain: float | None = None,
    sample: int | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Exported:
    """Write a model in another tool's format, ask every fact there, and certify what that tool answers.

    `model` is a model, what `rote.build` gives, or a model folder; `to` names the target (`rote.export.TARGETS`);
    `facts` are read again from where a folder says they came from when they are not given. A folder is written only
    if the target library recalls every fact that the model recalls. `cache="float16"` has it keep keys and values in
    half precision meanwhile, where a target lets that be chosen. `format="Q8_0"` writes the matrices in one of the
    target's formats of few bits (gguf); a model that was built on a grid (`dtype="int8"`) is held by it exactly.
    `format="int8"` (onnx, llama) and `format="int4"` (onnx) store the integers of such a model.
    `templates` are sentences that the exported tokenizer reads as keys, such as "The {relation} of {country} is"; every
    sentence of every fact is checked. Default: those given when the model was built. With
    `answers="words"` an answer is written word by word and ends by itself.
    `gain` multiplies the logits. Default: the smallest power of two that makes every answer certain when sampled.
    `sample` asks so many facts instead of all, half of them those with the smallest margins and half spread evenly; the
    certificate states the number.

    >>> import rote, tempfile
    >>> task = rote.facts("random:vocab=6,context=2,facts=9,seed=1")
    >>> exported = rote.export_model(rote.build(task), "torch", tempfile.mkdtemp() + "/exported", task)
    >>> rote.from_torch(exported.path).spec.architecture
    'attention-only'
    """
    target, path = target_named(to), Path(output)
    check_destination(path, overwrite, EXPORTED_FOLDER)
    _refuse_cache(target, cache)
    refuse_format(target, format)
    refuse_missing(to, target.requirements, target.extra)
    subject = subject_of(
        model, facts if facts is None or isinstance(facts, str | Task) else read_facts(facts), templates, answers
    )
    if gain is not None:
        if not (0 < gain <= LARGEST and math.frexp(gain)[0] == 0.5):
            raise InputError(f"`gain={gain:g}`: give a power of two up to {LARGEST:g}, which rounds nothing")
        subject = replace(subject, gain=gain)
    if subject.templates and templates is None and not target.sentences:
        subject = replace(subject, templates=())
    if answers == "words" and not target.answer_words:
        able = ", ".join(name for name, other in TARGETS.items() if other.answer_words)
        raise InputError(f"`answers=words`: {to} writes an answer as one token; export to {able}")
    if templates and not target.sentences:
        able = ", ".join(name for name, other in TARGETS.items() if other.sentences)
        raise InputError(f"`templates`: {to} has no tokenizer that reads sentences; export to {able}")
    if sample is not None and sample < 2:
        raise InputError(f"`sample={sample}`: ask 2 facts or more, or leave it out to ask all")
    subject = replace(subject, format=format)
    if refused := target.refusals(subject):
        raise problems(f"{to} cannot hold this model", refused)
    return Exported(path, _write(target, subject, cache, path, progress, sample))


def _refuse_cache(target: Target, cache: str | None) -> None:
    if cache is None or cache in target.caches:
        return
    if not target.caches:
        others = ", ".join(name for name, other in TARGETS.items() if other.caches)
        raise InputError(f"`cache={cache}`: {target.id} keeps no keys and values; leave it out, or export to {others}")
    raise InputError(f"`cache={cache}`: is not one of {', '.join(target.caches)}")


def refuse_format(target: Target, format: str | None) -> None:
    if format is None or format in target.formats:
        return
    if not target.formats:
        others = ", ".join(name for name, other in TARGETS.items() if other.formats)
        raise InputError(
            f"`format={format}`: {target.id} has no formats of few bits; leave it out, or export to {others}"
        )
    raise InputError(f"`format={format}`: is not one of {', '.join(target.formats)}{nearest(format, target.formats)}")


def _write(
    target: Target, subject: ExportSubject, cache: str | None, path: Path, progress: Progress, sample: int | None
) -> RuntimeCertificate:
    """Write and examine a folder; it is put up only where nothing was lost."""
    with written_aside(path) as aside:
        with in_library(target):
            manifest = replace(
                target.write(subject, aside),
                cache=cache or next(iter(target.caches), None),
                templates=tuple(template.text for template in subject.templates),
                answer_tokens=subject.answer_tokens,
            )
        write_manifest(aside, manifest)
        write_folder(aside / SOURCE, subject.model, subject.origin, subject.provenance, subject.certificate)
        with held(aside) as folder:
            files = ExportedFiles.of(folder)
        certificate = examine_folder(target, aside, subject, manifest, files, progress, sample).certificate
        if not certificate.complete:
            raise CheckFailed(
                f"{target.id}: nothing is written, for in this runtime {'; '.join(certificate.losses())}. "
                f"{_remedy(subject.format)}"
            )
        write_json(aside / CERTIFICATE, certificate.model_dump(mode="json"))
    return certificate


def _remedy(format: str | None) -> str:
    if format is None:
        return (
            "Build by dana2025.theorem1 with `solve=dense`, whose margins rounding moves least, or choose another "
            "target"
        )
    fitting = {"Q8_0": "int8", "Q5_0": "int4", "Q4_0": "int4"}.get(format)
    build = "" if fitting is None else f"Build with `dtype={fitting}`, whose weights {format} holds exactly, or "
    return f"{build}{'choose' if build else 'Choose'} a format of more bits"


def examine_folder(
    target: Target,
    folder: Path,
    subject: ExportSubject,
    manifest: Manifest,
    files: ExportedFiles,
    progress: Progress = SILENT,
    sample: int | None = None,
) -> RuntimeExamination:
    """Open a folder in the target library and ask it every fact, or so many; its rejection is one clear error."""
    with in_library(target):
        runtime = target.open(folder, subject, manifest)
        conditions = target.conditions(folder, subject, manifest)
        return examine_runtime(target.id, runtime, subject, conditions, files, progress, sample)


@contextmanager
def in_library(target: Target) -> Iterator[None]:
    """What the target's library raises, as one clear error; a full disk is the disk's fault, whoever reports it."""
    try:
        yield
    except CheckFailed:
        raise
    except Exception as error:  # libraries raise anything at files they do not like; tokenizers raises `Exception`
        if (cause := disk_error(error)) is not None:
            raise cause from None
        if isinstance(error, MemoryError):
            raise
        used = ", ".join(f"{name} {release}" for name, release in target.versions.items())
        raise CheckFailed(
            f"{target.id}: {used} cannot write or run this model ({type(error).__name__}: {cut(error)}). "
            f"{install_line(target.extra)}"
        ) from error
