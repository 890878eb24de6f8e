"""Configurations and tokenizers of a stranger's language model, counted before a library reads them.

A library makes an object for each token, label or setting that a file names, and some of that work grows with the
square of their number. Here the text is counted first: what no model has is rejected before anything is made of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.files import JSON, WORDS, FileKind, read_regular, refuse_many

CONFIGS = (
    "config.json", "generation_config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "processor_config.json", "preprocessor_config.json", "chat_template.json",
)  # fmt: skip
"""Settings, which name few things."""
ADDED, DECODER = "added_tokens.json", "added_tokens_decoder"
VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt", "merges.txt")
PIECES = (".model", ".tiktoken")
MOST_PIECES = 8
"""Files of tokens in one folder."""
MOST_SETTINGS = 2**13
"""Values in one list or object of a configuration."""
MOST_IN_ALL = 2**16
MOST_ADDED, ADDED_FIELDS = 2**15, 16
"""Tokens that are added to a vocabulary, and fields of one: models of sound have nearly thirty thousand."""
FEW_TOKENS = 2**17
"""Tokens that any vocabulary may have, and one more for so many bytes of weights."""
BYTES_PER_TOKEN = 16
MOST_ID = 2**24
"""Numbers that tokens may have: a library makes a list as long as the largest."""
MERGES_PER_TOKEN = 4
VALUES_PER_TOKEN = 2 + 2 * MERGES_PER_TOKEN
MOST_SQUARES = 2**28
"""Sum of the squared lengths of tokens: a library tries every way to divide one in two. Gemma 3 has 2^26."""
MOST_SPECIAL = 2**13
"""Pieces of a sentencepiece model that are special or a user's: their time grows with the square of their number."""
SPECIAL_KINDS = (3, 4)
TYPE_TAGS = (b"\x18", b"\x98")
"""First bytes of the type of a piece."""
MOST_TAG = 2**32 - 1
"""Readers of protobuf keep as many bits of a field's number and of its kind."""


