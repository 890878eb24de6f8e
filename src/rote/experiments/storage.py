"""Storage of facts without a model, for comparison: a plain look-up table, and a zip of the file."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path

from rote.errors import InputError
from rote.tasks import TaskShape, TokenTask

CHUNK = 1 << 20


def fixed_width_bits(shape: TaskShape) -> int:
    """Bits of a table with one row per fact: S key tokens and an answer, each at fixed width in bits."""
    per_token = (shape.key_tokens - 1).bit_length()
    per_answer = (shape.answers - 1).bit_length()
    return shape.associations * (shape.context * per_token + per_answer)


def entropy_bits(shape: TaskShape) -> float:
    """Bits of the key set, log2 binomial(N^S, T), plus the entropy of the answers."""
    return key_set_bits(shape.associations, shape.key_tokens, shape.context) + shape.bits


def key_set_bits(keys: int, key_tokens: int, context: int) -> float:
    """Bits of a set of T keys, log2 binomial(N^S, T).

    Beyond 2^40 contexts it is approximated by log2(N^(ST) / T!), which is at most T^2 / N^S bits more.
    """
    log_contexts = context * math.log2(key_tokens)
    if log_contexts <= 40:
        contexts = key_tokens**context
        natural = math.lgamma(contexts + 1) - math.lgamma(keys + 1) - math.lgamma(contexts - keys + 1)
        return max(0.0, natural / math.log(2))
    return max(0.0, keys * log_contexts - math.lgamma(keys + 1) / math.log(2))


def zipped_bytes(facts: TokenTask | str | Path | bytes) -> int:
    """Bytes of a zip archive (deflate, strongest) of a file, of its contents, or of the facts written out as text.

    Unlike a table of token numbers, it includes the words.
    """
    sink = io.BytesIO()
    with (
        zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("facts", "w", force_zip64=True) as entry,
    ):
        for chunk in _chunks(facts):
            entry.write(chunk)
    return sink.tell()


def _chunks(facts: TokenTask | str | Path | bytes) -> Iterator[bytes]:
    if isinstance(facts, bytes):
        yield facts
        return
    if isinstance(facts, str | Path):
        try:
            with Path(facts).open("rb") as file:
                while chunk := file.read(CHUNK):
                    yield chunk
        except OSError as error:
            raise InputError(f"{facts}: cannot be read to compress it ({error.strerror})") from None
        return
    for line in facts.lines():
        yield line.encode("utf-8")
