"""Finished parts of a long computation in a folder beside its output, so that an interrupted one resumes.

What lies there is read like a stranger's: no link is followed, and only whole files of tensors count. A file that is
anything else is made again and replaced. The numbers themselves are believed; certificates are recomputed from weights.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rote.errors import InputError
from rote.files import held, new_file, writing
from rote.folders.tensors import TensorFile
from rote.interrupts import kept

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class PartFiles:
    """Tensors by the names of parts, one file per part, in a folder that is no link."""

    folder: Path

    @classmethod
    def of(cls, folder: Path) -> PartFiles:
        """The folder, which is created. An interrupt says that the same command resumes."""
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        kept(folder)
        return cls(folder)

    def arrays(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays of a part; none where it is not kept, or no whole file of tensors."""
        try:
            with held(self.folder, below=self.folder.parent) as folder:
                return TensorFile.of(folder, _file(name)).numpy()
        except InputError:
            return None

    def tensors(self, name: str) -> dict[str, Tensor] | None:
        """The same as torch tensors."""
        try:
            with held(self.folder, below=self.folder.parent) as folder:
                return TensorFile.of(folder, _file(name)).torch()
        except InputError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Keep a part, given as the bytes of a safetensors file."""
        aside = self.folder / f".{secrets.token_hex(8)}"
        with writing(self.folder), held(self.folder, below=self.folder.parent):
            with new_file(aside) as descriptor, os.fdopen(os.dup(descriptor), "wb") as file:
                file.write(data)
            aside.replace(self.folder / _file(name))


def _file(name: str) -> str:
    return f"{name}.safetensors"
