"""Runtimes that come without a tokenizer: text is read with the list of tokens in `vocab.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.files import WORDS, read_json
from rote.tasks.spelling import Spelling

VOCABULARY = "vocab.json"


def write_vocabulary(folder: Path, subject: ExportSubject) -> None:
    text = json.dumps(list(subject.spelling.tokens), ensure_ascii=False, indent=0)
    (folder / VOCABULARY).write_text(text + "\n", encoding="utf-8")


class TabledRuntime(Runtime):
    """Reads keys by the folder's own list of tokens."""

    def __init__(self, folder: Path, spelling: Spelling) -> None:
        tokens = read_json(folder / VOCABULARY, WORDS)
        self._spelling = replace(spelling, tokens=tuple(tokens))
        self.vocab = len(tokens)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._spelling.ids(text) for text in texts]

    def words(self, tokens: Sequence[int]) -> list[str]:
        return [self._spelling.tokens[token] for token in tokens]
