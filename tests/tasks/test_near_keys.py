"""The stored key that someone may have meant."""

from __future__ import annotations

import pytest

import rote
from rote.tasks.key_reader import KeyReader
from rote.tasks.near_keys import near_key

QUESTIONS = {"How can I pay?": "by card", "Where is the 'Blue Room'?": "upstairs", "WHERE is it?": "here"}
PARTS = {"00007": "Hall A", "00012": "Yard", "00123": "Hall B"}
CODES = {"JFK": "New York", "Lax": "Los Angeles", "cdg": "Paris"}


@pytest.mark.parametrize(
    ("facts", "keys", "asked", "meant"),
    [
        (QUESTIONS, "spaces", "how can i pay", "How can I pay?"),
        (QUESTIONS, "spaces", "where is the blue room", "Where is the 'Blue Room'?"),
        (QUESTIONS, "spaces", "where IS it", "WHERE is it?"),
        (QUESTIONS, "spaces", "how can you pay", None),
        (QUESTIONS, "spaces", "", None),
        (QUESTIONS, "words", "how can i pay", "How can I pay?"),
        (CODES, "letters", "jfk", "JFK"),
        (CODES, "letters", "(LAX)", "Lax"),
        (CODES, "letters", "CDG.", "cdg"),
        (CODES, "letters", "ham", None),
        (PARTS, "letters", "7", "00007"),
        (PARTS, "letters", "012", "00012"),
        (PARTS, "letters", "13", None),
    ],
)
def test_case_punctuation_and_leading_zeros_are_looked_past(facts, keys, asked, meant):
    reader = KeyReader.of(rote.facts(facts, keys=keys))
    assert near_key(reader, (asked,)) == (None if meant is None else (meant,))


def test_a_model_without_a_key_set_suggests_nothing():
    task = rote.facts(CODES, keys="letters")
    assert near_key(KeyReader.of(task, keep_keys=False), ("jfk",)) is None
    assert near_key(KeyReader.of(task), ("j", "fk")) is None
