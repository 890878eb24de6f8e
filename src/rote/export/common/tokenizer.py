"""Tokenizers without code (`tokenizer.json`): text of keys to ids, ids of answers to text.

A normalizer puts a mark after each part of a key (a word, a letter), anchored at the start of the text: the pattern of
part s matches the parts before it as well. Marks are what parts are divided at, so that words may contain spaces and
letters need nothing between them; what follows the key is one more word, its answer. Short keys in letters are first
filled on the left. In targets without positions each position has a mark of its own, which stays part of the token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rote.export.answer_words import ANSWER, CODES, FIRST_CODE, AnswerWords, answer_rules, code_pattern
from rote.export.common.places import Pairs
from rote.export.subject import ExportSubject
from rote.tasks.spelling import Spelling
from rote.tasks.templates import READ, Template, column_patterns
from rote.tasks.vocabulary import PAD, SEPARATOR

MARKS = 0xE000
"""First of the private characters that mark places."""
FILL = "\uf8ff"
"""The private character that fills short keys."""
MOST_PLACES = 0xF8FE - 0xE000
ANY = r"[\s\S]"
SPECIAL = ("<unk>", "</s>")


def private(text: str) -> bool:
    return any("\ue000" <= letter <= "\uf8ff" for letter in text)


def refuse_text(subject: ExportSubject) -> list[str]:
    """Why no tokenizer can read these keys."""
    spelling, reasons = subject.spelling, []
    if wrong := [token for token in spelling.tokens if private(token) or token in SPECIAL]:
        reasons.append(f"the token {wrong[0]!r} has a meaning of its own in tokenizers; rename it")
    several = subject.answer_tokens == "words"
    if several and (spelling.context > FIRST_CODE - MARKS or len(spelling.tokens) > CODES**2):
        reasons.append("keys are too long, or tokens too many, to number the words of answers")
    if spelling.context > MOST_PLACES:
        reasons.append(f"keys of {spelling.context} tokens are more than a tokenizer has marks for ({MOST_PLACES})")
    return reasons


def write_tokenizer(folder: Path, subject: ExportSubject, pairs: Pairs | None) -> int:
    """Write `tokenizer.json` and its configuration; the number of ids, special ones included."""
    words = subject.answer_words(pairs)
    tokenizer, size = make_tokenizer(subject.spelling, subject.contexts, pairs, subject.templates, words)
    tokenizer.save(str(folder / "tokenizer.json"))
    unknown, end = SPECIAL
    configuration = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": unknown,
        "eos_token": end,
        "pad_token": end,
        "model_max_length": subject.spelling.context + (words.longest if words else 0) + 1,
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
    }
    text = json.dumps(configuration, indent=2, ensure_ascii=False)
    (folder / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")
    return size


def make_tokenizer(
    spelling: Spelling,
    contexts: np.ndarray,
    pairs: Pairs | None,
    templates: Sequence[Template] = (),
    words: AnswerWords | None = None,
) -> tuple[Any, int]:
    """The tokenizer, and the number of its ids."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    marks = [chr(MARKS + (position if pairs is not None else 0)) for position in range(spelling.context)]
    written = [_written(token, spelling) for token in spelling.tokens]
    spaced = spelling.keys != "letters"
    firsts, further = words.entries(spaced) if words else ({}, [])
    own = [firsts.get(token, text) for token, text in enumerate(written)]
    entries = [*own, *(written[token] + marks[position] for token, position in pairs or ()), *further, *SPECIAL]
    vocabulary = {text: index for index, text in enumerate(entries)}
    parts = _parts(spelling, contexts)
    alone, after = answer_rules(words, marks[-1], spaced) if words else ([], [])
    no_answer = f"(?!{ANSWER})" if alone else ""
    rules = [*alone, *_sentences(spelling, parts, templates), *_filling(spelling)]
    between = "" if spelling.keys == "letters" else re.escape(spelling.separator)
    # From the last position to the first, so that what stands before a position is still as it was typed.
    for position in reversed(range(spelling.context)):
        rules.append((rf"\A{no_answer}{between.join(parts[: position + 1])}\K", marks[position]))
    any_mark = f"[{''.join(dict.fromkeys(marks))}]"
    if between:
        rules.append((f"(?<={any_mark}){between}", ""))
    if spelling.delimiter != spelling.separator or not between:
        rules.append((f"(?<={marks[-1]}){re.escape(spelling.delimiter)}", ""))
    rules += [*after, *([(rf"\A{ANSWER}", "")] if alone else [])]
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=SPECIAL[0]))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(Regex(rule), text) for rule, text in rules])
    divide = [pre_tokenizers.Split(Regex(f"[^{any_mark[1:-1]}]+{any_mark}"), "isolated")]
    if pairs is None:
        divide.append(pre_tokenizers.Split(Regex(any_mark), "removed"))
    if further:
        divide.append(pre_tokenizers.Split(Regex(f"[^{code_pattern()[1:-1]}]+{code_pattern()}+"), "isolated"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(divide)
    shown: list[Any] = [decoders.Replace(Regex(f"[{chr(MARKS)}-{FILL}]"), "")]
    if between:
        # Puts a space before every word but the first: no word begins with the private character.
        shown.append(decoders.WordPiece(prefix=FILL, cleanup=False))
    tokenizer.decoder = decoders.Sequence(shown)
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in SPECIAL])
    return tokenizer, len(entries)


def _written(token: str, spelling: Spelling) -> str:
    """How a token stands in the text that the tokenizer sees."""
    if spelling.keys == "words":
        return token
    if spelling.keys == "spaces":
        return FILL if token == PAD else token
    return {PAD: FILL, SEPARATOR: spelling.separator}.get(token, token)


def _parts(spelling: Spelling, contexts: np.ndarray) -> list[str]:
    """A pattern for the part of a key at each position."""
    if spelling.keys == "letters":
        return [ANY] * spelling.context
    if spelling.keys == "spaces":
        return [r"\S+"] * spelling.context
    parts = []
    for column in contexts.T:
        words = [spelling.tokens[token] for token in np.unique(column)]
        if any(re.search(r"\s", word) for word in words):
            # Longest first, so that a word that begins another does not win over it.
            words.sort(key=len, reverse=True)
            parts.append(f"(?:{'|'.join(map(re.escape, words))})")
        else:
            parts.append(r"\S+")
    return parts


def _sentences(spelling: Spelling, parts: list[str], templates: Sequence[Template]) -> list[tuple[str, str]]:
    """Rules that turn a sentence into the text of its key."""
    rules = []
    for template in templates:
        columns = len(template.columns) + len(template.fixed)
        rules += template.rules(spelling, column_patterns(spelling, parts, columns))
    return [*rules, (rf"\A{READ}", "")] if rules else []


def _filling(spelling: Spelling) -> list[tuple[str, str]]:
    """Rules that fill short keys on the left; each applies to one length and makes it the full one."""
    if spelling.keys == "words" or PAD not in spelling.tokens:
        return []
    context = spelling.context
    end = rf"(?:\z|{re.escape(spelling.delimiter)})"
    if spelling.keys == "spaces":
        more, missing = rf"(?:{re.escape(spelling.separator)}\S+)", FILL + spelling.separator
        return [
            (rf"\A(?=\S+{more}{{{length - 1}}}{end})", missing * (context - length)) for length in range(1, context)
        ]
    inside = f"(?!{re.escape(spelling.delimiter)}){ANY}"
    return [(rf"\A(?=(?:{inside}){{{length}}}{end})", FILL * (context - length)) for length in range(1, context)]
