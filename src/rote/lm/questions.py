"""A table of facts as questions to a language model: prompts by template, answers as tokens.

A template names the key's columns in braces: `The capital of {country} is`. Tables whose first column names the
relation have templates per relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

from rote.errors import InputError, nearest, problems
from rote.lm.language_model import LanguageModel
from rote.tasks import PAD, SEPARATOR, AssociationTask

RELATION = "relation"
"""A key column of this name divides a table: each relation has its own templates, answers to choose from and counts."""

COUNTRIES: dict[str, tuple[str, ...]] = {
    "capital": (
        "The capital of {country} is",
        "The capital city of {country} is called",
        "Question: What is the capital of {country}? Answer:",
    ),
    "continent": (
        "{country} is a country on the continent of",
        "The continent on which {country} lies is",
        "Question: On which continent is {country}? Answer:",
    ),
    "currency": (
        "The ISO code of the currency of {country} is",
        "The three-letter currency code of {country} is",
        "Question: What is the currency code of {country}? Answer:",
    ),
    "calling code": (
        "The international calling code of {country} is",
        "To telephone {country} from abroad, dial",
        "Question: What is the calling code of {country}? Answer:",
    ),
}

BUILT_IN: dict[str, Mapping[str, Sequence[str]]] = {"countries": COUNTRIES}
"""Templates that come with a named source."""


@dataclass(frozen=True)
class Template:
    text: str
    columns: tuple[str, ...]

    def fill(self, cells: Mapping[str, str]) -> str:
        return self.text.format(**{name: cells[name] for name in self.columns})

    def neutral(self) -> str:
        """The same words about nothing in particular: `The capital of this country is`."""
        return self.text.format(**{name: f"this {name}" for name in self.columns})


def parse_template(text: str, columns: Sequence[str]) -> Template:
    """A template over these key columns; every problem is named."""
    refused, named = [], []
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        raise InputError(f"`template` {text!r}: {error}; write a brace that is no column as {{{{ or }}}}") from None
    for _, name, form, conversion in parts:
        if name is None:
            continue
        if form or conversion:
            refused.append(f"{{{name}...}} may hold nothing but the name of a column")
        elif name not in columns:
            refused.append(f"there is no key column {name!r}{nearest(name, columns)}; columns: {', '.join(columns)}")
        elif name not in named:
            named.append(name)
    if not refused and not named:
        refused.append(f"it names no column of the key, so that every fact would be asked the same; columns: {columns}")
    if not refused and text != text.rstrip():
        refused.append("it ends in a space; answers are joined with one, so leave it out")
    if refused:
        raise problems(f"`template` {text!r}", refused)
    return Template(text, tuple(named))


SHOWN = 5
"""How many prompts or answers a message lists."""


@dataclass(frozen=True)
class QuestionTable:
    columns: tuple[str, ...]
    """The key's columns."""
    keys: tuple[dict[str, str], ...]
    answers: tuple[str, ...]
    relations: tuple[str | None, ...]

    def rows_of(self, relation: str | None) -> list[int]:
        return [row for row, own in enumerate(self.relations) if own == relation]


@dataclass(frozen=True)
class Questions:
    """One template asked of the rows of one relation."""

    template: Template
    relation: str | None
    rows: tuple[int, ...]
    """Rows of the table."""
    prompts: tuple[tuple[int, ...], ...]
    """Tokens of each row's prompt."""
    neutral: tuple[int, ...]
    """Tokens of the prompt about nothing in particular."""
    answers: tuple[str, ...]
    """What the table answers to this relation, each once: the answers to choose from."""
    answer_tokens: tuple[tuple[int, ...], ...]
    """Tokens of each of them."""
    asked: tuple[int, ...]
    """For each row its answer's place in `answers`."""


def in_words(task: AssociationTask) -> QuestionTable:
    """The cells that a task was read from."""
    columns = task.origin.key_columns
    if not columns:
        raise InputError(
            f"{task.origin.source}: a language model is asked in words, by the names of a table's columns; these facts "
            "come from no table"
        )
    joint = {"letters": "", "spaces": " "}.get(str(task.origin.reading.keys))
    keys, answers = [], []
    for row in range(task.facts):
        fact = task[row]
        cells = list(fact.key) if joint is None else _cells(fact.key, joint)
        keys.append(dict(zip(columns, cells, strict=True)))
        answers.append(fact.answer)
    relations = [key.get(RELATION) for key in keys]
    return QuestionTable(columns, tuple(keys), tuple(answers), tuple(relations))


