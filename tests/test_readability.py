"""The pages that most people read have short sentences: fewer than 20 words on average."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_READ = (
    "README.md",
    "docs/index.md",
    "docs/get_started.md",
    "docs/faq.md",
    "docs/tutorials/your_table.md",
    "docs/tables.md",
    "docs/interoperability.md",
    "docs/editing.md",
    "docs/language_models.md",
    "docs/concepts/storing_a_fact.md",
    "docs/findings.md",
    "docs/limits.md",
)


def sentences(page: str) -> list[str]:
    """The sentences of a page's paragraphs and lists; code, tables, headings and pictures are no sentences."""
    text = re.sub(r"\A---\n.*?^---\n", "", page, flags=re.S | re.M)
    text = re.sub(r"^```.*?^```", "\n", text, flags=re.S | re.M)
    text = re.sub(r"^(    |#|\||!\[|\*\[).*$", "\n", text, flags=re.M)
    text = re.sub(r"^[-*] |^\d+\. ", "\n\n", text, flags=re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", text))
    found = [part for paragraph in re.split(r"\n\s*\n", text) for part in re.split(r"(?<=[.!?])[*_)\"]*\s", paragraph)]
    return [part for part in found if len(part.split()) > 1]


@pytest.mark.parametrize("name", MOST_READ)
def test_sentences_are_short(name):
    counts = [len(sentence.split()) for sentence in sentences((ROOT / name).read_text(encoding="utf-8"))]
    assert sum(counts) / len(counts) < 20, sorted(counts)[-5:]


def test_what_a_sentence_is():
    page = (
        "# A heading\n\nOne two: three; four. Five `a b c` six!\n\n```\nno sentence\n```\n\n- A list item\n| a | b |\n"
    )
    assert sentences(page) == ["One two: three; four.", "Five code six!", "A list item"]
