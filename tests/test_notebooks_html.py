"""Results in a notebook: HTML of tables alone, whatever the words in them are."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import rote
from hostile.strangers import WORDS
from hostile.watch import UNSEEN

SHOWN = {"table", "caption", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    """Everything but plain tags of tables."""

    def __init__(self) -> None:
        super().__init__()
        self.others: list[object] = []

    def handle_starttag(self, tag, attrs):
        if tag not in SHOWN or any(name != "style" for name, _ in attrs):
            self.others.append((tag, attrs))

    def handle_comment(self, data):
        self.others.append(data)

    def handle_decl(self, decl):
        self.others.append(decl)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[str, object]:
    """One object of each kind that shows itself, of facts whose words mean harm."""
    words = [word for word in WORDS if word.strip() and "\x00" not in word and "\n" not in word and len(word) < 1000]
    task = rote.facts({(word, f"k{number}"): words[-number - 1] for number, word in enumerate(words)})
    built = rote.build(task)
    built.save(path := tmp_path_factory.mktemp("x") / "<b>\x1b[2J")
    edited = rote.edit(built, {(words[0], "k0"): words[1]}, task)
    return {
        "facts": task, "built": built, "model": built.model, "folder": rote.load(path), "edited": edited,
        "verified": rote.verify(path, task), "difference": rote.diff(built, edited, task),
        "layer": rote.build(task, "rote.memory_layer"),
    }  # fmt: skip


NAMES = ("facts", "built", "model", "folder", "edited", "verified", "difference", "layer")


@pytest.mark.parametrize("name", NAMES)
def test_words_begin_no_tag_and_move_no_cursor(results, name):
    shown = results[name]
    tags = Tags()
    tags.feed(html := shown._repr_html_())
    tags.close()
    assert tags.others == []
    assert UNSEEN.search(html) is None
    assert UNSEEN.search(repr(shown)) is None
