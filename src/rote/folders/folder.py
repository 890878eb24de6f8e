"""Model folders: config.json, model.safetensors, vocab.json, certificate.json, and keys.safetensors, the set of stored
keys. No pickle is written or read.

A folder is written aside and renamed: it is complete or absent.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.numpy
import safetensors.torch
import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from torch import Tensor

from rote.arguments import typed
from rote.display import html_pairs
from rote.errors import InputError, RoteError, problems, validation_problems
from rote.folders.destination import check_destination, written_aside
from rote.folders.layout import (
    CERTIFICATE,
    CONFIG,
    FORMAT,
    KEYS,
    VOCABULARY,
    WEIGHTS,
    is_there,
    origin_of,
    read_config,
    read_json,
    refuse_other_than_files,
)
from rote.folders.packed import PLACES, packed, unpacked
from rote.measure.certificate import Certificate
from rote.models import spec_from_config
from rote.models.model import Model, dtype_named
from rote.models.spec import Spec
from rote.tasks.key_reader import KeyReader
from rote.tasks.key_set import KeySet
from rote.tasks.origin import Origin
from rote.tasks.vocabulary import Vocabulary
from rote.version import __version__


@dataclass(frozen=True)
class Folder:
    """What was read from a model folder. Only the model's tensors are evidence; the rest are claims.

    >>> import rote, tempfile
    >>> where = tempfile.mkdtemp() + "/model"
    >>> _ = rote.build("random:vocab=6,context=2,facts=9,seed=1").save(where)
    >>> folder = rote.load(where)
    >>> folder.origin.source, folder.certificate.recalled
    ('random:vocab=6,context=2,facts=9,seed=1', 9)
    """

    path: Path
    model: Model
    origin: Origin
    provenance: dict[str, Any]
    certificate: Certificate | None

    def _repr_html_(self) -> str:
        stated = {} if self.certificate is None else self.certificate.shown()
        claims = {"facts from": self.origin.source, "method": self.provenance.get("method"), **stated}
        return html_pairs(str(self.path), claims)


def versions() -> dict[str, str]:
    """What a result depends on besides its seed."""
    return {"rote": __version__, "torch": torch.__version__, "python": platform.python_version()}


@typed
def write_folder(
    path: str | Path,
    model: Model,
    origin: Origin,
    provenance: dict[str, Any],
    certificate: Certificate | None,
    overwrite: bool = False,
) -> Path:
    """Write a complete model folder, or nothing.

    >>> import rote, tempfile
    >>> task = rote.facts("random:vocab=6,context=2,facts=9,seed=1")
    >>> small = rote.build(task).model.to("bfloat16")
    >>> path = rote.write_folder(tempfile.mkdtemp() + "/small", small, task.origin, {"method": "rounded"}, None)
    >>> rote.load(path).model.dtype_name
    'bfloat16'
    """
    path = Path(path)
    check_destination(path, overwrite)
    config = {
        "format": FORMAT,
        "spec": model.spec.to_config(),
        "dtype": model.dtype_name,
        "facts": origin.model_dump(mode="json"),
        "provenance": provenance,
        "versions": versions(),
    }
    stored = None if model.reader is None else model.reader.stored
    if stored is not None:
        config["stored_keys"] = stored.sizes.model_dump(mode="json")
    with written_aside(path) as aside:
        write_json(aside / CONFIG, config)
        _write_bytes(aside / WEIGHTS, safetensors.torch.save(_tensors(model)))
        if stored is not None:
            _write_bytes(aside / KEYS, safetensors.numpy.save(stored.data))
        if model.vocabulary is not None:
            write_json(aside / VOCABULARY, list(model.vocabulary.tokens))
        if certificate is not None:
            write_json(aside / CERTIFICATE, certificate.model_dump(mode="json"))
    return path


def weights_bytes(model: Model) -> int:
    """Bytes of a model's tensors as they are written: packed where that pays, else all of them."""
    return sum(tensor.numel() * tensor.element_size() for tensor in _tensors(model).values())


