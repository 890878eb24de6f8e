"""Sentences that stand for keys: an exported tokenizer reads them as the key's own tokens.

`The {relation} of {country} is` names key columns in braces. A sentence about one value of a column says which:
`The {relation=capital} of {country} is`, or `People in {country} pay with the {relation=currency|money}` where the
sentence has other words for it. The model itself knows keys alone: the tokenizer's normalizer replaces what stands
around the words of the key, so that every sentence of a fact becomes the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rote.errors import InputError, nearest, problems
from rote.tasks.association import AssociationTask
from rote.tasks.spelling import Spelling
from rote.tasks.task import Task
from rote.tasks.vocabulary import PAD, SEPARATOR

HOLE = re.compile(r"\{([^{}=|]+)(?:=([^{}|]*)(?:\|([^{}]*))?)?\}")
READ = "\uf8fe"
"""The private character at the start of a text that a template has matched."""
ANY = r"[\s\S]"
MOST_TEMPLATES, MOST_LETTERS = 64, 4096
"""Templates of a table, and letters of one."""
MOST_SENTENCES = 2**27
"""Letters of the templates in all sentences of a table."""


@dataclass(frozen=True)
class Template:
    """A sentence with holes for the columns of a key, checked against the facts it is for."""

    text: str
    around: tuple[str, ...]
    """What stands before, between and after the columns that vary."""
    key: tuple[str, ...]
    """What stands there in the plain text of a key."""
    columns: tuple[int, ...]
    """Numbers of the columns that vary, in the order of the sentence."""
    fixed: tuple[tuple[int, str], ...]
    """Columns of one value, and the value."""

    def sentence(self, cells: Sequence[str]) -> str | None:
        """The sentence of a key; None if it is about another value of a fixed column."""
        if any(cells[column] != value for column, value in self.fixed):
            return None
        words = [cells[column] for column in self.columns]
        return self.around[0] + "".join(a + b for a, b in zip(words, self.around[1:], strict=True))

    def rules(self, spelling: Spelling, parts: Sequence[str]) -> list[tuple[str, str]]:
        """Patterns and what the tokenizer's normalizer puts in their place. `parts` match the words of each column."""
        end = rf"(?=\z|{re.escape(spelling.delimiter)})"
        patterns = [parts[column] for column in self.columns]
        rest = [re.escape(text) for text in self.around]

        def following(place: int) -> str:
            return "".join(pattern + text for pattern, text in zip(patterns[place:], rest[place + 1 :], strict=True))

        rules = [(rf"\A(?!{READ}){rest[0]}(?={following(0)}{end})", READ + self.key[0])]
        for place in range(1, len(self.around)):
            before = "".join(
                re.escape(text) + pattern for text, pattern in zip(self.key[:place], patterns[:place], strict=True)
            )
            rules.append((rf"\A{READ}{before}\K{rest[place]}(?={following(place)}{end})", self.key[place]))
        # A text that ends in nothing to replace needs no rule, and an empty pattern would match everywhere.
        return [rule for rule in rules if not rule[0].endswith(rf"\K(?={end})") or rule[1]]


def parsed_templates(texts: Sequence[str], task: AssociationTask, spelling: Spelling) -> tuple[Template, ...]:
    """Templates for the keys of these facts; every problem in one error."""
    _refuse_many(texts, task)
    names = task.origin.key_columns or tuple(f"key {number}" for number in range(1, task.context + 1))
    found, wrong = [], []
    for text in texts:
        try:
            found.append(_parsed(text, names, spelling))
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise problems("templates", wrong)
    _refuse_ambiguous(found, task, spelling)
    return tuple(found)


def _refuse_many(texts: Sequence[str], task: AssociationTask) -> None:
    """Templates that would take long to read as keys; a model folder from elsewhere may name any."""
    longest = max(map(len, texts), default=0)
    if len(texts) > MOST_TEMPLATES or longest > MOST_LETTERS:
        raise InputError(
            f"templates: {len(texts):,} of up to {longest:,} letters; at most {MOST_TEMPLATES} of {MOST_LETTERS:,} are "
            "read"
        )
    letters = sum(map(len, texts)) * task.facts
    if letters > MOST_SENTENCES:
        raise InputError(
            f"templates: {letters:,} letters in the sentences of {task.facts:,} facts, and at most {MOST_SENTENCES:,} "
            "are read; give fewer or shorter ones"
        )


