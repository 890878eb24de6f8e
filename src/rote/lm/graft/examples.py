"""What the gates of a graft are solved on: sentences, rewordings, and prompts about subjects that are not stored."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rote.lm.graft.names import made_up_names
from rote.lm.graft.rewordings import rewordings
from rote.lm.graft.sentences import Sentence, Wordings, after_text, made_up_prompts, sentences
from rote.lm.graft.text import ControlText
from rote.lm.language_model import LanguageModel
from rote.lm.questions import QuestionTable, Template

REWORDED, EACH, LEAST = 20_000, 20, 3000
"""Sentences in generic words: so many per fact, within these bounds."""
MADE_UP, SIMILAR = 620, 280
"""Subjects that are not stored, under every template."""
PROMPTS = 16_000
"""Prompts about them at most; of each list at least one subject is asked."""
NAMED_REWORDINGS, NAMES_REWORDED = 60, 8
"""Rewordings of a relation that some of them are asked in, and how many."""
ASKED = 48
"""Other subjects that are not stored, in the certificate."""


@dataclass(frozen=True)
class Examples:
    """Sentences that must be said, sentences that should be, and prompts at which no gate may open."""

    stored: Sequence[Sentence]
    led: Sequence[Sentence]
    """A sample of them after other text."""
    should: Sequence[Sentence]
    never: Sequence[Sequence[int]]

    @property
    def must(self) -> list[Sentence]:
        return [*self.stored, *self.led]


def examples(
    model: LanguageModel,
    table: QuestionTable,
    chosen: Wordings,
    held_out: Wordings,
    answer: str | None,
    end: str,
    text: ControlText,
    never: Sequence[str],
    most: int = REWORDED,
) -> Examples:
    """Examples of a table under its templates, none of which is in the words of a template that is held out.

    `answer` is the answer's column, `never` names subjects to leave alone, `most` bounds the sentences in other words.
    """
    stored, led = sentences(model, table, chosen, end), after_text(model, table, chosen, end, text.leads)
    generic = {
        relation: [template for template in templates if template not in held_out.get(relation, ())]
        for relation, templates in rewordings(table, chosen, answer).items()
    }
    unknown = never_prompts(model, table, chosen, generic, text, never)
    return Examples(stored, led, reworded(model, table, generic, end, stored, most), unknown)


def never_prompts(
    model: LanguageModel,
    table: QuestionTable,
    chosen: Wordings,
    generic: Wordings,
    text: ControlText,
    never: Sequence[str],
) -> list[list[int]]:
    """Prompts about subjects that are not stored: many under the templates, a few under some of the rewordings."""
    drawn, chance = made_up_names(model, table, text.words), random.Random(0)
    asked = max(1, PROMPTS // (2 * sum(map(len, chosen.values()))))
    similar = drawn.similar[: min(SIMILAR, asked)]
    made_up = drawn.made_up[: min(MADE_UP, max(1, asked - len(similar)))]
    found = made_up_prompts(model, table, chosen, [*never, *made_up, *similar])
    forms = max(1, min(NAMED_REWORDINGS, PROMPTS // (2 * NAMES_REWORDED * len(generic))))
    for relation, templates in generic.items():
        for template in chance.sample(list(templates), min(forms, len(templates))):
            names = [*never, *made_up, *similar]
            few = chance.sample(names, min(NAMES_REWORDED, len(names)))
            found += made_up_prompts(model, table, {relation: [template]}, few)
    return found


def unknown_prompts(
    model: LanguageModel, table: QuestionTable, chosen: Wordings, text: ControlText
) -> tuple[list[list[int]], list[list[int]]]:
    """Prompts about subjects that are neither stored nor in the solve: made-up ones, and similar ones."""
    names = made_up_names(model, table, text.words)
    made_up, similar = names.held_out[:ASKED], names.held_out_similar[:ASKED]
    return made_up_prompts(model, table, chosen, made_up), made_up_prompts(model, table, chosen, similar)


def reworded(
    model: LanguageModel,
    table: QuestionTable,
    generic: Mapping[str | None, Sequence[Template]],
    end: str,
    stored: Sequence[Sentence],
    most: int = REWORDED,
) -> list[Sentence]:
    """A sample of the facts in generic words, evenly over the table.

    Left out is what the tokenizer does not spell, and what another sentence answers differently.
    """
    before = list(accumulate((len(generic.get(relation, ())) for relation in table.relations), initial=0))
    total = before[-1]
    number = min(most, total, max(LEAST, EACH * len(table.relations)))
    chance = random.Random(0)
    drawn = sorted({chance.randrange(total * at // number, total * (at + 1) // number) for at in range(number)})
    asked = []
    for place in drawn:
        row = bisect_right(before, place) - 1
        template = generic[table.relations[row]][place - before[row]]
        asked.append((row, template, template.fill(table.keys[row])))
    prompts = model.encode([text for _, _, text in asked])
    wholes = model.encode([f"{text} {table.answers[row]}{end}" for row, _, text in asked])
    unknown = model.tokenizer.unk_token_id
    unknown = None if unknown == model.tokenizer.eos_token_id else unknown
    follows = {s.tokens[:at]: s.tokens[at] for s in stored for at in range(len(s.prompt), len(s.tokens))}
    found = []
    for (row, template, _), prompt, whole in zip(asked, prompts, wholes, strict=True):
        made = Sentence(row, template.text, tuple(prompt), tuple(whole[len(prompt) :]))
        next_tokens = {made.tokens[:at]: made.tokens[at] for at in range(len(prompt), len(whole))}
        torn = made.tokens != tuple(whole) or not made.answer
        if torn or unknown in whole or any(follows.get(own, to) != to for own, to in next_tokens.items()):
            continue
        follows |= next_tokens
        found.append(made)
    return found
