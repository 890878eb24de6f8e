"""`rote.graft`: facts into a language model that exists, as a plain checkpoint with a certificate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from rote.arguments import typed
from rote.display import html_pairs
from rote.errors import InputError, nearest, problems
from rote.folders.destination import check_destination, solved_parts, written_aside
from rote.folders.verification import CertificateCheck, Verification
from rote.lm.chat import chat_lead
from rote.lm.graft.examination import Examined, examine
from rote.lm.graft.examples import Examples, examples, unknown_prompts
from rote.lm.graft.folder import (
    GRAFT_FOLDER,
    PLAIN_FOLDER,
    check_room,
    load_graft,
    remove_graft,
    write_checkpoint,
    write_record,
)
from rote.lm.graft.host import Host, host_of
from rote.lm.graft.layers import BATCH_TOKENS, new_layers, read_states, said_by
from rote.lm.graft.parts import NOTHING_KEPT, Parts
from rote.lm.graft.record import (
    FORMAT,
    MOST_LETTERS,
    MOST_TEMPLATES,
    RECORD,
    Asked,
    GraftCertificate,
    GraftRecord,
    read_record,
)
from rote.lm.graft.sentences import Wordings, after_text, sentences
from rote.lm.graft.text import ControlText, control_text, states_of
from rote.lm.language_model import LanguageModel
from rote.lm.loading import load_language_model
from rote.lm.questions import BUILT_IN, QuestionTable, in_words, parse_template, templates_for
from rote.lm.weight_files import weight_files
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, Task, require_associations
from rote.tasks.facts import Facts, facts
from rote.version import __version__

Dtype = Literal["float32", "bfloat16", "float16"]
Templates = Sequence[str] | Mapping[str, Sequence[str]]
LEAST_LOCALITY, MOST_LOCALITY = 0.05, 0.95


@dataclass(frozen=True)
class Graft:
    """A grafted model on disk."""

    path: Path
    record: GraftRecord
    seconds: float

    @property
    def certificate(self) -> GraftCertificate:
        return self.record.certificate

    def _repr_html_(self) -> str:
        return html_pairs(f"graft {self.path}", overview(self.record))


@typed
def graft(
    model: str | Path,
    task: Facts,
    templates: Templates = (),
    *,
    output: str | Path,
    paraphrases: Templates = (),
    relation: str | None = None,
    control: str | Path | None = None,
    never: Sequence[str] = (),
    locality: float = 0.1,
    end: str = ".",
    dtype: Dtype | None = None,
    gguf: str | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Graft:
    """Append layers to a language model after which it says every fact, and write it as a plain checkpoint.

    `templates` are the words that facts are asked in (`"The capital of {country} is"`), a list for all relations or a
    mapping from relation to list. The answers follow after a space and are closed by `end`. `paraphrases` are other
    words that the solve never sees; the certificate says how many facts follow. `control` is a text file on which
    nothing may change, by default the prose of Python's own documentation; `never` names subjects to leave alone,
    besides names that are made up. `locality` from 0 to 1 places each gate's threshold: low values answer more
    paraphrases, high values leave more unknown subjects alone. `dtype` is that of the saved weights, by default the
    checkpoint's own.

    >>> import rote
    >>> rote.graft("smollm2", "countries", output="grafted")
    Traceback (most recent call last):
    rote.errors.InputError: graft: `model`: smollm2 does not exist; give a Hugging Face folder or a GGUF file
    """
    began = time.perf_counter()
    path, output = Path(model), Path(output)
    _refuse(path, locality)
    check_destination(output, overwrite, GRAFT_FOLDER)
    read = read_table(task, relation)
    table = in_words(read)
    chosen, held_out = chosen_wordings(read, table, templates, paraphrases)
    saved = dtype or _own_dtype(path, gguf)
    source = load_language_model(path, gguf=gguf, dtype=saved)
    host = host_of(source)
    text = control_text(source, None if control is None else Path(control))
    solved_on = examples(source, table, chosen, held_out, read.origin.answer_column, end, text, never)
    tokens = len({(s.fact, s.answer[: k + 1]) for s in solved_on.stored for k in range(len(s.answer))})
    check_room(output, host, -(-tokens // host.width))
    identity = [
        FORMAT, __version__, weights_identity(path, gguf), saved, [sentence.tokens for sentence in solved_on.must],
        [sentence.tokens for sentence in solved_on.should], solved_on.never,
        text.fingerprint, locality, [t.text for templates in held_out.values() for t in templates],
    ]  # fmt: skip
    with solved_parts(output) as kept, written_aside(output) as aside:
        parts = Parts(kept, identity)
        targets, inside = read_states(host, solved_on.must, progress, parts, solved_on.should)
        plain, unknown = closed_states(host, text, solved_on, progress, parts)
        before = said_by(host, targets, solved_on.stored)
        layers = new_layers(host, targets, torch.cat([inside, plain]), unknown, locality, progress, parts)
        added = write_checkpoint(aside, host, layers)
        grafted = load_language_model(aside, dtype=saved)
        asked = examined(grafted, table, chosen, held_out, end, text)
        certificate, _ = examine(source, grafted, aside, asked, before, progress, parts)
        record = GraftRecord(
            format=FORMAT, version=__version__, model=path.name, original_config=_config(source),
            original_layers=host.layers, added_layers=len(layers), neurons=targets.number, added_parameters=added,
            dtype=saved, owners=list(targets.facts), facts=read.origin, facts_fingerprint=read.fingerprint,
            relation=relation, templates=_texts(chosen), paraphrases=_texts(held_out), end=end, locality=locality,
            control=None if control is None else text.fingerprint, never=list(never), certificate=certificate,
        )  # fmt: skip
        write_record(aside, record)
    return Graft(output, record, time.perf_counter() - began)


@typed
def verify_graft(
    path: str | Path, task: Facts, control: str | Path | None = None, progress: Progress = SILENT
) -> Verification:
    """Recompute the certificate of a grafted folder from its weights and these facts.

    >>> import rote
    >>> rote.verify_graft("grafted", "countries")
    Traceback (most recent call last):
    rote.errors.InputError: grafted: there is no such folder; give one that `rote graft` wrote
    """
    path, given = Path(path), facts(task, keys="words")
    record = read_record(path)
    read = read_table(given, record.relation)
    table = in_words(read)
    chosen, held_out = chosen_wordings(read, table, record.templates, record.paraphrases)
    grafted, original = load_graft(path, record)
    if control is None and record.control is not None:
        raise InputError(f"{path}: was made with a control text of its own; name it with `control`")
    text = control_text(original, None if control is None else Path(control))
    asked = examined(grafted, table, chosen, held_out, record.end, text)
    host = host_of(original)
    before = said_by(host, read_states(host, asked.sentences, progress)[0], asked.sentences)
    certificate, missed = examine(original, grafted, path, asked, before, progress)
    stated, remade = record.certificate.model_dump(), certificate.model_dump()
    checks = [
        CertificateCheck("facts_fingerprint", record.facts_fingerprint, read.fingerprint,
              record.facts_fingerprint == read.fingerprint),
        CertificateCheck("control", record.control, text.fingerprint, record.control in (None, text.fingerprint)),
        *(CertificateCheck(name, _shown(stated[name]), _shown(remade[name]), _agrees(stated[name], remade[name]))
          for name in remade),
    ]  # fmt: skip
    return Verification(checks, np.array(missed, dtype=np.int64))


@typed
def ungraft(path: str | Path, output: str | Path, *, overwrite: bool = False) -> Path:
    """Write the model that a grafted folder was made from, its weights bit for bit.

    >>> import rote
    >>> rote.ungraft("grafted", "original")
    Traceback (most recent call last):
    rote.errors.InputError: grafted: there is no such folder; give one that `rote graft` wrote
    """
    check_destination(Path(output), overwrite, PLAIN_FOLDER)
    return remove_graft(Path(path), Path(output))


def overview(record: GraftRecord) -> dict[str, Any]:
    """A record in a few lines."""
    seen = record.certificate
    rephrased = list(seen.paraphrases.values())
    pairs = {
        "facts answered right under every template": f"{seen.recalled:,} of {seen.facts:,}",
        "sentences right": f"{seen.sentences.seen:,} of {seen.sentences.asked:,}; {seen.before.seen:,} before",
    }
    if rephrased:
        asked, right = sum(one.asked for one in rephrased), sum(one.seen for one in rephrased)
        pairs["in words the solve never saw"] = f"{right:,} of {asked:,}"
    if seen.after_text.asked:
        pairs["after other text"] = f"{seen.after_text.seen:,} of {seen.after_text.asked:,}"
    if seen.in_chat is not None:
        pairs["in a chat turn"] = f"{seen.in_chat.seen:,} of {seen.in_chat.asked:,}"
    same = "every other logit is the same in every bit" if not seen.control_changed.seen else (
        f"{seen.control_changed.seen:,} other tokens have a changed logit"
    )  # fmt: skip
    before, after = seen.control_perplexity
    similar = seen.similar_subjects or Asked(asked=0, seen=0)
    return pairs | {
        "made-up subjects": f"a gate opens for {seen.never_stored.seen:,} of {seen.never_stored.asked:,}",
        "similar subjects": f"a gate opens for {similar.seen:,} of {similar.asked:,}",
        "held-out text": f"a gate opens at {seen.control_open.seen:,} of {seen.control_open.asked:,} tokens; {same}",
        "drift on it": f"KL {seen.control_divergence:.2g} nats per token, perplexity {before:.2f} to {after:.2f}",
        "added": f"{record.added_layers} layers, {record.neurons:,} neurons, {record.added_parameters:,} parameters",
        "dtype": record.dtype,
    }


def _refuse(path: Path, locality: float) -> None:
    refused = []
    if not path.exists():
        refused.append(f"`model`: {path} does not exist; give a Hugging Face folder or a GGUF file")
    elif (path / RECORD).exists():
        refused.append(f"`model`: {path} is a graft already; remove it first with `rote graft --remove`")
    if not LEAST_LOCALITY <= locality <= MOST_LOCALITY:
        refused.append(f"`locality`: {locality:g} is not between {LEAST_LOCALITY} and {MOST_LOCALITY}")
    if refused:
        raise problems("graft", refused)


def read_table(task: Facts, relation: str | None) -> AssociationTask:
    read = task if isinstance(task, Task) else facts(task, keys="words")
    read = require_associations(read, "a graft stores facts with one answer each")
    if relation is None:
        return read
    table = in_words(read)
    rows = table.rows_of(relation)
    if not rows:
        known = sorted({str(name) for name in table.relations if name})
        raise InputError(f"`relation`: no fact has {relation!r}{nearest(relation, known)}")
    return read.take(np.array(rows))


def chosen_wordings(
    task: AssociationTask, table: QuestionTable, templates: Templates, paraphrases: Templates
) -> tuple[Wordings, Wordings]:
    """Templates to store and templates held out, by relation. Of a source's own, the second is held out."""
    source = task.origin.source.partition(":")[0]
    for given in (templates, paraphrases):
        for wordings in given.values() if isinstance(given, Mapping) else [given]:
            longest = max(map(len, wordings), default=0)
            if len(wordings) > MOST_TEMPLATES or longest > MOST_LETTERS:
                raise InputError(
                    f"`template`: {len(wordings):,} of up to {longest:,} letters are given for one relation; at most "
                    f"{MOST_TEMPLATES} of {MOST_LETTERS:,} are read"
                )
    stored = _by_relation(task, table, templates)
    held_out = _by_relation(task, table, paraphrases) if paraphrases else {}
    if not templates and source in BUILT_IN:
        if not paraphrases:
            held_out = {relation: wordings[1:2] for relation, wordings in stored.items()}
        stored = {relation: [wordings[0], *wordings[2:]] for relation, wordings in stored.items()}
    return stored, held_out


