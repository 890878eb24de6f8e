"""Words from elsewhere, wherever they are shown: nothing in them moves a cursor, turns text around or is a command.

A table, a model folder or a run may hold any character. On a terminal an escape sequence could repaint "NOT verified",
a bidirectional control could turn a line around, a spreadsheet runs a cell that begins with `=`, and Markdown takes
`<script>` as it is. Every word that came from a file passes one of these functions on its way out.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

_HIDDEN = (
    "\x00-\x1f\x7f-\x9f"  # controls, among them the escape of terminals
    "\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # unseen, or turning text
    "\ud800-\udfff"  # halves of surrogate pairs, which no file can hold
    "\U000e0000-\U000e007f"  # tags
)
_ANY = re.compile(f"[{_HIDDEN}]")
_IN_LINES = re.compile(f"(?![\n\t])[{_HIDDEN}]")
_STYLES = re.compile("(\x1b\\[(?:0|1)m)")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")


def visible(text: str) -> str:
    r"""The text with every character that is not seen written as its escape.

    >>> visible("ends\x1b[2Khere")
    'ends\\x1b[2Khere'
    """
    return text if text.isascii() and text.isprintable() else _ANY.sub(_escape, text)


def visible_lines(text: str) -> str:
    """The same for text of several lines: line breaks and tabs stay."""
    return text if text.isascii() and text.isprintable() else _IN_LINES.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in "\n\t\r":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[found[0]]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_text(text: str) -> str:
    """JSON text in which what is not seen stands as JSON escapes, which mean the same."""
    return text if text.isascii() and "\x7f" not in text else _IN_LINES.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    return "".join(f"\\u{int.from_bytes(pair, 'big'):04x}" for pair in _halves(found[0]))


def _halves(letter: str) -> Iterator[bytes]:
    data = letter.encode("utf-16-be", "surrogatepass")
    for start in range(0, len(data), 2):
        yield data[start : start + 2]


def cell(value: Any) -> Any:
    """A cell of a table that spreadsheets open: text that would be taken for a formula gets an apostrophe before it."""
    if not isinstance(value, str):
        return value
    text = visible_lines(value)
    return f"'{text}" if value.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def markup(text: str) -> str:
    """Words in HTML or SVG, as an element's text or an attribute's value."""
    return escape(visible(text), quote=True)


def markdown(text: str) -> str:
    """Words in a line of Markdown: no tag, link, picture, code or cell begins in them."""
    escaped = visible(text.replace("\n", " ")).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`\[\]|])", r"\\\1", escaped)


def command(*words: object) -> str:
    """A command to copy: each word quoted for the shell where it has to be, and nothing hidden in it."""
    return " ".join(shlex.quote(visible(str(word))) for word in words)


class _Guarded:
    """A text stream on which nothing from elsewhere acts: escapes are written out, but for rote's own bold.

    A library that draws on a terminal (rich) writes to the stream below it: see `unguarded`.
    """

    def __init__(self, stream: Any) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        parts = _STYLES.split(text)
        self.rich_proxied_file.write(
            "".join(part if place % 2 else visible_lines(part) for place, part in enumerate(parts))
        )
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Meanwhile nothing that is printed acts on a terminal."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_guarded(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def unguarded(stream: Any) -> Any:
    """The stream below every guard, for a library that draws on a terminal and knows what it writes."""
    while hasattr(stream, "rich_proxied_file"):
        stream = stream.rich_proxied_file
    return stream


def _guarded(stream: Any) -> Any:
    return stream if stream is None or isinstance(stream, _Guarded) else _Guarded(stream)
