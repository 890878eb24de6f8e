"""The text of a file: UTF-8, with the line and the byte named where it is not."""

from __future__ import annotations

import stat
from pathlib import Path

from rote.errors import InputError


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


def read_text(path: Path) -> str:
    """A file's text; a byte order mark at its start is dropped."""
    return decoded(read_bytes(path), str(path))


def decoded(data: bytes, where: str) -> str:
    """Bytes as text; `where` names them in messages."""
    not_empty(data, where)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        start = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        line = data.count(b"\n", 0, start) + 1
        column = start - (data.rfind(b"\n", 0, start) + 1) + 1
        raise InputError(
            f"{where}: line {line} is not UTF-8: byte 0x{data[start]:02x} at its byte {column}; "
            "save the file as UTF-8 (for instance: iconv -f latin1 -t utf-8)"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{where}: line {line} contains a NUL byte; is this a text file in UTF-8 (not UTF-16)?")
    return text
