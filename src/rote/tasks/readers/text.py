"""The text of a file: UTF-8, UTF-16, or Windows-1252 (which has the letters of Latin-1) where it is neither.

UTF-16 is known by its first bytes, or by every other byte being zero. A file that is not UTF-8 in any of its letters
beyond ASCII is taken for Windows-1252, and a note says so with a word of it. One that is UTF-8 in some of them is
damaged, and is rejected with the line and the byte.
"""

from __future__ import annotations

import codecs
import re
import stat
from pathlib import Path

from rote.errors import InputError
from rote.tasks.origin import Encoding

_MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 4096
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_BEYOND_ASCII = re.compile(r"\w*[^\W\x00-\x7f]\w*|[^\x00-\x7f]+")
OTHERS = "cp1250, cp1251, shift_jis, gb18030"


def read_bytes(path: Path) -> bytes:
    """A file's bytes; whatever keeps it from being read is named."""
    try:
        if stat.S_ISCHR(path.stat().st_mode):
            raise InputError(f"{path}: is a device, which has no end; name a file")
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path (now in {Path.cwd()})") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; name a file in it") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise InputError(f"{str(path)!r}: is not the name of a file ({error})") from None
    return not_empty(data, str(path))


def not_empty(data: bytes, where: str) -> bytes:
    """The bytes, refused where there is nothing in them."""
    if not data.strip():
        raise InputError(f"{where}: the file is empty; the first line names the columns, facts follow one per line")
    return data


def decoded(data: bytes, where: str, encoding: Encoding | None = None) -> tuple[str, list[str]]:
    """Bytes as text, and a note where they are not in UTF-8; `where` names them in messages."""
    not_empty(data, where)
    if encoding is None:
        encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None) or _unmarked(data)
        if encoding is None:
            text, notes = _western(data, where)
        else:
            text, notes = _by(data, encoding, where), [] if encoding == "utf-8" else [f"the file is {encoding.upper()}"]
    else:
        text, notes = _by(data, encoding, where), []
    if not text.strip():
        not_empty(b"", where)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{where}: line {line} contains a NUL byte; is this a text file?")
    return text, notes


def _unmarked(data: bytes) -> Encoding | None:
    """The encoding of bytes that begin with no mark; none where they are not UTF-8 and not UTF-16."""
    head = data[:_LOOKED_AT]
    zeros = [sum(byte == 0 for byte in head[start::2]) for start in (0, 1)]
    if max(zeros) > len(head) // 4 and min(zeros) == 0 and len(data) % 2 == 0:
        return "utf-16-le" if zeros[1] else "utf-16-be"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _by(data: bytes, encoding: Encoding, where: str) -> str:
    if data.startswith(codecs.BOM_UTF8) and encoding == "utf-8":
        data = data[len(codecs.BOM_UTF8) :]
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{where}: line {line} is not {encoding.upper()}: byte 0x{data[error.start]:02x} at its byte {column}; "
            f"save the file as UTF-8, or name its encoding (`encoding=...`: latin-1, {OTHERS} and others)"
        ) from None


def _western(data: bytes, where: str) -> tuple[str, list[str]]:
    """Bytes that are not UTF-8 as Windows-1252, with a note; those that are damaged UTF-8 or no text are rejected."""
    kept = data.decode("utf-8", "ignore")
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = None
    if text is None or not kept.isascii() or _CONTROLS.search(text):
        _by(data, "utf-8", where)
        raise AssertionError("bytes that are not UTF-8 were decoded")
    word = _BEYOND_ASCII.search(text)
    return text, [
        f"the file is not UTF-8 and was read as Windows-1252, as in {word[0] if word else ''!r}; if that is wrong, "
        f"name its encoding (`encoding=...`: {OTHERS} and others)"
    ]
