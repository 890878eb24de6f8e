"""Templates: how a fact's key becomes a prompt whose next words are its answer.

A template names the key's columns in braces: `The capital of {country} is`. Tables whose first column says the
relation have templates per relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

from rote.errors import InputError, nearest, problems

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
    """A template that was parsed."""

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