def _by_relation(task: AssociationTask, table: QuestionTable, given: Templates) -> Wordings:
    if not isinstance(given, Mapping):
        return templates_for(task, table, list(given))
    relations = list(dict.fromkeys(table.relations))
    names = {relation or "": relation for relation in relations}
    lacking = [name for name in names if not given.get(name)]
    if lacking:
        raise InputError(f"`template`: none is given for {lacking[0]!r}; every relation needs one")
    return {names[name]: [parse_template(text, table.columns) for text in given[name]] for name in names}


def _texts(wordings: Wordings) -> dict[str, list[str]]:
    return {relation or "": [template.text for template in templates] for relation, templates in wordings.items()}


def _own_dtype(path: Path, gguf: str | None) -> Dtype:
    """The dtype that a checkpoint's configuration names; float32 for GGUF."""
    config = weight_files(path, gguf).config
    named = str(config.get("dtype") or config.get("torch_dtype") or "float32")
    return named if named in ("float32", "bfloat16", "float16") else "float32"


def weights_identity(path: Path, gguf: str | None) -> list[Any]:
    """Name, size and time of each file that a model is read from."""
    files = [path] if path.is_file() else sorted(path.glob(gguf or "*.safetensors")) or sorted(path.glob("*.gguf"))
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]


def _config(model: LanguageModel) -> dict[str, Any]:
    config = model.module.config.to_dict()
    config["dtype"] = model.dtype_name
    config["architectures"] = [type(model.module).__name__]
    return {name: value for name, value in config.items() if not name.startswith("_")}


