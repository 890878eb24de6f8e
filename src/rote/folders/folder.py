"""Model folders: config.json, model.safetensors, vocab.json.xz, certificate.json, and keys.safetensors, the set of
stored keys. No pickle is written or read.

A folder is written aside and renamed: it is complete or absent.

Sparse weights of whole numbers, packed: which places are not zero, and the numbers that stand there.

The ReLU memorizers compute with whole numbers and leave nine weights in ten at zero. Their tensors are laid out with
the layers last, since a place that is used in one layer is often used in the next, and become two streams of bytes:

- `packed.places`: one bit a weight, set where it is not zero;
- `packed.values`: the weights that are not zero, as 2v or -2v - 1 (so that small numbers of either sign are small),
  least significant bytes of all of them first, then the next ones.

Both are compressed by LZMA2 without a container, so that nothing but the weights is in them. Unpacking gives the same
tensors bit for bit, in memory bounded by the shapes that the specification asks for.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import safetensors.numpy
import safetensors.torch
import torch
from pydantic import ValidationError
from torch import Tensor

from rote.arguments import typed
from rote.display import html_pairs
from rote.errors import InputError, RoteError, details_of, problems, validation_problems
from rote.files import HeldFolder
from rote.folders.card import model_card
from rote.folders.destination import check_destination, written_aside
from rote.folders.hub import CARD, REPOSITORY, fetched, is_on_hub, send
from rote.folders.layout import (
    CERTIFICATE,
    CONFIG,
    FORMAT,
    KEYS,
    VOCABULARY,
    WEIGHTS,
    FolderConfig,
    compact,
    config_bytes,
    key_reader,
    opened_model,
    read_config,
    read_vocabulary,
    refuse_larger,
    versions,
    vocabulary_bytes,
)
from rote.folders.on_grids import levels_of, read_from_grids, stored_on_grids
from rote.folders.tensors import TensorFile
from rote.folders.unpacked import FILTERS, LARGEST, PLACES, VALUES, WORD, unpacked_arrays
from rote.measure.certificate import Certificate
from rote.models.grid import Precision, is_grid
from rote.models.model import Model, dtype_named, misfits
from rote.models.spec import Spec
from rote.tasks import Origin
from rote.version import __version__


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
    width = max(1, -(-int(folded.max()).bit_length() // 8)) if len(folded) else 1
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


def _compressed(stream: bytes) -> Tensor:
    return torch.frombuffer(
        bytearray(lzma.compress(stream, format=lzma.FORMAT_RAW, filters=FILTERS)), dtype=torch.uint8
    )


class Pushable:
    """A model with its certificate, which can be published on the Hugging Face Hub."""

    model: Model
    origin: Origin
    provenance: dict[str, Any]
    certificate: Any
    """A `Certificate`; a folder may have none."""

    @typed
    def push_to_hub(
        self, repo: str, *, private: bool | None = None, revision: str | None = None, message: str | None = None
    ) -> str:
        """Write the model folder and a model card into the repository `repo` of the Hub; returns the commit's address.

        The repository is created where it is missing; `private=None` is your account's default. The card, `README.md`,
        is written from the certificate and replaces what was there. `config.json` names the table as you named it. You
        have to be logged in (`hf auth login`). Needs the extra `hf`.

            built.push_to_hub("me/countries")
            rote.load("hf://me/countries", download=True)
        """
        if not REPOSITORY.fullmatch(repo):
            raise InputError(f"`repo={repo}`: must be owner/name")
        files = folder_files(self.model, self.origin, self.provenance, self.certificate)
        files[CARD] = model_card(repo, self.origin, self.provenance, self.certificate).encode("utf-8")
        return send(repo, files, private, revision, message or f"Model folder by rote {__version__}")


@dataclass(frozen=True)
class Folder(Pushable):
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
    with written_aside(path) as aside:
        for name, content in folder_files(model, origin, provenance, certificate).items():
            _write_bytes(aside / name, content)
    return path


def folder_files(
    model: Model, origin: Origin, provenance: dict[str, Any], certificate: Certificate | None
) -> dict[str, bytes]:
    """Every file of a model folder by its name: what `write_folder` writes."""
    stored = None if model.reader is None else model.reader.stored
    config = FolderConfig(
        format=FORMAT,
        spec=model.spec.to_config(),
        dtype=cast(Any, model.precision_name),
        levels=None if model.precision is None else levels_of(model.precision),
        facts=origin,
        provenance=provenance,
        versions=versions(),
        stored_keys=None if stored is None else stored.sizes,
    )
    files = {CONFIG: config_bytes(config), WEIGHTS: safetensors.torch.save(_tensors(model))}
    if stored is not None:
        files[KEYS] = safetensors.numpy.save(stored.data)
    if model.vocabulary is not None:
        files[VOCABULARY] = vocabulary_bytes(model.vocabulary)
    if certificate is not None:
        # Measures that such a task does not have are left out.
        files[CERTIFICATE] = compact(certificate.model_dump(mode="json", exclude_none=True))
    return files


def folder_bytes(model: Model, origin: Origin, provenance: dict[str, Any], certificate: Certificate | None) -> int:
    """Bytes of the complete folder that `write_folder` would write."""
    return sum(map(len, folder_files(model, origin, provenance, certificate).values()))


def weights_bytes(model: Model) -> int:
    """Bytes of a model's tensors as they are written: packed where that pays, else all of them."""
    return sum(tensor.numel() * tensor.element_size() for tensor in _tensors(model).values())


