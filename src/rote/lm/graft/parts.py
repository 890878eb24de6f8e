"""Finished parts of a long computation on disk, so that an interrupted graft resumes.

A part is a safetensors file. Its metadata holds the result as JSON, with numbers in place of its tensors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

Part = TypeVar("Part")


class Parts:
    """Remembers results by name in a folder for one set of inputs; without a folder it remembers nothing."""

    def __init__(self, folder: Path | None = None, identity: Any = None) -> None:
        self._folder = None
        if folder is not None:
            name = hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()
            self._folder = folder / name[:24]

    def __call__(self, name: str, make: Callable[[], Part]) -> Part:
        """The result of this name: tensors, numbers and lists of them, read back or made."""
        if self._folder is None:
            return make()
        path = self._folder / f"{name}.safetensors"
        if path.is_file():
            with safe_open(path, framework="pt") as file:
                return _unpacked(json.loads(file.metadata()["result"]), file)
        made = make()
        self._folder.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(".part")
        tensors: list[Tensor] = []
        result = json.dumps(_packed(made, tensors))
        # A copy of each: the format takes no two tensors that share memory.
        save_file({str(n): t.contiguous().clone() for n, t in enumerate(tensors)}, aside, {"result": result})
        aside.replace(path)
        return made


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


def _unpacked(value: Any, file: Any) -> Any:
    """What `_packed` was given."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tensor":
        return file.get_tensor(str(content))
    if kind == "dict":
        return {key: _unpacked(part, file) for key, part in content}
    return {"tuple": tuple, "list": list}[kind](_unpacked(part, file) for part in content)


NOTHING_KEPT = Parts()