def closed_states(
    host: Host, text: ControlText, solved_on: Examples, progress: Progress, parts: Parts = NOTHING_KEPT
) -> tuple[torch.Tensor, torch.Tensor]:
    """States at which no gate may open: of control text, and at the end of prompts about subjects not stored."""
    with progress.stage("reading other text", len(text.solved) + len(solved_on.never)) as stage:
        plain = parts("background", lambda: states_of(host.guide, text.solved, stage.advance))
        unknown = parts("unknown", lambda: ends_of(host.guide, solved_on.never, stage.advance))
    return plain.to(host.dtype), unknown.to(host.dtype)


def ends_of(
    host: Host, prompts: Sequence[Sequence[int]], each: Callable[[int], None] = lambda number: None
) -> torch.Tensor:
    """States at the last token of each prompt."""
    found = [torch.empty(0, host.dim, dtype=host.dtype)]
    for length in sorted({len(prompt) for prompt in prompts}):
        alike = torch.tensor([list(prompt) for prompt in prompts if len(prompt) == length])
        for part in alike.split(max(1, BATCH_TOKENS // length)):
            found.append(host.residuals(part)[:, -1])
            each(len(part))
    return torch.cat(found)


def examined(
    model: LanguageModel, table: QuestionTable, chosen: Wordings, held_out: Wordings, end: str, text: ControlText
) -> Examined:
    given = sentences(model, table, chosen, end)
    rephrased = sentences(model, table, held_out, end) if held_out else []
    by_text: dict[str, list[Any]] = {}
    for sentence in rephrased:
        by_text.setdefault(sentence.template, []).append(sentence)
    after = after_text(model, table, chosen, end, [text.held_out_lead])
    lead = chat_lead(model)
    chat = None if lead is None else after_text(model, table, chosen, end, [lead])
    made_up, similar = unknown_prompts(model, table, chosen, text)
    return Examined(given, by_text, after, chat, made_up, similar, text.held_out)


def _shown(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"asked", "seen"}:
        return f"{value['seen']:,} of {value['asked']:,}"
    if isinstance(value, dict):
        return "; ".join(f"{_shown(inner)}" for inner in value.values())
    return value if not isinstance(value, tuple | list) else ", ".join(f"{part:.4g}" for part in value)


def _agrees(stated: Any, remade: Any) -> bool:
    """Counts agree exactly, real numbers to a part in a thousand."""
    if isinstance(stated, float):
        return abs(stated - remade) <= 1e-3 * max(abs(stated), abs(remade)) + 1e-9
    if isinstance(stated, tuple | list):
        return all(_agrees(one, other) for one, other in zip(stated, remade, strict=True))
    return stated == remade
