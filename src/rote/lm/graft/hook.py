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
from rote.folders.destination import FolderKind, check_destination, written_aside
from rote.folders.folder import read_folder
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
"""Columns in one template."""


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
        looked = EndOfText(text)
        for relation, templates in self.record.templates.items():
            for template in templates:
                for found in looked.prompts(template):
                    token = self._continued(relation, found, recent)
                    if token is not None:
                        return token
        return None

    def _continued(self, relation: str, found: FoundPrompt, recent: list[int]) -> int | None:
        cells, said = dict(found.cells), found.said
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
        prompt = found.prompt
        asked, full = (self._encode(text) for text in (prompt, prompt + whole))
        told = full[len(asked) :]
        for count in range(len(told)):
            tail = full[: len(asked) + count]
            # The first token may have a space before it inside a longer text.
            read = recent[-len(tail) :] == tail or recent[1 - len(tail) :] == tail[1:]
            if read and self.tokenizer.decode(tail).strip() == (prompt + said).strip():
                return told[count]
        return None

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]


@dataclass(frozen=True)
class FoundPrompt:
    """A prompt at the end of a text."""

    prompt: str
    cells: Mapping[str, str]
    """Subjects by column, of up to `LONGEST` letters each."""
    said: str
    """What follows the prompt: the beginning of an answer."""


class EndOfText:
    """The end of a text, in which prompts are looked for.

    Sets of places are whole numbers with a bit per letter. From the end of a template to its start, the places from
    which the rest of it fits are computed in `LONGEST` steps per column, so that no template takes long to find.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._in_line = sum(1 << place for place, letter in enumerate(text) if letter != "\n")
        ends = 1 << len(text) | (1 << len(text) - 1 if text.endswith("\n") else 0)
        # What was said may be empty.
        self._said = ends | self._before(ends)
        self._places: dict[str, int] = {}

    def _before(self, places: int) -> int:
        """Places from which one of these is 1 to `LONGEST` letters of a line away."""
        reached = 0
        for _ in range(LONGEST):
            reached = (reached | places) >> 1 & self._in_line
        return reached

    def _at(self, part: str) -> int:
        """Places at which a text without columns begins."""
        found = self._places.get(part)
        if found is None:
            found, place = 0, self.text.find(part)
            while place >= 0 and part:
                found |= 1 << place
                place = self.text.find(part, place + 1)
            self._places[part] = found
        return found

    def prompts(self, template: str) -> list[FoundPrompt]:
        """Where a template fits to the end of the text: from its last place, then from its first; columns are as short
        as they can be from there."""
        parts = _parts(template)
        fits = self._said
        rest = [fits]
        for number in reversed(range(len(parts))):
            part = parts[number]
            if number % 2:
                fits = self._before(fits)
            elif part:
                fits = self._at(part) & fits >> len(part)
            if not fits:
                return []
            rest.append(fits)
        rest.reverse()
        first, last = _lowest(fits), fits.bit_length() - 1
        return [self._prompt(parts, rest, start) for start in dict.fromkeys((last, first))]

    def _prompt(self, parts: Sequence[str], rest: Sequence[int], start: int) -> FoundPrompt:
        """The prompt that begins at a place; `rest` has the places from which each part and those after it fit."""
        place = start
        cells: dict[str, str] = {}
        for number, part in enumerate(parts):
            if number % 2:
                # The nearest place from which the rest fits.
                end = place + 1 + _lowest(rest[number + 1] >> place + 1)
                cells[part] = self.text[place:end]
                place = end
            else:
                place += len(part)
        said = self.text[place:].removesuffix("\n")
        return FoundPrompt(self.text[start:place], cells, said)


def _lowest(places: int) -> int:
    return (places & -places).bit_length() - 1


@lru_cache(maxsize=MOST_TEMPLATES)
def _parts(template: str) -> tuple[str, ...]:
    """What stands before, between and after the columns of a template, and their names."""
    return tuple(re.split(r"\{(\w+)\}", template))


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
            parse_template(text, record.columns)
            named = _parts(text)[1::2]
            if len(named) > MOST_COLUMNS:
                raise InputError(
                    f"{where}: {text[:60]!r} has {len(named)} columns; a hook finds at most {MOST_COLUMNS}"
                )
            if len(set(named)) < len(named):
                raise InputError(f"{where}: {text[:60]!r} names a column twice; a hook finds each of them once")


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
    return FactHook(read_folder(folder / MODEL, below=folder).model, record, tokenizer)
