"""Models of sentencepiece, and such as mean harm: pieces by the hundred thousand, long ones, fields that hide them."""

from __future__ import annotations

import random
from pathlib import Path

UNKNOWN = {"a fixed number": b"\x7d" + bytes(4), "a longer one": b"\x79" + bytes(8), "a group": b"\x7b\x7c"}
"""Fields that a reader of protobuf skips."""


def message(number: int, body: bytes) -> bytes:
    """A field of protobuf that holds bytes."""
    length, told = len(body), b""
    while length > 127:
        told, length = told + bytes([128 | length & 127]), length >> 7
    return bytes([number << 3 | 2]) + told + bytes([length]) + body


def piece(word: bytes, kind: int = 1) -> bytes:
    """One token of a sentencepiece model; 3 is a control token, 4 one of a user's."""
    return message(1, message(1, word) + b"\x15" + bytes(4) + (bytes([0x18, kind]) if kind != 1 else b""))


def write_hostile_pieces(path: Path, rng: random.Random) -> None:
    """Write a sentencepiece model that means harm."""
    count, long = rng.choice(((100, 1), (8_000, 8), (30_000, 8), (120_000, 8), (120_000, 32), (10**6, 1), (9, 10**6)))
    kind = rng.choice((1, 1, 3, 4, 5, 6))
    first = [piece(b"<unk>", 2), piece(b"<s>", 3), piece(b"</s>", 3), rng.choice((b"", *UNKNOWN.values()))]
    pieces = [piece(b"%d" % n + b"x" * rng.choice((0, long)), kind) for n in range(count)]
    trainer = message(2, bytes([0x18, rng.choice((1, 2, 9))]))
    data = b"".join(rng.choice(([trainer, *first, *pieces], [*first, *pieces, trainer])))
    path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data)
