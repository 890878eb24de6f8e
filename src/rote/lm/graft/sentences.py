"""Facts as token sequences: a prompt by template, the answer, and what ends it; also made-up subjects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rote.errors import InputError, problems
from rote.lm.language_model import LanguageModel
from rote.lm.questions import QuestionTable, Template, unknown_texts

SAMPLE = 160
"""Sentences that are asked after other text."""


@dataclass(frozen=True)
class Sentence:
    """One fact in one wording, as tokens."""

    fact: int
    template: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    """The answer's tokens and those of the end mark."""

    @property
    def tokens(self) -> tuple[int, ...]:
        return self.prompt + self.answer


Wordings = Mapping[str | None, Sequence[Template]]


def sentences(
    model: LanguageModel, table: QuestionTable, wordings: Wordings, end: str, before: Sequence[str] = ("",)
) -> list[Sentence]:
    """Every fact under every template of its relation, after each of the texts `before`."""
    asked = [
        (row, template, lead + template.fill(table.keys[row]))
        for lead in before
        for row, relation in enumerate(table.relations)
        for template in wordings.get(relation, ())
    ]
    full = [f"{text} {table.answers[row]}{end}" for row, _, text in asked]
    prompts, wholes = model.encode([text for _, _, text in asked]), model.encode(full)
    refused = unknown_texts(model, "facts", full, wholes)
    torn = [
        text for text, prompt, whole in zip(full, prompts, wholes, strict=True)
        if whole[: len(prompt)] != prompt or len(whole) == len(prompt)
    ]  # fmt: skip
    if torn and not refused:
        refused.append(
            f"{len(torn)} answers get no tokens of their own after their prompt, for example {torn[0]!r}; end the "
            "template in a whole word"
        )
    if refused:
        raise problems(f"{model.name}: its tokenizer cannot spell these facts", refused)
    made = [
        Sentence(row, template.text, tuple(prompt), tuple(whole[len(prompt) :]))
        for (row, template, _), prompt, whole in zip(asked, prompts, wholes, strict=True)
    ]
    _refuse_contradictions(model, table, made)
    return made


def after_text(
    model: LanguageModel, table: QuestionTable, wordings: Wordings, end: str, leads: Sequence[str]
) -> list[Sentence]:
    """A sample of the sentences, evenly spaced, after each of the leads that the tokenizer can spell."""
    unknown = model.tokenizer.unk_token_id
    if unknown is not None and unknown != model.tokenizer.eos_token_id:
        leads = [lead for lead, ids in zip(leads, model.encode(list(leads)), strict=True) if unknown not in ids]
    found = []
    for lead in leads:
        asked = sentences(model, table, wordings, end, [lead])
        found += asked[:: max(1, math.ceil(len(asked) / SAMPLE))]
    return found


def _refuse_contradictions(model: LanguageModel, table: QuestionTable, made: Sequence[Sentence]) -> None:
    """The same tokens cannot be followed by two different ones."""
    follows: dict[tuple[int, ...], Sentence] = {}
    for sentence in made:
        for place, token in enumerate(sentence.answer):
            first = follows.setdefault(sentence.prompt + sentence.answer[:place], sentence)
            if first.answer[place] != token:
                text = model.decode(list(sentence.prompt))
                raise InputError(
                    f"`facts`: {text!r} is answered both {table.answers[first.fact]!r} and "
                    f"{table.answers[sentence.fact]!r}; keep one answer per prompt"
                )


def made_up_prompts(
    model: LanguageModel, table: QuestionTable, wordings: Wordings, names: Sequence[str]
) -> list[list[int]]:
    """The same words about subjects that are not in the table."""
    stored = {cell for key in table.keys for cell in key.values()}
    names = [name for name in dict.fromkeys(names) if name not in stored]
    prompts = []
    for relation, templates in wordings.items():
        some = next(row for row, own in enumerate(table.relations) if own == relation)
        for template in templates:
            for name in names:
                cells = dict.fromkeys(template.columns, name)
                if relation is not None:
                    cells["relation"] = table.keys[some]["relation"]
                prompts.append(template.fill(table.keys[some] | cells))
    known = {template.fill(key) for key in table.keys for templates in wordings.values() for template in templates}
    return model.encode([prompt for prompt in prompts if prompt not in known])
