"""Model folders: config.json, model.safetensors, vocab.json, certificate.json. No pickle is written or read.

A folder is written aside and renamed: it is complete or absent.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from pydantic import ValidationError
from safetensors import SafetensorError

from rote import __version__
from rote.errors import InputError, RoteError
from rote.measure.certificate import Certificate
from rote.models import spec_from_config
from rote.models.model import Model
from rote.tasks.origin import Origin
from rote.tasks.vocabulary import Vocabulary

FORMAT = 1
CONFIG, WEIGHTS, VOCABULARY, CERTIFICATE = (
    "config.json",
    "model.safetensors",
    "vocab.json",
    "certificate.json",
)


@dataclass(frozen=True)
class Folder:
    """What was read from a model folder. Only the model's tensors are evidence; the rest are claims."""

    path: Path
    model: Model
    origin: Origin
    provenance: dict[str, Any]
    certificate: Certificate | None


def versions() -> dict[str, str]:
    """What a result depends on besides its seed."""
    return {"rote": __version__, "torch": torch.__version__, "python": platform.python_version()}


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Before any work: is there something at `path` that writing would destroy?"""
    if path.is_file():
        raise InputError(f"{path}: is a file; give the name of a folder to write the model into")
    if path.exists() and any(path.iterdir()) and not overwrite:
        raise InputError(f"{path}: exists and is not empty; choose another name, or replace it with `overwrite=True`")
    if path.exists() and any(path.iterdir()) and not (path / CONFIG).exists():
        raise InputError(f"{path}: is not a model folder, so it is not replaced; choose another name")


def write_folder(
    path: str | Path,
    model: Model,
    origin: Origin,
    provenance: dict[str, Any],
    certificate: Certificate | None,
    overwrite: bool = False,
) -> Path:
    """Write a complete model folder, or nothing."""
    path = Path(path)
    refuse_existing(path, overwrite)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        config = {
            "format": FORMAT,
            "spec": model.spec.to_config(),
            "dtype": model.dtype_name,
            "facts": origin.model_dump(mode="json"),
            "provenance": provenance,
            "versions": versions(),
        }
        _write_json(aside / CONFIG, config)
        tensors = {name: tensor.contiguous() for name, tensor in model.weights.items()}
        _write_bytes(aside / WEIGHTS, safetensors.torch.save(tensors))
        if model.vocabulary is not None:
            _write_json(aside / VOCABULARY, list(model.vocabulary.tokens))
        if certificate is not None:
            _write_json(aside / CERTIFICATE, certificate.model_dump(mode="json"))
        aside.chmod(0o755)
        _swap_in(aside, path)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return path


def read_folder(path: str | Path) -> Folder:
    """Read a model folder; tensors must be exactly those its specification asks for."""
    path = Path(path)
    _refuse_what_is_no_folder(path)
    config = _read_json(path / CONFIG)
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise InputError(f"{path / CONFIG}: format is not {FORMAT}; written by another version, or not by rote")
    spec = spec_from_config(config.get("spec"), str(path / CONFIG))
    try:
        weights = safetensors.torch.load_file(path / WEIGHTS)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path / WEIGHTS}: cannot be read as safetensors ({error}); build the model again") from None
    vocabulary = None
    if (path / VOCABULARY).exists():
        tokens = _read_json(path / VOCABULARY)
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise InputError(f"{path / VOCABULARY}: must be a list of tokens")
        vocabulary = Vocabulary(tokens)
    try:
        model = Model(spec, weights, vocabulary)
    except RoteError as error:
        raise InputError(f"{path}: the tensors do not fit the specification. {error}") from None
    certificate = None
    try:
        origin = Origin(**config.get("facts", {}))
        if (path / CERTIFICATE).exists():
            certificate = Certificate(**_read_json(path / CERTIFICATE))
    except (ValidationError, TypeError) as error:
        raise InputError(f"{path}: {CONFIG} or {CERTIFICATE} is not as rote writes it: {error}") from None
    return Folder(path, model, origin, config.get("provenance", {}), certificate)


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
        raise InputError(f"{path}: no such model folder")
    missing = [name for name in (CONFIG, WEIGHTS) if not (path / name).is_file()]
    if missing:
        pickles = sorted(
            item.name for item in path.iterdir() if item.suffix in (".pt", ".pth", ".bin", ".pkl", ".ckpt")
        )
        hint = f" (it has {pickles[0]}, a pickle, which rote never reads)" if pickles else ""
        raise InputError(f"{path}: not a rote model folder, {' and '.join(missing)} missing{hint}")


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from None


def _write_json(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=True) + "\n"
    _write_bytes(path, text.encode("utf-8"))


def _write_bytes(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _swap_in(aside: Path, path: Path) -> None:
    """Rename `aside` to `path`; what was there before is gone only once the new folder stands."""
    if not path.exists():
        aside.rename(path)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent)) / "folder"
    path.rename(old)
    try:
        aside.rename(path)
    except BaseException:
        old.rename(path)
        raise
    shutil.rmtree(old.parent)
