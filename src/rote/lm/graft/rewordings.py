"""Other words for a template, made without knowing the table: generic sentences about its noun phrases, and wrappings.

The solve sees some facts in these words as well, so that gates depend less on the words of the templates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rote.lm.graft.sentences import Wordings
from rote.lm.questions import RELATION, QuestionTable, Template, parse_template

ABOUT = (
    "The {name} of {subject} is",
    "{subject}'s {name} is",
    "The name of the {name} of {subject} is",
    "The {name} for {subject} is",
    "For {subject}, the {name} is",
    "The {name} of the {column} {subject} is",
    "Q: What is the {name} of {subject}? A:",
    "What is the {name} of {subject}? It is",
    "What {name} does {subject} have? It has",
    "I looked up the {name} of {subject}. It is",
    "{name} of {subject}:",
    "{column}: {subject}\n{name}:",
    "{subject} has the {name}",
    "When it comes to {subject}, the {name} is",
    "The {name} in {subject} is called",
    "The {name} that belongs to {subject} is",
)
"""Of each noun phrase that stands for a relation: its name, and what the templates call it."""
AROUND = (
    "Note that {template}",
    "It is well known that {template}",
    "According to the encyclopedia, {template}",
    "People say: {template}",
    "Today, {template}",
)
"""Before a template that is no question."""
ENDINGS = {" is": (" indeed", " still", " simply", " known to be"), "": (":",)}
"""After a template that ends so."""
NAMED = re.compile(r"\b[Tt]he ([^{}?!.,:;]{2,60}?) (?:of|for|in) \{(\w+)\}")
"""A noun phrase before the subject."""
SENTENCE_START = re.compile(r"[A-Z][a-z]* ")


def rewordings(table: QuestionTable, wordings: Wordings, answer: str | None) -> dict[str | None, list[Template]]:
    """Other words for the templates of each relation, none of which is a template. `answer` is the answer's column."""
    subjects = [column for column in table.columns if column != RELATION]
    found = {}
    for relation, templates in wordings.items():
        texts = [text for template in templates for text in _around(template.text)]
        if len(subjects) == 1:
            cells = {"subject": f"{{{subjects[0]}}}", "column": _escaped(subjects[0])}
            texts += [_begun(form.format(name=name, **cells)) for name in _names(templates, relation or answer)
                      for form in ABOUT]  # fmt: skip
        known = {template.text for template in templates}
        found[relation] = [parse_template(text, table.columns) for text in dict.fromkeys(texts) if text not in known]
    return found


def _around(text: str) -> list[str]:
    """A template in wrappings, and with other ends."""
    found = [
        text + more for end, added in ENDINGS.items() if text.endswith(end) and text[-1].isalnum() for more in added
    ]
    if "?" in text or "\n" in text:
        return found
    begun = text[0].lower() + text[1:] if SENTENCE_START.match(text) else text
    return [*found, *(form.format(template=begun) for form in AROUND)]


def _names(templates: Sequence[Template], name: str | None) -> list[str]:
    """What a relation is called: its name or the answer's column, and noun phrases of its templates."""
    phrases = [match[1] for template in templates for match in NAMED.finditer(template.text)]
    return list(dict.fromkeys([*([_escaped(name)] if name else []), *phrases]))


def _begun(text: str) -> str:
    return text[0].upper() + text[1:]


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