def written_bytes(path: str | Path) -> int:
    """Bytes of the tensors in a model folder: `weights_bytes` without packing them a second time."""
    with (Path(path) / WEIGHTS).open("rb") as file:
        header = int.from_bytes(file.read(8), "little")
        return file.seek(0, os.SEEK_END) - 8 - header


def _tensors(model: Model) -> dict[str, Tensor]:
    return packed(model.weights) or {name: tensor.contiguous() for name, tensor in model.weights.items()}


@typed
def load(path: str | Path) -> Folder:
    """Read a model folder that `built.save`, `rote build` or `rote train` wrote; no pickle is ever read.

    >>> import rote, tempfile
    >>> where = tempfile.mkdtemp() + "/model"
    >>> _ = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).save(where)
    >>> rote.load(where).model.ask("capital", "France").answer
    'Paris'
    """
    return read_folder(path)


def read_folder(path: str | Path) -> Folder:
    """Read a model folder; tensors must be exactly those its specification asks for."""
    path = Path(path)
    config = read_config(path)
    spec = spec_from_config(config.get("spec"), str(path / CONFIG))
    origin = origin_of(config, path)
    weights = _weights(path / WEIGHTS, spec, str(config.get("dtype")))
    vocabulary = None
    if is_there(path / VOCABULARY):
        tokens = read_json(path / VOCABULARY)
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise InputError(f"{path / VOCABULARY}: must be a list of tokens")
        vocabulary = Vocabulary(tokens)
    elif "stored_keys" in config:
        raise InputError(f"{path / VOCABULARY}: missing, though the keys of this model are words; build it again")
    try:
        model = Model(spec, weights, vocabulary, _reader(path, config, spec, vocabulary, origin))
    except RoteError as error:
        raise InputError(f"{path}: the tensors do not fit the specification. {error}") from None
    return Folder(path, model, origin, config.get("provenance", {}), read_certificate(path))


def _weights(path: Path, spec: Spec, dtype: str) -> dict[str, Tensor]:
    """The tensors of a folder, unpacked where they are packed."""
    try:
        tensors = safetensors.torch.load_file(path)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: cannot be read as safetensors ({error}); build the model again") from None
    return unpacked(tensors, spec.shapes(), dtype_named(dtype), str(path)) if PLACES in tensors else tensors


def _reader(
    path: Path, config: dict[str, Any], spec: Spec, vocabulary: Vocabulary | None, origin: Origin
) -> KeyReader | None:
    """How the model's keys are read, with the set of those that were stored where the folder has one."""
    if vocabulary is None or spec.reads != "tokens":
        return None
    stored = None
    if "stored_keys" in config:
        refuse_other_than_files(path / KEYS)
        try:
            data = safetensors.numpy.load_file(path / KEYS)
        except (SafetensorError, OSError, AttributeError) as error:
            # The last: a dtype that safetensors knows and numpy does not.
            raise InputError(f"{path / KEYS}: cannot be read as safetensors ({error}); build the model again") from None
        stored = KeySet.read(config["stored_keys"], data, str(path / KEYS))
    return KeyReader(vocabulary, spec.context, origin.reading, origin.key_columns, stored)


def read_certificate(path: Path) -> Certificate | None:
    """The certificate of a model folder, where it has one."""
    path = path / CERTIFICATE
    if not is_there(path):
        return None
    stated = read_json(path)
    if not isinstance(stated, dict):
        raise InputError(f"{path}: must be what rote writes, names and values; found {type(stated).__name__}")
    try:
        return Certificate(**stated)
    except ValidationError as error:
        wrong = validation_problems(error.errors(), Certificate.model_fields, options=False)
        raise problems(f"{path}: not as rote writes it", wrong) from None


def write_json(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=True) + "\n"
    _write_bytes(path, text.encode("utf-8"))


def _write_bytes(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
