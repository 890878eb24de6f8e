"""Model folders that were damaged, or made to do damage."""

from __future__ import annotations

import json
import lzma
import os
import random
import shutil
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

import rote
from hostile.texts import NAMES, NUMBERS, damaged, json_bomb
from hostile.watch import Attempt
from rote.cli import main

FILES = ("config.json", "model.safetensors", "vocab.json.xz", "certificate.json", "keys.safetensors")


class ModelFolders:
    """Folders that rote wrote and something happened to, read by every command that reads one."""

    name = "folders"

    def __init__(self, store: Path) -> None:
        """Build the models that are damaged, below `store`."""
        capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo", ("money", "Japan"): "Yen"}
        self._whole = [
            Path(rote.build(capitals).save(store / "words")),
            Path(rote.build("random:vocab=6,context=2,facts=9,seed=1", "dana2025.theorem1").save(store / "numbers")),
            Path(
                rote.build("random:vocab=9,context=2,facts=20,seed=1", "kajitsuka2025.theorem4_1").save(
                    store / "packed"
                )
            ),
        ]

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        folder = given / "model"
        shutil.copytree(rng.choice(self._whole), folder)
        file = folder / rng.choice([name for name in FILES if (folder / name).exists()])
        rng.choice(DAMAGES)(file, rng)
        words = rng.choice(COMMANDS)

        def attempt() -> bool:
            if words is not None:
                return main([word.format(folder=folder) for word in words]) == 0
            try:
                rote.load(folder)
            except rote.RoteError:
                return False
            return True

        return attempt


COMMANDS: tuple[list[str] | None, ...] = (
    None, None, None,
    ["verify", "{folder}"],
    ["verify", "{folder}", "random:vocab=6,context=2,facts=9,seed=1"],
    ["ask", "{folder}", "capital", "France"],
    ["recall", "{folder}", "random:vocab=6,context=2,facts=9,seed=1"],
    ["inspect", "{folder}", "capital", "France", "--json"],
    ["export", "{folder}", "--to", "torch", "-o", "out"],
)  # fmt: skip


def _bytes(file: Path, rng: random.Random) -> None:
    file.write_bytes(damaged(file.read_bytes(), rng))


def _bomb(file: Path, rng: random.Random) -> None:
    file.write_bytes(json_bomb(rng))


def _linked(file: Path, rng: random.Random) -> None:
    """In place of the file a link to nothing, to itself, to a device, to a folder, or a pipe."""
    file.unlink()
    target = rng.choice(("nothing", file.name, "/dev/zero", "/dev/null", "..", "/etc/passwd", "pipe", "/proc/self/mem"))
    if target == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(target)


def _absent(file: Path, rng: random.Random) -> None:
    file.unlink()
    if rng.random() < 0.5:
        file.mkdir()


def _pickled(file: Path, rng: random.Random) -> None:
    file.write_bytes(rng.choice((b"\x80\x04cos\nsystem\n(S'id'\ntR.", b"PK\x03\x04" + bytes(100))))


def _edited(file: Path, rng: random.Random) -> None:
    """A value of a JSON file replaced by another, wherever it is."""
    if file.suffix == ".safetensors":
        _header(file, rng)
        return
    packed = file.suffix == ".xz"
    document = json.loads(lzma.decompress(file.read_bytes()) if packed else file.read_bytes())
    others = (
        None, True, -1, 0, 2**31, 2**62, 10**30, 1.5, float("nan"), float("inf"), [], {}, [[]], "x", *NAMES[:30],
        *NUMBERS[:10],
    )  # fmt: skip
    for _ in range(rng.choice((1, 1, 2))):
        _replace(document, rng, rng.choice(others))
    text = json.dumps(document).encode()
    file.write_bytes(lzma.compress(text) if packed else text)


def _packed(letter: bytes, count: int, window: int) -> bytes:
    return lzma.compress(letter * count, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": window}])


WIDE = _packed(b" ", 10, 2**30)
"""A few bytes that ask for a gigabyte to be read. Writing them takes several, so before memory is limited."""


@cache
def _long(letter: bytes) -> bytes:
    return _packed(letter, 2**26 + 2, 2**20)


def _packed_bomb(file: Path, rng: random.Random) -> None:
    """A small xz stream that unpacks to far more, or asks for a gigabyte to be read."""
    file.write_bytes(rng.choice((lambda: WIDE, lambda: _long(b" "), lambda: _long(b"[")))())


def _replace(document: object, rng: random.Random, value: object) -> None:
    while isinstance(document, dict | list) and document:
        places = list(document) if isinstance(document, dict) else list(range(len(document)))
        place = rng.choice(places)
        inner = document[place]  # pyright: ignore[reportArgumentType, reportCallIssue]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.3:
            if isinstance(document, dict) and rng.random() < 0.2:
                document[str(value)] = document.pop(place)
            else:
                document[place] = value  # pyright: ignore[reportArgumentType, reportCallIssue]
            return
        document = inner


def _header(file: Path, rng: random.Random) -> None:
    """A safetensors file whose header lies."""
    if file.suffix != ".safetensors":
        _edited(file, rng)
        return
    data = file.read_bytes()
    try:
        size = struct.unpack("<Q", data[:8])[0]
        header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    except (struct.error, ValueError):  # an earlier harm left no header
        file.write_bytes(data + bytes(rng.randrange(256) for _ in range(9)))
        return
    kind = rng.randrange(9)
    if kind == 0:
        lie = rng.choice((0, 1, 7, 2**31, 2**40, 2**63, 2**64 - 1, size + 1, size - 1, len(data)))
        file.write_bytes(struct.pack("<Q", lie) + data[8:])
        return
    if kind == 1:
        text = rng.choice((b"[" * 100_000, b'{"a":' * 100_000, json_bomb(rng)))
        file.write_bytes(struct.pack("<Q", len(text)) + text + body)
        return
    tensors = [name for name in header if name != "__metadata__"]
    for name in rng.sample(tensors, min(len(tensors), rng.choice((1, 1, 2)))):
        tensor = header[name]
        if kind == 2:
            tensor["shape"] = rng.choice(([], [2**62, 4], [-1], [0], [2**32, 2**32], [1.5], "x", [3] * 40, [10**30]))
        elif kind == 3:
            tensor["data_offsets"] = rng.choice(([0, 2**62], [5, 1], [0, 0], [-1, 4], [0], "x", [2**63, 2**63 + 4]))
        elif kind == 4:
            tensor["dtype"] = rng.choice(("F64", "F16", "I64", "U8", "BOOL", "F8_E4M3", "C64", "X", "", None))
        elif kind == 5:
            header[rng.choice(NAMES)] = header.pop(name)
        elif kind == 6:
            header[name] = rng.choice(([], {}, None, 3, "x"))
        elif kind == 7:
            header["copy"] = dict(tensor)
        else:
            body = struct.pack("<f", rng.choice((float("nan"), float("inf"), 3e38, 1e-45))) * (len(body) // 4)
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + body)


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (
    _bytes, _bytes, _bomb, _packed_bomb, _linked, _absent, _pickled, _edited, _edited, _edited, _header, _header,
)  # fmt: skip
