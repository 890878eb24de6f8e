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
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from rote.errors import InputError
from rote.folders.unpacked import FILTERS, LARGEST, PLACES, VALUES, WORD, unpacked_arrays


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
    planes = folded.view(np.uint8).reshape(-1, WORD)[:, :width].T
    streams = {PLACES: np.packbits(flat != 0).tobytes(), VALUES: planes.tobytes()}
    small = {name: _compressed(stream) for name, stream in streams.items()}
    dense = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    return small if 2 * sum(tensor.numel() for tensor in small.values()) <= dense else None


def unpacked(
    tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], dtype: torch.dtype, where: str
) -> dict[str, Tensor]:
    """The weights of these shapes that `packed` put into two streams; `where` names the file in messages."""
    if wrong := [tensor.dtype for tensor in tensors.values() if tensor.dtype == torch.bfloat16]:
        raise InputError(f"{where}: packed weights are bytes, found a tensor of {wrong[0]}")
    arrays = unpacked_arrays({name: tensor.numpy() for name, tensor in tensors.items()}, shapes, where)
    return {name: torch.from_numpy(array).to(dtype) for name, array in arrays.items()}


def _layers_last(array: np.ndarray) -> np.ndarray:
    return np.moveaxis(array, 0, -1).ravel() if array.ndim > 1 else array.ravel()


def _bytes_of(number: int) -> int:
    return max(1, -(-number.bit_length() // 8))


def _compressed(stream: bytes) -> Tensor:
    return torch.frombuffer(
        bytearray(lzma.compress(stream, format=lzma.FORMAT_RAW, filters=FILTERS)), dtype=torch.uint8
    )
