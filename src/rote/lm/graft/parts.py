"""Finished parts of a graft on disk, so that an interrupted one resumes.

A part is a file of tensors. One of them holds the result as JSON, with numbers in place of its tensors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import safetensors.torch
import torch
from torch import Tensor

from rote.errors import InputError
from rote.files import WORDS, parsed
from rote.folders.parts import PartFiles

Part = TypeVar("Part")
RESULT = "result"


class Parts:
    """Remembers results by name in a folder for one set of inputs; without a folder it remembers nothing."""

    def __init__(self, folder: Path | None = None, identity: Any = None) -> None:
        self._folder, self._name, self._files = folder, "", None
        if folder is not None:
            self._name = hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:24]

    def __call__(self, name: str, make: Callable[[], Part]) -> Part:
        """The result of this name: tensors, numbers and lists of them, read back or made."""
        if self._folder is None:
            return make()
        self._files = self._files or PartFiles.of(self._folder)
        name = f"{self._name}-{name}"
        stored = self._files.tensors(name)
        if stored is not None and (result := stored.pop(RESULT, None)) is not None:
            try:
                return _unpacked(parsed(_text(result), name), stored)
            except (InputError, LookupError, TypeError, ValueError):
                pass  # no part of ours: it is made again
        made = make()
        tensors: list[Tensor] = []
        result = torch.tensor(list(json.dumps(_packed(made, tensors)).encode()), dtype=torch.uint8)
        # A copy of each: the format takes no two tensors that share memory.
        numbered = {str(n): t.contiguous().clone() for n, t in enumerate(tensors)}
        self._files.write(name, safetensors.torch.save({RESULT: result, **numbered}))
        return made


def _text(result: Tensor) -> bytes:
    if result.dtype != torch.uint8 or result.numel() > WORDS.most:
        raise ValueError("no text")
    return result.numpy().tobytes()


def _packed(value: Any, tensors: list[Tensor]) -> Any:
    """A result as JSON; its tensors are appended to `tensors`."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if isinstance(value, dict):
        return {"dict": [[key, _packed(part, tensors)] for key, part in value.items()]}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_packed(part, tensors) for part in value]}
    return value


def _unpacked(value: Any, tensors: dict[str, Tensor]) -> Any:
    """What `_packed` was given."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tensor":
        return tensors[str(content)]
    if kind == "dict":
        return {key: _unpacked(part, tensors) for key, part in content}
    return {"tuple": tuple, "list": list}[kind](_unpacked(part, tensors) for part in content)


NOTHING_KEPT = Parts()
