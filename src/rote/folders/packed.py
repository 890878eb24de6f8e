"""Sparse weights of whole numbers, packed: which places are not zero, and the numbers that stand there.

The ReLU memorizers compute with whole numbers and leave nine weights in ten at zero. Their tensors are laid out with
the layers last, since a place that is used in one layer is often used in the next, and become two streams of bytes:

- `packed.places`: one bit a weight, set where it is not zero;
- `packed.values`: the weights that are not zero, as 2v or -2v - 1 (so that small numbers of either sign are small),
  least significant bytes of all of them first, then the next ones.

Both are compressed by LZMA2 without a container, so that nothing but the weights is in them. Unpacking gives the same
tensors bit for bit, in memory bounded by the shapes that the specification asks for.
"""

from __future__ import annotations

import lzma
import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from rote.errors import InputError

PLACES, VALUES = "packed.places", "packed.values"
LARGEST = 2**53
"""Whole numbers beyond this are not exact in any float dtype, so none is packed."""

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
_WORD = 8
"""Bytes of a value before those that are zero in all of them are dropped."""


def packed(weights: Mapping[str, Tensor]) -> dict[str, Tensor] | None:
    """The weights in two streams, or none where they are not whole numbers or packing them does not save half."""
    tensors = [weights[name].detach() for name in sorted(weights)]
    if not tensors or not all(tensor.is_floating_point() for tensor in tensors):
        return None
    if not all(bool(((tensor == tensor.round()) & (tensor.abs() < LARGEST)).all()) for tensor in tensors):
        return None
    flat = np.concatenate([_layers_last(tensor.double().numpy()) for tensor in tensors])
    values = flat[flat != 0].astype(np.int64)
    # -0.0 would come back as 0.0: equal, but not the same bits, and fingerprints are of bits.
    if bool(np.signbit(flat[flat == 0]).any()):
        return None
    folded = np.where(values < 0, -2 * values - 1, 2 * values).astype("<u8")
    width = _bytes_of(int(folded.max())) if len(folded) else 1
    planes = folded.view(np.uint8).reshape(-1, _WORD)[:, :width].T
    streams = {PLACES: np.packbits(flat != 0).tobytes(), VALUES: planes.tobytes()}
    small = {name: _compressed(stream) for name, stream in streams.items()}
    dense = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    return small if 2 * sum(tensor.numel() for tensor in small.values()) <= dense else None


def unpacked(
    tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], dtype: torch.dtype, where: str
) -> dict[str, Tensor]:
    """The weights of these shapes that `packed` put into two streams; `where` names the file in messages."""
    strange = sorted(set(tensors) - {PLACES, VALUES})
    if strange or set(tensors) != {PLACES, VALUES}:
        raise InputError(f"{where}: packed weights are the two tensors {PLACES} and {VALUES}, not {sorted(tensors)}")
    total = sum(math.prod(shape) for shape in shapes.values())
    bits = np.frombuffer(_decompressed(tensors[PLACES], -(-total // 8), where), dtype=np.uint8)
    if len(bits) != -(-total // 8):
        raise InputError(f"{where}: {PLACES} tells of {8 * len(bits)} weights, but the specification has {total}")
    used = np.unpackbits(bits, count=total).astype(bool)
    count = int(used.sum())
    planes = np.frombuffer(_decompressed(tensors[VALUES], _WORD * count, where), dtype=np.uint8)
    if count and (len(planes) % count or not len(planes)):
        raise InputError(f"{where}: {VALUES} has {len(planes)} bytes, which {count} weights do not divide")
    folded = np.zeros((count, _WORD), dtype=np.uint8)
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
        part = _layers_first(flat[start : start + size], shapes[name])
        weights[name] = torch.from_numpy(part).to(dtype)
        start += size
    return weights


def _layers_last(array: np.ndarray) -> np.ndarray:
    return np.moveaxis(array, 0, -1).ravel() if array.ndim > 1 else array.ravel()


def _layers_first(flat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) < 2:
        return flat.reshape(shape).copy()
    return np.ascontiguousarray(np.moveaxis(flat.reshape(*shape[1:], shape[0]), -1, 0))


def _bytes_of(number: int) -> int:
    return max(1, -(-number.bit_length() // 8))


def _compressed(stream: bytes) -> Tensor:
    return torch.frombuffer(
        bytearray(lzma.compress(stream, format=lzma.FORMAT_RAW, filters=_FILTERS)), dtype=torch.uint8
    )


def _decompressed(tensor: Tensor, most: int, where: str) -> bytes:
    """At most so many bytes; a stream that holds more is not one of ours."""
    if tensor.dtype != torch.uint8 or tensor.ndim != 1:
        raise InputError(f"{where}: packed weights are bytes, found a tensor of {tensor.dtype}")
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_RAW, filters=_FILTERS)
    try:
        stream = reader.decompress(tensor.numpy().tobytes(), max_length=most + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise InputError(f"{where}: packed weights are damaged ({error}); build the model again") from None
    if len(stream) > most or not (reader.eof or reader.needs_input):
        raise InputError(f"{where}: packed weights hold more than the specification asks for; build the model again")
    return stream