def tensor_bytes(file: bytes) -> int:
    """Bytes of the tensors in a safetensors file, without its header."""
    return len(file) - 8 - int.from_bytes(file[:8], "little")


def written_bytes(path: str | Path) -> int:
    """Bytes of the tensors in a model folder: `weights_bytes` without packing them a second time."""
    return tensor_bytes((Path(path) / WEIGHTS).read_bytes())


def _tensors(model: Model) -> dict[str, Tensor]:
    if model.precision is not None:
        return stored_on_grids(model.weights, model.precision)
    return packed(model.weights) or {name: tensor.contiguous() for name, tensor in model.weights.items()}


@typed
def load(path: str | Path, *, download: bool = False) -> Folder:
    """Read a model folder that `built.save`, `rote build` or `rote train` wrote; no pickle is ever read.

    `hf://owner/name` or `hf://owner/name@revision` is a folder on the Hugging Face Hub (extra `hf`): one in the Hub's
    local cache, unless `download` allows the network.

    >>> import rote, tempfile
    >>> where = tempfile.mkdtemp() + "/model"
    >>> _ = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).save(where)
    >>> rote.load(where).model.ask("capital", "France").answer
    'Paris'
    """
    if not is_on_hub(path):
        return read_folder(path)
    with fetched(str(path), download) as (folder, cached):
        return replace(read_folder(folder), path=cached)


def read_folder(path: str | Path, below: Path | None = None) -> Folder:
    """Read a model folder; tensors must be exactly those its specification asks for.

    With `below`, a folder that is trusted, nothing between it and `path` may be a link.
    """
    path = Path(path)
    with opened_model(path, below) as folder:
        config, spec = read_config(folder)
        vocabulary = read_vocabulary(folder, VOCABULARY)
        if vocabulary is None and config.stored_keys is not None:
            raise InputError(f"{path / VOCABULARY}: missing, though the keys of this model are words; build it again")
        weights, precision = _weights(folder, spec, config)
        reader = key_reader(folder, config, spec, vocabulary)
        try:
            model = Model(spec, weights, vocabulary, reader, precision)
        except RoteError as error:
            raise _misfit(path, error) from None
        return Folder(path, model, config.facts, config.provenance, _certificate(folder))


def _weights(folder: HeldFolder, spec: Spec, config: FolderConfig) -> tuple[dict[str, Tensor], Precision | None]:
    """The tensors of a folder, unpacked where they are packed; none is read before all of them are known to fit."""
    file = TensorFile.of(folder, WEIGHTS)
    if is_grid(config.dtype) or config.levels is not None:
        return read_from_grids(file, spec, config)
    is_packed = PLACES in file.entries
    refuse_larger(spec, file, is_packed)
    if is_packed:
        return unpacked(file.torch(), spec.shapes(), dtype_named(config.dtype), file.where), None
    if differences := misfits(spec, file.outline()):
        raise _misfit(folder.path, problems(f"{spec.architecture} model", differences))
    return file.torch(), None


def _misfit(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: the tensors do not fit the specification. {error}")


def read_certificate(path: str | Path, below: Path | None = None) -> Certificate | None:
    """The certificate of a model folder, where it has one; `below` as in `read_folder`."""
    with opened_model(path, below) as folder:
        return _certificate(folder)


def _certificate(folder: HeldFolder) -> Certificate | None:
    if not folder.has(CERTIFICATE):
        return None
    where, stated = folder.path / CERTIFICATE, folder.json(CERTIFICATE)
    if not isinstance(stated, dict):
        raise InputError(f"{where}: must be what rote writes, names and values; found {type(stated).__name__}")
    try:
        certificate = Certificate(**stated)
    except ValidationError as error:
        wrong = validation_problems(details_of(error), Certificate.model_fields, options=False)
        raise problems(f"{where}: not as rote writes it", wrong) from None
    if wrong := [
        f"{name}={getattr(certificate, name)}: must be at least {least}"
        for name, least in (("parameters", 1), ("facts", 1), ("recalled", 0), ("recallable", 0))
        if getattr(certificate, name) < least
    ]:
        raise problems(f"{where}: not as rote writes it", wrong)
    return certificate


def write_json(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=True) + "\n"
    _write_bytes(path, text.encode("utf-8"))


def _write_bytes(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
