"""`rote.graft_hook`: a table beside a language model, asked while it generates.

A model that `rote.build` made holds the facts. A logits processor reads the text that was generated so far. Where it
ends in a stored prompt, or in one and the beginning of its answer, the next token of the answer gets the largest logit.
Every other row of logits is returned as it came, bit for bit. The language model's weights are not touched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from rote.arguments import typed
from rote.constructions.build import build
from rote.errors import InputError, details_of, problems, validation_problems
from rote.files import held
from rote.folders import load
from rote.folders.destination import FolderKind, check_destination, written_aside
from rote.lm.graft.graft import Templates, chosen_wordings, read_table
from rote.lm.graft.record import MOST_LETTERS
from rote.lm.questions import in_words, parse_template
from rote.progress import SILENT, Progress
from rote.tasks.facts import Facts

RECORD, MODEL = "hook.json", "facts"
HOOK_FOLDER = FolderKind("a hook", (RECORD,))
FORMAT = 1
TOKENS_READ = 128
"""Tokens at the end of a text in which a prompt is looked for."""
LONGEST = 100
"""Characters of a subject, and of an answer so far."""
MARGIN = 10.0
"""Logits by which an answer's token leads."""
MOST_TEMPLATES = 1000
MOST_COLUMNS = 3
"""Columns in one template: the time to find a prompt grows with a power of them."""


class HookRecord(BaseModel):
    """`hook.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    columns: list[str] = Field(max_length=64)
    templates: dict[str, list[str]] = Field(max_length=MOST_TEMPLATES)
    """By relation; the empty name where the table has none."""
    end: str = Field(max_length=LONGEST)


@dataclass(frozen=True)
class FactHook:
    """A logits processor for `generate(..., logits_processor=[hook])` of transformers."""

    model: Any
    record: HookRecord
    tokenizer: Any

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        forced = [(row, self.next_token(ids)) for row, ids in enumerate(input_ids.tolist())]
        forced = [(row, token) for row, token in forced if token is not None]
        if not forced:
            return scores
        changed = scores.clone()
        for row, token in forced:
            changed[row, token] = scores[row].max() + MARGIN
        return changed

    def next_token(self, ids: Sequence[int]) -> int | None:
        """The answer's next token after these; None where the text ends in no stored prompt."""
        recent = list(ids[-TOKENS_READ:])
        text = self.tokenizer.decode(recent, skip_special_tokens=True)
        for relation, patterns in self._patterns().items():
            for pattern in patterns:
                # The last match: a prompt may follow another one in the same text.
                for found in reversed(list(pattern.finditer(text))):
                    token = self._continued(relation, found, recent)
                    if token is not None:
                        return token
        return None

    def _patterns(self) -> Mapping[str, list[re.Pattern[str]]]:
        return {name: [_pattern(text) for text in texts] for name, texts in self.record.templates.items()}

    def _continued(self, relation: str, found: re.Match[str], recent: list[int]) -> int | None:
        cells = found.groupdict()
        said = cells.pop("rote_said")
        if relation:
            cells["relation"] = relation
        if set(cells) != set(self.record.columns):
            return None
        answer = self.model.ask(*(cells[name] for name in self.record.columns), runners_up=1)
        if answer.answer is None:
            return None
        whole = f" {answer.answer}{self.record.end}"
        if not whole.startswith(said) or said == whole:
            return None
        prompt = found.group(0)[: len(found.group(0)) - len(said)]
        asked, full = (self._encode(text) for text in (prompt, prompt + whole))
        told = full[len(asked) :]
        for count in range(len(told)):
            tail = full[: len(asked) + count]
            # The first token may have a space before it inside a longer text.
            read = recent[-len(tail) :] == tail or recent[1 - len(tail) :] == tail[1:]
            if read and self.tokenizer.decode(tail).strip() == found.group(0).strip():
                return told[count]
        return None

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]


