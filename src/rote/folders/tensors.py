"""Tensors of a file from elsewhere: what its header says is checked before a byte of them is read.

A safetensors file is a header (a JSON object with the dtype, shape and place of each tensor) and their bytes. The
header alone tells whether the tensors are those of a specification and how much memory they take.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors.numpy
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError

from rote.errors import InputError, cut, details_of, validation_problems
from rote.files import TENSORS, HeldFolder, bytes_of, parsed

if TYPE_CHECKING:
    from torch import Tensor

LONGEST_HEADER = 2**24
"""Bytes of a header: some hundred thousand tensors."""

DTYPES: dict[str, tuple[str, int]] = {
    "F64": ("float64", 8), "F32": ("float32", 4), "F16": ("float16", 2), "BF16": ("bfloat16", 2), "I64": ("int64", 8),
    "I32": ("int32", 4), "I16": ("int16", 2), "I8": ("int8", 1), "U8": ("uint8", 1), "BOOL": ("bool", 1),
}  # fmt: skip
"""Names of dtypes in a header, with torch's names and the bytes of a number."""


class TensorEntry(BaseModel):
    """What the header of a safetensors file says of one tensor."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    dtype: str
    shape: list[int] = Field(max_length=8)
    data_offsets: list[int] = Field(min_length=2, max_length=2)

    def refuse_unlike(self) -> None:
        """Raise a `ValueError` where dtype, shape and bytes do not agree."""
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype {cut(self.dtype)!r} is not one of {', '.join(DTYPES)}")
        start, end = self.data_offsets
        if any(length < 0 for length in self.shape) or not 0 <= start <= end:
            raise ValueError("a size or a place is negative")
        if self.numbers * DTYPES[self.dtype][1] != end - start:
            raise ValueError(f"{end - start:,} bytes do not hold a tensor {self.dtype} of shape {self.shape}")

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class TensorFile:
    """A safetensors file whose header was read and whose tensors were not."""

    where: str
    entries: Mapping[str, TensorEntry]
    _folder: HeldFolder
    _name: str
    bytes: int
    """Of the complete file."""

    @classmethod
    def of(cls, folder: HeldFolder, name: str) -> TensorFile:
        """The file of this name; anything but a safetensors file is rejected."""
        where = str(folder.path / name)
        with folder.opened(name, TENSORS) as descriptor:
            size = os.fstat(descriptor).st_size
            try:
                head = os.pread(descriptor, 8, 0)
                length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
                if not 2 <= length <= min(LONGEST_HEADER, size - 8):
                    raise ValueError("its header is not whole")
                entries = _entries(parsed(os.pread(descriptor, length, 8), "its header"))
                _refuse_gaps(entries, size - 8 - length)
            except (ValueError, InputError) as error:
                raise unreadable(where, error) from None
        return cls(where, entries, folder, name, size)

    @property
    def numbers(self) -> int:
        """Numbers in all tensors."""
        return sum(entry.numbers for entry in self.entries.values())

    def outline(self) -> dict[str, Tensor]:
        """Tensors of the same shapes and dtypes that take no memory."""
        import torch

        return {
            name: torch.empty(entry.shape, dtype=getattr(torch, DTYPES[entry.dtype][0]), device="meta")
            for name, entry in self.entries.items()
        }

    def torch(self) -> dict[str, Tensor]:
        """The tensors."""
        import safetensors.torch

        try:
            return safetensors.torch.load(self._bytes())
        except (SafetensorError, ValueError, TypeError, RuntimeError) as error:
            raise unreadable(self.where, error) from None

    def numpy(self) -> dict[str, np.ndarray]:
        """The tensors as arrays."""
        try:
            return dict(safetensors.numpy.load(self._bytes()))
        except (SafetensorError, ValueError, TypeError, AttributeError) as error:
            # The last: a dtype that safetensors knows and numpy does not.
            raise unreadable(self.where, error) from None

    def _bytes(self) -> bytes:
        with self._folder.opened(self._name, TENSORS) as descriptor:
            data = bytes_of(descriptor, self._folder.path / self._name)
        if len(data) != self.bytes:
            raise unreadable(self.where, ValueError("it changed while it was read"))
        return data


def _entries(header: Any) -> dict[str, TensorEntry]:
    entries = {}
    for name, stated in header.items() if isinstance(header, dict) else [("header", None)]:
        if name == "__metadata__":
            continue
        try:
            entry = TensorEntry.model_validate(stated)
            entry.refuse_unlike()
        except ValidationError as error:
            raise ValueError(
                f"tensor {cut(name)!r}: {'; '.join(validation_problems(details_of(error), options=False)[:3])}"
            ) from None
        except ValueError as error:
            raise ValueError(f"tensor {cut(name)!r}: {error}") from None
        entries[name] = entry
    return entries


def _refuse_gaps(entries: Mapping[str, TensorEntry], size: int) -> None:
    """Reject tensors that share bytes, leave some out or end elsewhere than the file: their sizes are believed."""
    end = 0
    for start, stop in sorted((entry.data_offsets[0], entry.data_offsets[1]) for entry in entries.values()):
        if start != end:
            raise ValueError("its tensors overlap" if start < end else "its tensors leave bytes out")
        end = stop
    if end != size:
        raise ValueError("its tensors are not whole")


def unreadable(where: str, error: Exception) -> InputError:
    """The error of a file that is no safetensors file, or not a whole one."""
    return InputError(f"{where}: cannot be read as safetensors ({cut(error)}); build the model again")
