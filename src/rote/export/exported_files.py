"""The files of an exported folder that are meant for its target, and their digests."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

from rote.errors import InputError
from rote.files import TENSORS, HeldFolder
from rote.folders.layout import CERTIFICATE, MANIFEST, SOURCE

DEEPEST = 2
"""Folders inside each other that an export has."""


@dataclass(frozen=True)
class ExportedFiles:
    """The files that are meant for the target: all but what rote keeps for itself."""

    digests: dict[str, str]
    """SHA-256 of each, by its path in the folder."""
    bytes: int

    @classmethod
    def of(cls, folder: HeldFolder) -> ExportedFiles:
        digests, total = {}, 0
        for name, inner, own in walk(folder):
            digest = hashlib.sha256()
            with inner.opened(own, TENSORS) as descriptor:
                total += os.fstat(descriptor).st_size
                while block := os.read(descriptor, 2**20):
                    digest.update(block)
            digests[name] = f"sha256:{digest.hexdigest()}"
        return cls(dict(sorted(digests.items())), total)


def walk(folder: HeldFolder, above: str = "", depth: int = 0) -> Iterator[tuple[str, HeldFolder, str]]:
    """Every file below a folder: its path, the folder that holds it, and its name there."""
    for name in folder.names():
        if depth == 0 and name in (SOURCE, CERTIFICATE, MANIFEST):
            continue
        if not folder.is_folder(name):
            yield above + name, folder, name
        elif depth >= DEEPEST:
            raise InputError(f"{folder.path / name}: no export has folders as deep as this; rote did not write it")
        else:
            with folder.folder(name) as inner:
                yield from walk(inner, f"{above}{name}/", depth + 1)
