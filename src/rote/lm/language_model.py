"""A loaded language model: text in and out, next-token logits, its number of parameters, the packages it needs.

Reading resumes from a *state*: the prompts' keys and values where the model keeps such a cache, else the prompts
themselves, which are then read again. Prompts of one state have the same number of tokens, so nothing is ever padded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rote.errors import InputError, cut
from rote.panics import is_panic, quiet
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
    """Refuse a GGUF file where the package that reads it is missing; make its reader quick, and its bar silent."""
    if find_spec("gguf") is None:
        raise InputError(f"{where}: GGUF files need the package gguf, which is not installed; {INSTALL}")
    reader: Any = import_module("transformers.modeling_gguf_pytorch_utils")
    reader.tqdm = lambda tensors, **shown: tensors
    package: Any = import_module("gguf")
    if not hasattr(package.GGUFReader, "mapped"):
        package.GGUFReader = _plain(package.GGUFReader)


def _plain(reader: type[Any]) -> type[Any]:
    """A reader of GGUF files that takes parts of a plain array: those of a memory map take most of its time."""

    class PlainReader(reader):
        mapped: Any

        @property
        def data(self) -> Any:
            return self.mapped

        @data.setter
        def data(self, mapped: Any) -> None:
            self.mapped = mapped.view(np.ndarray)

    PlainReader.mapped = None
    return PlainReader


@dataclass(frozen=True)
class PromptState:
    """What a model has read, one row per prompt."""

    ids: Tensor
    """Every token so far (rows x tokens)."""
    cache: Any
    """Keys and values of those tokens; none where the model keeps no such cache."""


@dataclass(frozen=True)
class ParameterCount:
    """What is counted: every number in the module's parameters, tied ones once.

    Embeddings are the tables looked up by token or by position. An unembedding tied to one goes with it, one of its
    own does not.
    """

    total: int
    embeddings: int

    @property
    def rest(self) -> int:
        return self.total - self.embeddings


def count_parameters(module: nn.Module) -> ParameterCount:
    """The parameters of any module; `parameters()` gives shared tensors once."""
    tables = {
        id(weight): weight.numel()
        for part in module.modules()
        if isinstance(part, nn.Embedding)
        for weight in part.parameters(recurse=False)
    }
    return ParameterCount(sum(weight.numel() for weight in module.parameters()), sum(tables.values()))


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A causal language model or an encoder, with its tokenizer."""

    name: str
    module: Any
    tokenizer: Any
    kind: Literal["causal", "encoder"]

    @property
    def parameters(self) -> ParameterCount:
        return count_parameters(self.module)

    @property
    def device(self) -> torch.device:
        return next(self.module.parameters()).device

    @property
    def dtype_name(self) -> str:
        return str(next(self.module.parameters()).dtype).removeprefix("torch.")

    def need_causal(self, purpose: str) -> None:
        if self.kind != "causal":
            raise InputError(
                f"{self.name}: {type(self.module).__name__} is an encoder and predicts no next token, which {purpose} "
                "asks for; give a causal language model"
            )

    def encode(self, texts: list[str]) -> list[list[int]]:
        """Tokens of each text as a prompt: what the tokenizer puts in front stays, an end mark behind does not."""
        if not texts:
            return []
        end = self.tokenizer.eos_token_id
        return [ids[:-1] if len(ids) > 1 and ids[-1] == end else ids for ids in self.tokens(texts)]

    def tokens(self, texts: list[str], marks: bool = True) -> list[list[int]]:
        """Tokens of each text, with the marks that the tokenizer puts around it or without; each has an embedding."""
        try:
            with quiet():
                found = self.tokenizer(texts, add_special_tokens=marks, return_attention_mask=False)["input_ids"]
        except BaseException as error:
            # A pattern without end is given up by the package tokenizers in a panic.
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            raise InputError(f"{self.name}: its tokenizer cannot be used ({cut(error)}); is it damaged?") from None
        most = self.module.get_input_embeddings().weight.shape[0]
        outside = next((token for ids in found for token in ids if not 0 <= token < most), None)
        if outside is not None:
            raise InputError(
                f"{self.name}: its tokenizer has a token {outside}, and the model {most:,}; is it damaged?"
            )
        return found

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids)

    @torch.inference_mode()
    def read(
        self, prompts: Int[Tensor, "rows tokens"], shared: int = 0
    ) -> tuple[PromptState, Float[Tensor, "rows vocab"]]:
        """Read prompts whose first `shared` tokens are the same, once for all; the logits after each prompt."""
        prompts = prompts.to(self.device)
        cache = None
        if 0 < shared < prompts.shape[1]:
            cache = self.module(prompts[:1, :shared], use_cache=True).get("past_key_values")
        if not self.keeps_cache(cache):
            shared, cache = 0, None
        else:
            cache = rows_of_cache(cache, torch.zeros(len(prompts), dtype=torch.long, device=self.device))
        out = self.module(prompts[:, shared:], past_key_values=cache, use_cache=True)
        kept = out.get("past_key_values")
        return PromptState(prompts, kept if self.keeps_cache(kept) else None), out.logits[:, -1].float()

    @torch.inference_mode()
    def extend(
        self, state: PromptState, rows: Int[Tensor, " chosen"], ids: Int[Tensor, "chosen more"]
    ) -> tuple[PromptState, Float[Tensor, "chosen more vocab"]]:
        """Read further tokens after some of the prompts; the logits after each of them. The state itself stays."""
        rows, ids = rows.to(self.device), ids.to(self.device)
        whole = torch.cat([state.ids[rows], ids], 1)
        if state.cache is None:
            logits = self.module(whole, use_cache=False).logits[:, state.ids.shape[1] :]
            return PromptState(whole, None), logits.float()
        out = self.module(ids, past_key_values=rows_of_cache(state.cache, rows), use_cache=True)
        return PromptState(whole, out.past_key_values), out.logits.float()

    def keeps_cache(self, cache: Any) -> bool:
        """Whether this is a cache of keys and values; that of a state-space model is another kind."""
        from transformers import DynamicCache
        from transformers.cache_utils import DynamicLayer

        return isinstance(cache, DynamicCache) and all(type(layer) is DynamicLayer for layer in cache.layers)


def rows_of_cache(cache: Any, rows: Tensor) -> Any:
    """The keys and values of some rows, in a cache of their own."""
    from transformers import DynamicCache

    chosen = DynamicCache()
    for number, layer in enumerate(cache.layers):
        chosen.update(layer.keys[rows], layer.values[rows], number)
    return chosen
