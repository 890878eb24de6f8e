"""The files of a model folder, and what is read of them without tensors."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rote.display import number
from rote.errors import InputError, details_of, problems, validation_problems
from rote.files import CODE, WORDS, HeldFolder, held, packed_xz
from rote.folders.tensors import TensorFile
from rote.models import Spec, spec_from_config
from rote.models.grid import GridName
from rote.models.spec import Dtype
from rote.tasks.change import MOST_CHANGES
from rote.tasks.key_reader import KeyReader
from rote.tasks.key_set import KeySet, KeySetSizes
from rote.tasks.origin import Origin
from rote.tasks.vocabulary import Vocabulary
from rote.version import __version__

FORMAT = 3
CONFIG, WEIGHTS, VOCABULARY, CERTIFICATE, KEYS = (
    "config.json",
    "model.safetensors",
    "vocab.json.xz",
    "certificate.json",
    "keys.safetensors",
)

MANIFEST, SOURCE = "export.json", "source"
"""In an exported folder: what it is, and the model folder that it was made from."""

PICKLES = (".pt", ".pth", ".bin", ".pkl", ".ckpt")


class FolderConfig(BaseModel):
    """`config.json` of a model folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    spec: dict[str, Any]
    dtype: Dtype | GridName
    levels: dict[str, int] | None = None
    """Levels of every tensor, where they are packed integers (`rote.models.grid`)."""
    facts: Origin = Origin()
    provenance: dict[str, Any] = {}
    """How the model was made: what its maker says of it."""
    versions: dict[str, str] = {}
    stored_keys: KeySetSizes | None = None
    """What the bytes of `keys.safetensors` mean, where the folder has that file."""


def versions() -> dict[str, str]:
    """What a result depends on besides its seed. A size is known without torch, so that torch may be missing."""
    try:
        torch = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        torch = "none"
    return {"rote": __version__, "torch": torch, "python": platform.python_version()}


def config_bytes(config: FolderConfig) -> bytes:
    """`config.json`; what a folder does not state is left out."""
    stated = config.model_dump(mode="json")
    stated["facts"] = config.facts.model_dump(mode="json", exclude_defaults=True)
    return compact({name: value for name, value in stated.items() if value is not None})


def vocabulary_bytes(vocabulary: Vocabulary) -> bytes:
    """`vocab.json.xz`: the tokens in the order of their ids."""
    return packed_xz(compact(list(vocabulary.tokens)))


def compact(content: Any) -> bytes:
    """JSON as it is written into model folders."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=True) + "\n"
    return text.encode("utf-8")


def is_export(path: Path) -> bool:
    """Whether a folder is in another tool's format, written by an export."""
    return os.path.lexists(path / MANIFEST)


def source_of(path: Path) -> Path:
    """The model folder behind a path: the folder itself, or what an exported folder was made from."""
    return path / SOURCE if is_export(path) else path


def read_config(folder: HeldFolder) -> tuple[FolderConfig, Spec]:
    """The configuration of a model folder of this format, and the specification in it."""
    _refuse_other_folders(folder)
    where = str(folder.path / CONFIG)
    content = folder.json(CONFIG)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{where}: format is not {FORMAT}; written by another version, or not by rote")
    facts = content.get("facts")
    changes = facts.get("changes") if isinstance(facts, dict) else None
    if isinstance(changes, list) and len(changes) > MOST_CHANGES:
        raise InputError(f"{where}: records {len(changes):,} changes of its facts; at most {MOST_CHANGES:,} are read")
    spec = spec_from_config(content.get("spec"), where)
    try:
        return FolderConfig(**content), spec
    except ValidationError as error:
        wrong = validation_problems(details_of(error), FolderConfig.model_fields, options=False)
        raise problems(f"{where}: not as rote writes it", wrong) from None


def read_origin(path: str | Path, below: Path | None = None) -> Origin:
    """Where the facts of a model folder came from and how they were read; `below` as in `rote.files.held`."""
    with opened_model(path, below) as folder:
        return read_config(folder)[0].facts


def opened_model(path: str | Path, below: Path | None = None) -> Any:
    """A model folder, held open; what is no folder is rejected by name."""
    _refuse_what_is_no_folder(Path(path))
    return held(path, below)


def _refuse_what_is_no_folder(path: Path) -> None:
    if path.is_dir():
        return
    if not path.is_file():
        raise InputError(f"{path}: there is no such model folder; check the path (now in {Path.cwd()})")
    with held(path.parent) as parent, parent.opened(path.name, CODE.unlimited) as descriptor:
        head = os.pread(descriptor, 4, 0)
    # A pickle starts with \x80, and torch.save writes a zip around one.
    if head[:1] == b"\x80" or head[:2] == b"PK":
        raise InputError(
            f"{path}: looks like a pickle, which can run any code when loaded; rote never reads one. "
            "Give a model folder with config.json and model.safetensors"
        )
    raise InputError(f"{path}: is a file; give a model folder")


def _refuse_other_folders(folder: HeldFolder) -> None:
    missing = [name for name in (CONFIG, WEIGHTS) if not folder.has(name)]
    if missing:
        pickles = [name for name in folder.names() if Path(name).suffix in PICKLES]
        hint = f" (it has {pickles[0]}, a pickle, which rote never reads)" if pickles else ""
        raise InputError(f"{folder.path}: not a rote model folder, {' and '.join(missing)} missing{hint}")


MOST_TIMES, SMALL_UNPACKED = 256, 2**24
"""Packed weights unpack to at most so many times their file in float64, or so many bytes: those that rote packs to 40
to 70 times."""
MOST_LAYERS = 1024
"""Layers of a specification whose tensors are packed, so that their number does not tell."""
LONGEST_CONTEXT = 2**16
"""Context up to which a specification needs no tensor that is as long."""


def read_vocabulary(folder: HeldFolder, name: str) -> Vocabulary | None:
    """The tokens in a file of a folder, where it has that file."""
    if not folder.has(name):
        return None
    tokens = folder.json(name, WORDS)
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise InputError(f"{folder.path / name}: must be a list of tokens")
    return Vocabulary(tokens)


def refuse_larger(spec: Spec, file: TensorFile, is_packed: bool = False) -> None:
    """Reject a specification that asks for more than its tensor file can hold, before anything is made of it."""
    most = max(SMALL_UNPACKED, MOST_TIMES * file.bytes) // 8 if is_packed else file.numbers
    if is_packed and spec.parameters() > most:
        raise InputError(
            f"{file.where}: {file.bytes:,} bytes of packed weights unpack to {most:,} parameters at most, but the "
            f"specification has {number(spec.parameters())}; is the file whole?"
        )
    for name, largest in (("layers", max(MOST_LAYERS, len(file.entries))), ("context", max(LONGEST_CONTEXT, most))):
        size = getattr(spec, name, None)
        if isinstance(size, int) and size > largest:
            raise InputError(
                f"{file.where}: the specification has {name} {number(size)}, its tensors are for {largest:,} at most"
            )


def key_reader(folder: HeldFolder, config: FolderConfig, spec: Spec, vocabulary: Vocabulary | None) -> KeyReader | None:
    """How the model's keys are read, with the set of those that were stored where the folder has one."""
    if vocabulary is None or spec.reads != "tokens":
        return None
    stored = None
    if config.stored_keys is not None:
        file = TensorFile.of(folder, KEYS)
        stored = KeySet.read(config.stored_keys, file.numpy(), file.where)
    return KeyReader(vocabulary, spec.context, config.facts.reading, config.facts.key_columns, stored)
