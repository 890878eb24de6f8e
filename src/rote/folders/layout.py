"""The files of a model folder, and what is read of them without tensors."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rote.errors import InputError, problems, system_message, validation_problems
from rote.tasks.origin import Origin

FORMAT = 2
CONFIG, WEIGHTS, VOCABULARY, CERTIFICATE, KEYS = (
    "config.json",
    "model.safetensors",
    "vocab.json",
    "certificate.json",
    "keys.safetensors",
)

MANIFEST, SOURCE = "export.json", "source"
"""In a folder that was exported: what it is, and the model folder that it was made from."""

LARGEST_JSON = 2**30
"""Bytes beyond which a JSON file is none of rote's: a vocabulary of a million long words takes a tenth of it."""


def is_export(path: Path) -> bool:
    """Whether a folder is in another tool's format, written by an export."""
    return (path / MANIFEST).is_file()


def source_of(path: Path) -> Path:
    """The model folder behind a path: the folder itself, or what an exported folder was made from."""
    return path / SOURCE if is_export(path) else path


def read_config(path: Path) -> dict[str, Any]:
    """The configuration of a model folder of this format."""
    _refuse_what_is_no_folder(path)
    config = read_json(path / CONFIG)
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise InputError(f"{path / CONFIG}: format is not {FORMAT}; written by another version, or not by rote")
    return config


def read_origin(path: str | Path) -> Origin:
    """Where the facts of a model folder came from and how they were read."""
    path = Path(path)
    return origin_of(read_config(path), path)


def origin_of(config: dict[str, Any], path: Path) -> Origin:
    """The origin that a folder's configuration states."""
    stated = config.get("facts", {})
    if not isinstance(stated, dict):
        raise InputError(f"{path / CONFIG}: `facts` must say where the facts came from, found {type(stated).__name__}")
    try:
        return Origin(**stated)
    except ValidationError as error:
        wrong = validation_problems(error.errors(), Origin.model_fields, options=False)
        raise problems(f"{path / CONFIG}: not as rote writes it", wrong) from None


def read_json(path: Path) -> Any:
    """The content of a JSON file; one that is broken, too deep or too large is an error that names it."""
    try:
        refuse_other_than_files(path)
        if (size := path.stat().st_size) > LARGEST_JSON:
            raise InputError(f"{path}: {size:,} bytes of JSON are more than rote ever writes")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(system_message(error)) from None
    except RecursionError:
        raise InputError(f"{path}: cannot be read as JSON (nested too deeply); rote did not write this") from None
    except ValueError as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from None


def refuse_other_than_files(path: Path) -> None:
    """Refuse what stands in a file's place: a device or a pipe would be read for ever, and a link may lead nowhere."""
    if is_there(path) and not path.is_file():
        raise InputError(f"{path}: is not a plain file; rote did not write this")


def is_there(path: Path) -> bool:
    """Whether a folder has a file of this name, be it a link that leads nowhere."""
    return os.path.lexists(path)


def _refuse_what_is_no_folder(path: Path) -> None:
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(4)
        # A pickle starts with \x80, and torch.save writes a zip around one.
        if head[:1] == b"\x80" or head[:2] == b"PK":
            raise InputError(
                f"{path}: looks like a pickle, which can run any code when loaded; rote never reads one. "
                "Give a model folder with config.json and model.safetensors"
            )
        raise InputError(f"{path}: is a file; give a model folder")
    if not path.is_dir():
        raise InputError(f"{path}: there is no such model folder; check the path (now in {Path.cwd()})")
    missing = [name for name in (CONFIG, WEIGHTS) if not (path / name).is_file()]
    if missing:
        pickles = sorted(
            file.name for file in path.iterdir() if file.suffix in (".pt", ".pth", ".bin", ".pkl", ".ckpt")
        )
        hint = f" (it has {pickles[0]}, a pickle, which rote never reads)" if pickles else ""
        raise InputError(f"{path}: not a rote model folder, {' and '.join(missing)} missing{hint}")
