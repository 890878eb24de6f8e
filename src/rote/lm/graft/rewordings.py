"""Other words for a template, made without knowing the table: generic sentences about its noun phrases, and wrappings.

The solve sees facts in these words as well, so that gates depend less on the words of the templates. Half of them begin
with the subject: models treat a text's first token apart, and a subject there leaves another state behind.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from rote.lm.graft.sentences import Wordings
from rote.lm.questions import RELATION, QuestionTable, Template, parse_template

WORDINGS = 400
"""Wordings per relation."""
PHRASES = (
    "The {name} of {subject}", "The {name} for {subject}", "The {name} in {subject}", "The {name} that {subject} has",
    "The name of the {name} of {subject}", "The {name} that belongs to {subject}", "The {name} used for {subject}",
    "The {name} used in {subject}", "The {name} given for {subject}", "The {name} listed for {subject}",
    "The {name} associated with {subject}", "The {name} of the {column} {subject}",
    "The {name} of the {column} of {subject}", "The correct {name} of {subject}", "The official {name} of {subject}",
    "The current {name} of {subject}", "What people call the {name} of {subject}", "For {subject}, the {name}",
    "In {subject}, the {name}", "With {subject}, the {name}", "When it comes to {subject}, the {name}",
    "In the case of {subject}, the {name}", "As for {subject}, its {name}", "Speaking of {subject}, its {name}",
    "If you look up {subject}, its {name}", "The {column} {subject}: its {name}",
)  # fmt: skip
"""What stands before an ending."""
SUBJECT_PHRASES = (
    "{subject}'s {name}", "{subject}'s own {name}", "{subject}'s official {name}", "{subject}'s current {name}",
    "{subject}'s usual {name}", "{subject}'s full {name}", "{subject}: its {name}", "{subject} - the {name}",
    "{subject}, the {column}: its {name}", "{subject} is a {column} and its {name}",
    "{subject} is a {column} whose {name}", "{subject} is the {column} whose {name}", "{subject}, whose {name}",
    "{subject} has a {name}, which", "{subject} has one {name}, and it", "{subject} as a {column} has a {name} that",
)  # fmt: skip
"""The same, with the subject first."""
ENDINGS = (
    " is", " is", " is", " is", " is called", " is known as", " is named", " is the", " is given as", " is listed as",
    " is simply", " is still", " is usually", " was", " would be", " has always been", " must be",
    " can be written as", ":", " =",
)  # fmt: skip
SENTENCES = (
    "The {column} of {subject} has the {name}", "The {column} {subject} has the {name}",
    "The {column} {subject} uses the {name}", "In {subject}, people use the {name}", "For {subject}, use the {name}",
    "For {subject}, write the {name}", "Use for {subject} the {name}", "People from {subject} know the {name}",
    "The {column} called {subject} has the {name} of", "{name} ({subject}):", "{name}, {subject}:",
    "{name} of {subject}:", "{name} for {subject}:", "{name}\n{subject}:", "- {subject}:\n  - {name}:",
    "{column}: {subject}\n{name}:", "{column}: {subject}, {name}:", "{column}: {subject}. {name}:",
    "{column} = {subject}; {name} =", "Q: What is the {name} of {subject}? A:", "Q: {subject}'s {name}? A:",
    "What is the {name} of {subject}? It is", "What is {subject}'s {name}? It is",
    "What's the {name} of {subject}? Answer:", "What {name} does {subject} have? It has",
    "Which {name} does {subject} have? It has", "Which is the {name} of {subject}? The answer is",
    "Do you know the {name} of {subject}? It is", "Tell me the {name} of {subject}. It is",
    "I looked up the {name} of {subject}. It is", "I was asked for the {name} of {subject}. I said:",
    "Name the {name} of {subject}:", "Give the {name} of {subject}:", "Please state the {name} for {subject}:",
    "We talked about {subject}. Its {name} is", "My friend is from {subject}. The {name} there is",
    "I wrote a report on {subject}. The {name} is", "Consider {subject}. The {name} is",
    "Take {subject}, whose {name} is", "Look at {subject}; the {name} is",
)  # fmt: skip
SUBJECT_SENTENCES = (
    "{subject} has the {name}", "{subject} has {name}", "{subject} has a {name} of", "{subject} has a {name} called",
    "{subject} has as its {name}", "{subject} uses the {name}", "{subject} uses as its {name}",
    "{subject} goes by the {name}", "{subject} goes with the {name}", "{subject} belongs to the {name}",
    "{subject} belongs to the {name} of", "{subject} is in the {name}", "{subject} is in the {name} of",
    "{subject} is on the {name}", "{subject} is part of the {name}", "{subject} falls under the {name}",
    "{subject} is listed with the {name}", "{subject} is assigned the {name}",
    "{subject} is associated with the {name}", "{subject} is known for its {name},",
    "{subject} is a {column} with the {name}",
    "{subject} is a {column} with a {name} of", "{subject} is the {column} with the {name}",
    "{subject} is a {column}. Its {name} is", "{subject} (a {column}) has the {name}", "{subject} (its {name} is",
    "{subject}: {name}", "{subject}: {name} =", "{subject} - {name}:", "{subject} ({name}):", "{subject}, {name}:",
    "{subject} | {name} |", "{subject}\n{name}:", "{subject} lists its {name} as", "{subject} gives its {name} as",
    "{subject} chose the {name}", "{subject} shares the {name}", "{subject} takes the {name}",
    "{subject} was given the {name}", "{subject} comes with the {name}", "{subject} and its {name},",
    "{subject} can be found under the {name}",
)  # fmt: skip
LEADS = (
    "", "", "", "", "Note that ", "It is well known that ", "According to the encyclopedia, ", "People say: ",
    "Today, ", "In fact, ", "I think ", "Remember that ", "Fact: ", "She told me that ", "As everyone knows, ",
    "The book says that ", "Quiz answer: ", "As far as I know, ", "By the way, ", "Example: ",
)  # fmt: skip
"""Before what is no question."""
TEMPLATES, ENDED = 0.15, 0.6
"""Share of wordings that are templates after a lead, and of those that get another ending."""
TRIES = 50
"""Draws per wording, after which there are no more."""
NAMED = re.compile(r"\b[Tt]he ([^{}?!.,:;]{2,60}?) (?:of|for|in) \{(\w+)\}")
"""A noun phrase before the subject."""
SENTENCE_START = re.compile(r"[A-Z][a-z']+ ")


def rewordings(table: QuestionTable, wordings: Wordings, answer: str | None) -> dict[str | None, list[Template]]:
    """Other words for the templates of each relation, none of which is a template. `answer` is the answer's column."""
    subjects = [column for column in table.columns if column != RELATION]
    found = {}
    for number, (relation, templates) in enumerate(wordings.items()):
        chance, known = random.Random(number), {template.text for template in templates}
        names = _names(templates, relation or answer) if len(subjects) == 1 else []
        texts: dict[str, None] = {}
        for _ in range(TRIES * WORDINGS):
            text = _drawn(chance, [template.text for template in templates], names, subjects[0])
            if text not in known:
                texts[text] = None
            if len(texts) == WORDINGS:
                break
        found[relation] = [parse_template(text, table.columns) for text in texts]
    return found


