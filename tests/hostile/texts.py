"""Texts, numbers and names that break programs, and ways of damaging bytes that were whole."""

from __future__ import annotations

import random

NAMES = (
    "", " ", "-", "--", "--help", "--json", "-o", "--version", ".", "..", "/", "\\", "~", "*", "?", "a b", "a\tb",
    "a\nb", "con", "nul", "null", "None", "true", "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-0", "0x10",
    "%s%s%n", "{0}", "${HOME}", "$(id)", "`id`", "'", '"', "';--", "<b>", "&amp;", "../../etc/passwd", "/dev/null",
    "/dev/zero", "/proc/self/mem", "file:///etc/passwd", "http://localhost:1/", "\ufeff", "\u200b", "\u202eabc", "é",
    "e\u0301", "\u212b", "\u00c5", "ﬁ", "İ", "ß", "文", "😀", "👩‍👩‍👧", "\u0007", "\x1b[31m", "\x7f", "a" * 300,
    "é" * 5000,
)  # fmt: skip
"""As a cell, a name of a column, an argument, a name of a file."""

WITHOUT_NUL = NAMES
WITH_NUL = (*NAMES, "\0", "a\0b", "\ud800", "\udfff\ud800")

NUMBERS = (
    "0", "-1", "-0", "1.5", "1e3", "1e400", "-1e400", "nan", "-nan", "inf", "-inf", "", " ", "x", "0x10", "1_000", "٣",
    "½", "∞", "1,2", "1,,2", "2:", ":2", "5:1", "1:9:0", "1:9:-1", "9" * 40, "-" + "9" * 40, "9" * 5000,
    "99999999999", "18446744073709551616", "+1", "1 ", "--json", "True", "null",
)  # fmt: skip
"""Where a number is wanted; none of them is one that could be meant, and could take long."""

DEEP = 100_000


def damaged(data: bytes, rng: random.Random) -> bytes:
    """These bytes cut, flipped, doubled, or with others among them."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        kind = rng.randrange(9)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[at:]
        elif kind == 2 and data:
            place = rng.randrange(len(data))
            data = data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]
        elif kind == 3:
            data = data[:at] + rng.randbytes(rng.randrange(1, 30)) + data[at:]
        elif kind == 4:
            data = data[:at] + data[to:]
        elif kind == 5:
            data = data[:to] + data[at:]
        elif kind == 6:
            data = data[:at] + bytes([rng.choice((0, 10, 13, 34, 44, 9, 123, 91, 255, 254, 128))]) + data[at:]
        elif kind == 7:
            data = data[:at] + rng.choice(WITHOUT_NUL).encode() + data[at:]
        else:
            data = data[:at] + data[at:to] * rng.randrange(2, 50) + data[to:] if to - at < 10_000 else data
    return data


def json_bomb(rng: random.Random) -> bytes:
    """JSON that is deep, wide, odd or no JSON at all."""
    kind = rng.randrange(10)
    if kind == 0:
        return b"[" * rng.choice((10, 990, DEEP))
    if kind == 1:
        return b'{"a":' * rng.choice((10, 990, DEEP))
    if kind == 2:
        depth = rng.choice((10, 400, 990, 5000))
        return b"[" * depth + b"]" * depth
    if kind == 3:
        return b"9" * rng.choice((400, 5000, 200_000))
    if kind == 4:
        return b"[" + b",".join(b"%d" % number for number in range(100_000)) + b"]"
    if kind == 5:
        return b"{" + b",".join(b'"%d":null' % number for number in range(50_000)) + b"}"
    if kind == 6:
        return rng.choice(
            (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"null", b"true", b'""', b"{}", b"[]", b"0", b"")
        )
    if kind == 7:
        return b'{"a":1,"a":2,"a":{"a":' + b"[]" * rng.randrange(2) + b"}}"
    if kind == 8:
        return rng.choice((b"\xff\xfe{\x00}\x00", b"\xef\xbb\xbf{}", b'"\\ud800"', b'{"\\u0000":1}', b"\x00" * 100))
    return b'{"format": 2, "spec": ' + rng.choice((b"[]", b"{}", b'"x"', b"NaN", b"-1", b"[[[[]]]]")) + b"}"
