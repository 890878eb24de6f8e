"""Folders of language models that were damaged: configuration, tokenizer, safetensors, GGUF."""

from __future__ import annotations

import random
import shutil
from functools import cached_property
from pathlib import Path

import rote
from hostile.model_folders import DAMAGES
from hostile.texts import damaged
from hostile.watch import Attempt

FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "generation_config.json")


class LanguageModels:
    """What `rote.load_language_model` is given."""

    name = "language models"

    def __init__(self, store: Path) -> None:
        """Write the small model that is damaged, below `store`, as a plain Llama and as GGUF."""
        capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
        built = rote.build(capitals)
        self._folder = Path(rote.export_model(built, "llama", store / "llama", facts=capitals).path)
        self._exported_gguf = lambda: rote.export_model(built, "gguf", store / "gguf", facts=capitals).path

    @cached_property
    def _gguf(self) -> bytes:
        """Written when it is first wanted, which takes seconds."""
        return next(Path(self._exported_gguf()).glob("*.gguf")).read_bytes()

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        folder = given / "model"
        if rng.random() < 0.2:
            folder.mkdir()
            (folder / "model.gguf").write_bytes(damaged(self._gguf, rng))
        else:
            ignored = shutil.ignore_patterns("source", "certificate*", "export.json")
            shutil.copytree(self._folder, folder, ignore=ignored)
            file = folder / rng.choice([name for name in FILES if (folder / name).exists()])
            rng.choice(DAMAGES)(file, rng)

        def attempt() -> bool:
            try:
                rote.load_language_model(folder)
            except rote.RoteError:
                return False
            return True

        return attempt
