"""Packed weights (`rote.folders.folder`) read back as arrays, without a tensor library."""

from __future__ import annotations

import lzma
import math
from collections.abc import Mapping

import numpy as np

from rote.errors import InputError

PLACES, VALUES = "packed.places", "packed.values"
LARGEST = 2**53
"""Whole numbers beyond this are not exact in any float dtype, so none is packed."""

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
WORD = 8
"""Bytes of a value before those that are zero in all of them are dropped."""


def unpacked_arrays(
    tensors: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]], where: str
) -> dict[str, np.ndarray]:
    """The weights of these shapes that `packed` put into two streams, in float64; `where` names the file."""
    strange = sorted(set(tensors) - {PLACES, VALUES})
    if strange or set(tensors) != {PLACES, VALUES}:
        raise InputError(f"{where}: packed weights are the two tensors {PLACES} and {VALUES}, not {sorted(tensors)}")
    total = sum(math.prod(shape) for shape in shapes.values())
    bits = np.frombuffer(_decompressed(tensors[PLACES], -(-total // 8), where), dtype=np.uint8)
    if len(bits) != -(-total // 8):
        raise InputError(f"{where}: {PLACES} tells of {8 * len(bits)} weights, but the specification has {total}")
    used = np.unpackbits(bits, count=total).astype(bool)
    count = int(used.sum())
    planes = np.frombuffer(_decompressed(tensors[VALUES], WORD * count, where), dtype=np.uint8)
    if count and (len(planes) % count or not len(planes)):
        raise InputError(f"{where}: {VALUES} has {len(planes)} bytes, which {count} weights do not divide")
    folded = np.zeros((count, WORD), dtype=np.uint8)
    if count:
        folded[:, : len(planes) // count] = planes.reshape(-1, count).T
    numbers = folded.view("<u8").reshape(-1)
    if count and int(numbers.max()) > 2 * LARGEST:
        raise InputError(f"{where}: {VALUES} holds a number beyond 2^53, which no float dtype has exactly")
    halves = (numbers >> np.uint64(1)).astype(np.int64)
    flat = np.zeros(total, dtype=np.float64)
    flat[used] = np.where(numbers & np.uint64(1), -halves - 1, halves)
    weights, start = {}, 0
    for name in sorted(shapes):
        size = math.prod(shapes[name])
        weights[name] = _layers_first(flat[start : start + size], shapes[name])
        start += size
    return weights


def _layers_first(flat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) < 2:
        return flat.reshape(shape).copy()
    return np.ascontiguousarray(np.moveaxis(flat.reshape(*shape[1:], shape[0]), -1, 0))


def _decompressed(tensor: np.ndarray, most: int, where: str) -> bytes:
    """At most so many bytes; a stream that holds more is not one of ours."""
    if tensor.dtype != np.uint8 or tensor.ndim != 1:
        raise InputError(f"{where}: packed weights are bytes, found a tensor of {tensor.dtype}")
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_RAW, filters=FILTERS)
    try:
        stream = reader.decompress(tensor.tobytes(), max_length=most + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise InputError(f"{where}: packed weights are damaged ({error}); build the model again") from None
    if len(stream) > most or not (reader.eof or reader.needs_input):
        raise InputError(f"{where}: packed weights hold more than the specification asks for; build the model again")
    return stream
