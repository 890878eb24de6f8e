"""A language model's files, looked at before anything is loaded: what they are, whole or broken, safe or not.

Weights are read from safetensors or GGUF. A pickle can run any code when it is loaded, so rote never reads one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.errors import InputError, listed, problems
from rote.files import WORDS, read_json
from rote.lm.gguf_header import refuse_header
from rote.lm.limits import refuse_config, refuse_large, refuse_others

CONFIG = "config.json"
INDEX, ADAPTER = "model.safetensors.index.json", "adapter_config.json"
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True)
class WeightFiles:
    """A folder with a model in it."""

    folder: Path
    gguf: str | None
    """Name of the GGUF file to load. Default: safetensors weights."""
    config: dict[str, Any]
    """What config.json says; empty for a GGUF file, which carries its own."""

    @property
    def wants_remote_code(self) -> bool:
        """True if the folder brings its own Python code for its model."""
        return bool(self.config.get("auto_map"))


def is_rote_folder(path: Path) -> bool:
    """Whether `path` is a model folder that rote wrote."""
    config = _any_config(path)
    return "spec" in config and "format" in config


def is_hugging_face(path: Path) -> bool:
    """Whether `path` holds a language model: a configuration that names a `model_type`, or a GGUF file."""
    if path.is_dir():
        return "model_type" in _any_config(path) or any(path.glob("*.gguf"))
    return path.is_file() and path.suffix == ".gguf"


def _any_config(path: Path) -> dict[str, Any]:
    """What the configuration at `path` says; nothing where there is none that can be read."""
    if not (path / CONFIG).is_file():
        return {}
    try:
        config = read_json(_real(path / CONFIG))
    except InputError:
        return {}
    return config if isinstance(config, dict) else {}


def weight_files(path: Path, gguf: str | None) -> WeightFiles:
    """What to load from a folder or a GGUF file at `path`; every unreadable file is named."""
    if path.is_dir():
        _refuse_other_than_files(path)
        refuse_large(path)
    if path.is_file():
        if path.suffix != ".gguf":
            raise InputError(f"{path}: is a file; give a model's folder, or a file that ends in .gguf")
        return _gguf(path.parent, path.name)
    if gguf is not None:
        return _gguf(path, gguf)
    if (path / CONFIG).is_file():
        return WeightFiles(path, None, _checked_safetensors(path))
    files = sorted(file.name for file in path.glob("*.gguf"))
    if len(files) == 1:
        return _gguf(path, files[0])
    if files:
        raise InputError(f"{path}: holds {len(files)} GGUF files; name one with `gguf`: {', '.join(files)}")
    raise InputError(f"{path}: no model here, neither {CONFIG} nor a file that ends in .gguf")


def _refuse_other_than_files(folder: Path) -> None:
    """Refuse a folder with a pipe or a device in a file's place, which would be read for ever."""
    strange = sorted(file.name for file in folder.iterdir() if file.exists() and not (file.is_file() or file.is_dir()))
    if strange:
        raise InputError(f"{folder}: {listed(strange)} is no plain file; download the folder again")


def _gguf(folder: Path, name: str) -> WeightFiles:
    path = folder / name
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if head != GGUF_MAGIC:
        raise InputError(f"{path}: is not a GGUF file, its first bytes are {head!r}; download it again")
    refuse_header(path)
    return WeightFiles(folder, name, {})


def _real(path: Path) -> Path:
    """What a path leads to: the cache of the Hub keeps its files elsewhere and links to them."""
    return Path(os.path.realpath(path))


def read_config(path: Path) -> dict[str, Any]:
    config = read_json(_real(path))
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise InputError(f"{path}: says no `model_type`; is this the folder of a Hugging Face model?")
    refuse_config(config, str(path))
    return config


def _refuse_elsewhere(folder: Path, config: dict[str, Any]) -> None:
    """Refuse a folder whose weights are said to be elsewhere: in other folders, or in a model that it adapts."""
    if (folder / ADAPTER).exists():
        raise InputError(f"{folder}: has a configuration and an adapter of another model; remove {ADAPTER}")
    if (folder / INDEX).exists():
        index = read_json(_real(folder / INDEX), WORDS)
        refuse_others(folder, index.get("weight_map") if isinstance(index, dict) else None, str(folder / INDEX))
    if "transformers_weights" in config:
        refuse_others(folder, {"": config["transformers_weights"]}, str(folder / CONFIG))


def _checked_safetensors(folder: Path) -> dict[str, Any]:
    """The configuration of a folder whose safetensors can all be opened."""
    from safetensors import SafetensorError, safe_open

    config = read_config(folder / CONFIG)
    _refuse_elsewhere(folder, config)
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        pickles = sorted(file.name for file in folder.iterdir() if file.suffix in PICKLES)
        hint = (
            f"; it has {pickles[0]}, a pickle, which can run any code when loaded and is never read: "
            "save the model again as safetensors"
            if pickles
            else "; download the folder again"
        )
        raise InputError(f"{folder}: there are no weights, no file that ends in .safetensors{hint}")
    broken = []
    for file in files:
        try:
            with safe_open(file, framework="pt") as tensors:
                tensors.keys()
        except (SafetensorError, OSError) as error:
            broken.append(f"{file.name} cannot be read as safetensors ({error}); download it again")
    if broken:
        raise problems(str(folder), broken)
    return config