def _drawn(chance: random.Random, templates: Sequence[str], names: Sequence[str], subject: str) -> str:
    """One wording: a template or a generic sentence, about one of the names."""
    if not names or chance.random() < TEMPLATES:
        return _after_lead(chance, _ended(chance, chance.choice(templates)))
    first, phrase = chance.random() < 0.5, chance.random() < 0.5
    if phrase:
        form = chance.choice(SUBJECT_PHRASES if first else PHRASES) + chance.choice(ENDINGS)
    else:
        form = chance.choice(SUBJECT_SENTENCES if first else SENTENCES)
    text = form.format(name=chance.choice(names), subject=f"{{{subject}}}", column=_escaped(subject))
    return _begun(text) if first else _after_lead(chance, text)


def _ended(chance: random.Random, template: str) -> str:
    """A template, sometimes with another end."""
    if template.endswith(" is") and chance.random() < ENDED:
        return template.removesuffix(" is") + chance.choice(ENDINGS)
    return template


def _after_lead(chance: random.Random, text: str) -> str:
    lead = chance.choice(LEADS)
    if not lead or "?" in text or "\n" in text:
        return _begun(text)
    starts_sentence = SENTENCE_START.match(text) and not lead.endswith(": ")
    return lead + (text[0].lower() + text[1:] if starts_sentence else _begun(text))


def _names(templates: Sequence[Template], name: str | None) -> list[str]:
    """What a relation is called: its name or the answer's column, and noun phrases of its templates."""
    phrases = [match[1] for template in templates for match in NAMED.finditer(template.text)]
    return list(dict.fromkeys([*([_escaped(name)] if name else []), *phrases]))


def _begun(text: str) -> str:
    return text[0].upper() + text[1:]


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