@lru_cache(maxsize=MOST_TEMPLATES)
def _pattern(template: str) -> re.Pattern[str]:
    """A template, the subject of up to `LONGEST` letters, and what was said of the answer, at the end of a text."""
    parts = re.split(r"\{(\w+)\}", template)
    seen: set[str] = set()
    pattern = ""
    for number, part in enumerate(parts):
        if number % 2 == 0:
            pattern += re.escape(part)
        elif part in seen:
            pattern += f"(?P={part})"
        else:
            seen.add(part)
            pattern += rf"(?P<{part}>[^\n]{{1,{LONGEST}}}?)"
    return re.compile(rf"{pattern}(?P<rote_said>[^\n]{{0,{LONGEST}}})$")


@typed
def graft_hook(
    task: Facts,
    templates: Templates = (),
    *,
    output: str | Path,
    relation: str | None = None,
    end: str = ".",
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Path:
    """Build a model of facts and write it as a hook: a folder that `rote.load_hook` reads.

    >>> import rote, tempfile
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
    >>> rote.graft_hook(capitals, output=tempfile.mkdtemp() + "/hook")
    Traceback (most recent call last):
    rote.errors.InputError: {...}: a language model is asked in words, by the names of a table's columns; these facts come from no table
    """  # noqa: E501
    folder = Path(output)
    check_destination(folder, overwrite, HOOK_FOLDER)
    read = read_table(task, relation)
    table = in_words(read)
    chosen, _ = chosen_wordings(read, table, templates, ())
    built = build(read, progress=progress)
    record = HookRecord(
        format=FORMAT, columns=list(table.columns), end=end,
        templates={name or "": [template.text for template in texts] for name, texts in chosen.items()},
    )  # fmt: skip
    refuse_slow(record, "`template`")
    with written_aside(folder) as aside:
        built.save(aside / MODEL)
        (aside / RECORD).write_text(record.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return folder


def refuse_slow(record: HookRecord, where: str) -> None:
    """Refuse templates that are none, and those that would take long to find in a text."""
    for texts in record.templates.values():
        for text in texts:
            if len(text) > MOST_LETTERS:
                raise InputError(f"{where}: one has {len(text):,} letters; at most {MOST_LETTERS:,} are read")
            found = len(re.findall(r"\{\w+\}", text))
            parse_template(text, record.columns)
            try:
                _pattern(text)
            except re.error as error:
                raise InputError(f"{where}: {text[:60]!r} cannot be looked for in a text ({error})") from None
            if found > MOST_COLUMNS:
                raise InputError(f"{where}: {text[:60]!r} has {found} columns; a hook finds at most {MOST_COLUMNS}")


@typed
def load_hook(path: str | Path, tokenizer: Any) -> FactHook:
    """A hook from its folder, for a language model with this tokenizer.

    >>> import rote
    >>> rote.load_hook("hook", None)
    Traceback (most recent call last):
    rote.errors.InputError: hook: there is no such folder; give one that `rote.graft_hook` wrote
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; give one that `rote.graft_hook` wrote")
    with held(folder) as opened:
        if not opened.has(RECORD):
            raise InputError(f"{folder}: is no hook, {RECORD} is missing; give a folder that `rote.graft_hook` wrote")
        content = opened.json(RECORD)
    where = str(folder / RECORD)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{where}: format is not {FORMAT}; written by another version, or not by rote")
    try:
        record = HookRecord(**content)
    except ValidationError as error:
        wrong = validation_problems(details_of(error), HookRecord.model_fields, options=False)
        raise problems(f"{where}: not as rote writes it", wrong) from None
    if sum(map(len, record.templates.values())) > MOST_TEMPLATES:
        raise InputError(f"{where}: has more than {MOST_TEMPLATES} templates; rote did not write this")
    refuse_slow(record, where)
    return FactHook(load(folder / MODEL).model, record, tokenizer)