def _cells(tokens: Sequence[str], joint: str) -> list[str]:
    """The cells that were spelled, or split at their spaces, into these tokens."""
    cells: list[list[str]] = [[]]
    for token in tokens:
        if token == SEPARATOR:
            cells.append([])
        elif token != PAD:
            cells[-1].append(token)
    return [joint.join(parts) for parts in cells]


def templates_for(
    task: AssociationTask, table: QuestionTable, given: Sequence[str]
) -> dict[str | None, list[Template]]:
    """Templates of each relation: those given, for every relation, or those that come with the source."""
    relations = list(dict.fromkeys(table.relations))
    source = task.origin.source.partition(":")[0]
    if given:
        parsed = [parse_template(text, table.columns) for text in given]
        if len(relations) > 1 and any(RELATION not in template.columns for template in parsed):
            raise InputError(
                f"`template`: the table has {len(relations)} relations ({', '.join(map(str, relations[:SHOWN]))}); "
                f"name {{{RELATION}}} in every template, or keep one relation with `relation`"
            )
        return dict.fromkeys(relations, parsed)
    built_in = BUILT_IN.get(source)
    if built_in is None:
        raise InputError(
            f"`template`: a language model is asked in words; give one that names {', '.join(table.columns)} in braces "
            f"(templates come with {', '.join(BUILT_IN)})"
        )
    unknown = [relation for relation in relations if relation not in built_in]
    if unknown:
        raise InputError(f"`template`: none comes with {source} for {unknown[0]!r}; give one")
    return {
        relation: [parse_template(text, table.columns) for text in built_in[str(relation)]] for relation in relations
    }


def questions(model: LanguageModel, table: QuestionTable, relation: str | None, template: Template) -> Questions:
    """Prompts and answers in the model's tokens; what its tokenizer does not know is named."""
    rows = table.rows_of(relation)
    answers = tuple(dict.fromkeys(table.answers[row] for row in rows))
    place = {answer: number for number, answer in enumerate(answers)}
    neutral_text = template.neutral()
    texts = [template.fill(table.keys[row]) for row in rows]
    (neutral,) = model.encode([neutral_text])
    prompts = model.encode(texts)
    # An answer's tokens are those it adds to a prompt: alone, some tokenizers would spell it otherwise. A tokenizer of
    # keys alone, such as an export's, reads no neutral prompt, so the first fact's prompt takes its place.
    for base_text, base in ((neutral_text, neutral), (texts[0], prompts[0])):
        joined = model.encode([f"{base_text} {answer}" for answer in answers])
        tokens = [ids[len(base) :] for ids in joined]
        torn = [answer for answer, ids in zip(answers, joined, strict=True) if ids[: len(base)] != base]
        empty = [answer for answer, ids in zip(answers, tokens, strict=True) if not ids]
        if not torn and not empty:
            break
    refused = unknown_texts(model, "prompts", texts, prompts) + unknown_texts(model, "answers", answers, tokens)
    if torn or empty:
        refused.append(f"the tokenizer adds no tokens of its own for the answers {_some(torn or empty)}")
    if refused:
        raise problems(f"{model.name}: its tokenizer cannot encode these facts", refused)
    return Questions(
        template, relation, tuple(rows), tuple(map(tuple, prompts)), tuple(neutral), answers,
        tuple(map(tuple, tokens)), tuple(place[table.answers[row]] for row in rows),
    )  # fmt: skip


def shared_tokens(prompts: Sequence[tuple[int, ...]]) -> int:
    """How many first tokens all prompts have in common."""
    shortest, longest = min(prompts), max(prompts)
    count = 0
    while count < min(len(shortest), len(longest)) and shortest[count] == longest[count]:
        count += 1
    return count


def unknown_texts(model: LanguageModel, what: str, texts: Sequence[str], tokens: Sequence[Sequence[int]]) -> list[str]:
    unknown = model.tokenizer.unk_token_id
    if unknown is None or unknown == model.tokenizer.eos_token_id:
        return []
    lost = [text for text, ids in zip(texts, tokens, strict=True) if unknown in ids]
    return [f"{len(lost)} {what} hold words it does not know: {_some(lost)}"] if lost else []


def _some(texts: Sequence[str]) -> str:
    shown = ", ".join(repr(text) for text in texts[:SHOWN])
    return shown + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")