def with_templates(task: Task, texts: Sequence[str]) -> Task:
    """The task with sentences that ask for its facts, checked against every one of them."""
    if not texts:
        return task
    if not isinstance(task, AssociationTask):
        raise InputError(f"templates ask for facts with one answer each, not for {task.kind}; leave them out")
    parsed_templates(texts, task, Spelling.of(task))
    return replace(task, origin=task.origin.model_copy(update={"templates": tuple(texts)}))


def _parsed(text: str, names: Sequence[str], spelling: Spelling) -> Template:
    between = spelling.separator
    literals, columns, values = [""], [], {}
    at = 0
    for hole in HOLE.finditer(text):
        name, value, shown = hole[1].strip(), hole[2], hole[3]
        if name not in names:
            raise InputError(f"{text!r}: there is no key column {name!r}{nearest(name, names)}; {_columns(names)}")
        number = names.index(name)
        if number in columns or number in values:
            raise InputError(f"{text!r}: names the column {name!r} twice; once is enough")
        literals[-1] += text[at : hole.start()]
        at = hole.end()
        if value is None:
            columns.append(number)
            literals.append("")
        else:
            values[number] = value.strip()
            literals[-1] += value.strip() if shown is None else shown
    literals[-1] += text[at:]
    missing = [name for number, name in enumerate(names) if number not in columns and number not in values]
    if missing:
        raise InputError(
            f"{text!r}: does not name the key column {missing[0]!r}; write {{{missing[0]}}}, or "
            f"{{{missing[0]}=VALUE}} in a sentence about one value of it"
        )
    if not columns:
        raise InputError(f"{text!r}: every column has one value, so that the sentence is about one fact alone")
    if columns != sorted(columns):
        raise InputError(
            f"{text!r}: columns must stand in the order of the key; {_columns(names)}. Give a column one value "
            f"({{{names[columns[1]]}=VALUE}}) to name it anywhere"
        )
    cells = [f"{values[number]}" if number in values else None for number in range(len(names))]
    key = [""]
    for number, cell in enumerate(cells):
        key[-1] += between if number else ""
        if cell is None:
            key.append("")
        else:
            key[-1] += cell
    return Template(text, tuple(literals), tuple(key), tuple(columns), tuple(sorted(values.items())))


def _columns(names: Sequence[str]) -> str:
    return f"the key columns are {', '.join(names)}"


def cells_of(task: AssociationTask, row: int) -> list[str]:
    """The cells of a key, as they stand in the table."""
    tokens = [token for token in task.vocabulary.words(task.contexts[row]) if token != PAD]
    if task.origin.reading.keys == "letters":
        return "".join("\0" if token == SEPARATOR else token for token in tokens).split("\0")
    return [" ".join(tokens)] if task.origin.reading.keys == "spaces" else tokens


def sentences(templates: Sequence[Template], task: AssociationTask) -> list[tuple[int, str]]:
    """Every sentence of every template, with the row of its fact."""
    cells = [cells_of(task, row) for row in range(task.facts)]
    said = ((row, template.sentence(key)) for template in templates for row, key in enumerate(cells))
    return [(row, text) for row, text in said if text is not None]


def _refuse_ambiguous(templates: Sequence[Template], task: AssociationTask, spelling: Spelling) -> None:
    """Sentences that stand for two keys, and templates that no fact has a sentence of."""
    seen: dict[str, int] = {}
    for row, text in sentences(templates, task):
        other = seen.setdefault(text, row)
        if (task.contexts[other] != task.contexts[row]).any():
            keys = [spelling.text(task.contexts[each].tolist()) for each in (other, row)]
            raise InputError(
                f"templates: {text!r} stands for the keys {keys[0]!r} and {keys[1]!r}; name what tells them apart"
            )
    for template in templates:
        if not sentences([template], task):
            value = template.fixed[0][1]
            raise InputError(f"templates: {template.text!r}: no key has the value {value!r}; check its spelling")


def column_patterns(spelling: Spelling, parts: Sequence[str], columns: int) -> list[str]:
    """Patterns that match the words of each column: those of positions where a cell is one token."""
    return list(parts) if spelling.keys == "words" else [rf"{ANY}+?"] * columns