def refuse_texts(folder: Path, weights: int) -> None:
    """Refuse configurations and tokenizers of a folder that name more than any model has; `weights` are its bytes."""
    most = FEW_TOKENS + weights // BYTES_PER_TOKEN
    kind = replace(WORDS, values=min(WORDS.values, VALUES_PER_TOKEN * most))
    for name in CONFIGS:
        if (folder / name).is_file():
            _refuse_config(_content(folder / name, JSON), folder / name)
    for name in VOCABULARIES:
        path = folder / name
        if not path.is_file():
            continue
        if path.suffix == ".txt":
            _refuse_tokens(_bytes(path).count(b"\n") // MERGES_PER_TOKEN, most, path)
        elif name == "vocab.json":
            content = _content(path, kind)
            _refuse_tokens(len(content) if isinstance(content, dict) else 0, most, path)
            _refuse_ids(content.values() if isinstance(content, dict) else (), path)
        else:
            _refuse_tokenizer(_content(path, kind), most, path)
    pieces = sorted(path for path in folder.iterdir() if path.suffix in PIECES and path.is_file())
    if len(pieces) > MOST_PIECES:
        raise InputError(f"{folder}: {len(pieces):,} lists of tokens ({', '.join(PIECES)}) are more than any model has")
    for path in pieces:
        _refuse_pieces(_bytes(path), most, path)


def refuse_squares(lengths: list[int], path: Path) -> None:
    """Refuse tokens that are so long that dividing them takes longer than reading a model."""
    if sum(length * length for length in lengths) > MOST_SQUARES:
        raise InputError(f"{path}: tokens of up to {max(lengths):,} bytes are too long for a vocabulary")


def _bytes(path: Path, kind: FileKind = WORDS) -> bytes:
    # The cache of the Hub keeps its files elsewhere and links to them.
    return read_regular(Path(os.path.realpath(path)), kind)


def _content(path: Path, kind: FileKind) -> Any:
    try:
        text = _bytes(path, kind).decode("utf-8")
        refuse_many(text, kind)
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{path}: cannot be read as JSON (nested too deeply)") from None
    except ValueError as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from None


def _refuse_config(content: Any, path: Path) -> None:
    parts = dict(content) if isinstance(content, dict) else content
    if path.name == ADDED:
        parts = {DECODER: content}
    if isinstance(parts, dict):
        added = parts.pop(DECODER, None)
        if isinstance(added, dict):
            # `added_tokens.json` has the numbers as values, `added_tokens_decoder` as names.
            _refuse_ids(added.values() if path.name == ADDED else added, path)
        _refuse_added(list(added.values()) if isinstance(added, dict) else added, path)
    _refuse_settings(parts, path)


def _refuse_added(added: Any, path: Path) -> None:
    """Refuse more tokens that are added to a vocabulary than are read, or tokens with other things in them."""
    tokens = added if isinstance(added, list) else []
    if len(tokens) > MOST_ADDED:
        raise InputError(f"{path}: {len(tokens):,} added tokens; at most {MOST_ADDED:,} are read")
    _refuse_ids((token.get("id") for token in tokens if isinstance(token, dict)), path)
    for token in tokens:
        fields = token.values() if isinstance(token, dict) else token if isinstance(token, list) else ()
        if len(fields) > ADDED_FIELDS or any(isinstance(field, list | dict) for field in fields):
            raise InputError(f"{path}: an added token has {len(fields):,} fields, or lists in them; is it damaged?")


def _refuse_ids(numbers: Iterable[Any], path: Path) -> None:
    """Refuse a number of a token that no vocabulary reaches; as the name of a setting it is a text."""
    for number in numbers:
        if (isinstance(number, int) and number >= MOST_ID) or (
            isinstance(number, str) and len(number) > len(str(MOST_ID))
        ):
            raise InputError(f"{path}: a token has the number {str(number)[:20]}; below {MOST_ID:,} is read")


def _refuse_settings(content: Any, path: Path) -> None:
    waiting, total = [content], 0
    while waiting:
        outer = waiting.pop()
        total += len(outer) if isinstance(outer, list | dict) else 0
        if isinstance(outer, list | dict) and (len(outer) > MOST_SETTINGS or total > MOST_IN_ALL):
            raise InputError(f"{path}: {max(len(outer), total):,} settings are more than any model has")
        if isinstance(outer, list | dict):
            inner = outer.values() if isinstance(outer, dict) else outer
            waiting += [value for value in inner if isinstance(value, list | dict)]


def _refuse_tokenizer(content: Any, most: int, path: Path) -> None:
    parts = dict(content) if isinstance(content, dict) else {}
    model = parts.pop("model", None)
    if isinstance(model, dict):
        for name in ("vocab", "merges"):
            counted = model.get(name)
            number = len(counted) if isinstance(counted, list | dict) else 0
            _refuse_tokens(number // (MERGES_PER_TOKEN if name == "merges" else 1), most, path)
        vocabulary = model.get("vocab")
        _refuse_ids(vocabulary.values() if isinstance(vocabulary, dict) else (), path)
        _refuse_settings({name: value for name, value in model.items() if name not in ("vocab", "merges")}, path)
    _refuse_added(parts.pop("added_tokens", None), path)
    _refuse_settings(parts, path)


def _refuse_tokens(number: int, most: int, path: Path) -> None:
    if number > most:
        raise InputError(f"{path}: {number:,} tokens, and weights for {most:,} at most; is the folder whole?")


def _refuse_pieces(data: bytes, most: int, path: Path) -> None:
    """Refuse a list of tokens with more, longer or more special ones than any model has.

    No more of them are counted than are wrong: a small file may hold thirty million empty ones.
    """
    if path.suffix != ".model" or b"\0" not in data:
        lines = [end - start for start, end in islice(_lines(data), most + 1)]
        _refuse_tokens(len(lines), most, path)
        refuse_squares(lines, path)
    if path.suffix == ".model":
        fields = list(islice(_fields(data), most + 1))
        _refuse_tokens(len(fields), most, path)
        pieces = [(start, end) for number, start, end in fields if number == 1]
        refuse_squares([end - start for start, end in pieces], path)
        special = sum(_is_special(data[start:end]) for start, end in pieces)
        if special > MOST_SPECIAL:
            raise InputError(f"{path}: {special:,} special tokens; at most {MOST_SPECIAL:,} are read")


def _lines(data: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, end
        start = end + 1


def _fields(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of each field of a message of protobuf; fields inside a group have number 0.

    Where it is no such message, the fields before; its reader says so.
    """
    at = depth = 0
    while at < len(data):
        key, at = _varint(data, at)
        key &= MOST_TAG
        start, kind = at, key & 7
        if kind == 0:
            _, at = _varint(data, at)
        elif kind == 2:
            length, start = _varint(data, at)
            at = start + length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind in (3, 4):
            depth += 1 if kind == 3 else -1
        else:
            return
        yield 0 if depth else key >> 3, start, min(at, len(data))


def _is_special(piece: bytes) -> bool:
    """Whether a piece of a sentencepiece model is a control token or one of a user's."""
    if not any(tag in piece for tag in TYPE_TAGS):
        return False
    kinds = (_varint(piece, start)[0] & MOST_TAG for number, start, _ in _fields(piece) if number == 3)
    return any(kind in SPECIAL_KINDS for kind in kinds)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            break
    return value, at
