"""The optional packages that language models need, imported only where they are used."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from rote.errors import InputError
from rote.version import pip_install

INSTALL = pip_install("hf")


def transformers() -> ModuleType:
    """The package `transformers`, kept silent: what it would print about a model, rote says in its own words."""
    if find_spec("transformers") is None:
        raise InputError(f"language models need the package transformers, which is not installed; {INSTALL}")
    # Read when transformers is first imported: its bars would run through rote's own.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    package = import_module("transformers")
    package.logging.set_verbosity_error()
    package.logging.disable_progress_bar()
    return package


def need_gguf(where: str) -> None:
    """Refuse a GGUF file where the package that reads it is missing."""
    if find_spec("gguf") is None:
        raise InputError(f"{where}: GGUF files need the package gguf, which is not installed; {INSTALL}")
