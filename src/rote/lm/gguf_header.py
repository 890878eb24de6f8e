"""The header of a GGUF file, walked before a library reads it.

The package gguf makes an object for each element of each list, and reads past the end of a file without an error, so
that a list of 2^60 numbers is read for ever. Here the header is walked within the bytes that are there.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from rote.errors import InputError
from rote.lm.text_files import refuse_squares

SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a number, by the type of a field."""
STRING, LIST = 8, 9
VERSIONS = (2, 3)
MOST_FIELDS, MOST_TENSORS, MOST_DIMENSIONS = 2**12, 2**16, 8
LONGEST_NAME = 2**12
FEW_ELEMENTS, BYTES_PER_ELEMENT = 2**17, 128
"""Elements of all lists that any file may have, and one more for so many bytes of it. A small model with 32,000 tokens
has 96,000, and 61,000 merges."""


def refuse_header(path: Path) -> None:
    """Refuse a GGUF file whose header says more than its bytes hold, or more than a model has."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            _walk(data, path)
        except struct.error:
            raise InputError(f"{path}: its header ends too early; download it again") from None


def _walk(data: mmap.mmap, path: Path) -> None:
    size = len(data)
    version, tensors, fields = struct.unpack_from("<IQQ", data, 4)
    if version not in VERSIONS:
        raise InputError(f"{path}: is GGUF of version {version}; rote reads versions 2 and 3 in little-endian order")
    if tensors > MOST_TENSORS or fields > MOST_FIELDS:
        raise InputError(f"{path}: its header names {tensors:,} tensors and {fields:,} fields; download it again")
    at, left = 24, FEW_ELEMENTS + size // BYTES_PER_ELEMENT
    for _ in range(fields):
        at = _text(data, at, size, path, LONGEST_NAME)
        (kind,) = struct.unpack_from("<I", data, at)
        at += 4
        if kind == STRING:
            at = _text(data, at, size, path, size)
        elif kind == LIST:
            inner, count = struct.unpack_from("<IQ", data, at)
            at += 12
            left -= count
            if left < 0 or (inner not in SCALARS and inner != STRING):
                raise InputError(f"{path}: its header has a list of {count:,} elements; download it again")
            if inner == STRING:
                at = _texts(data, at, count, size, path)
            else:
                at += SCALARS[inner] * count
        elif kind in SCALARS:
            at += SCALARS[kind]
        else:
            raise InputError(f"{path}: its header has a field of type {kind}; download it again")
        if at > size:
            raise InputError(f"{path}: its header ends too early; download it again")
    for _ in range(tensors):
        at = _text(data, at, size, path, LONGEST_NAME)
        (dimensions,) = struct.unpack_from("<I", data, at)
        if dimensions > MOST_DIMENSIONS:
            raise InputError(f"{path}: a tensor of {dimensions:,} dimensions; download it again")
        at += 16 + 8 * dimensions
        if at > size:
            raise InputError(f"{path}: its header ends too early; download it again")


def _texts(data: mmap.mmap, at: int, count: int, size: int, path: Path) -> int:
    lengths = []
    for _ in range(count):
        end = _text(data, at, size, path, size)
        lengths.append(end - at - 8)
        at = end
    refuse_squares(lengths, path)
    return at


def _text(data: mmap.mmap, at: int, size: int, path: Path, most: int) -> int:
    (length,) = struct.unpack_from("<Q", data, at)
    if length > most or at + 8 + length > size:
        raise InputError(f"{path}: its header has a text of {length:,} bytes; download it again")
    return at + 8 + length
