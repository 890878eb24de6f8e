"""Hugging Face checkpoints on disk, written without their library and run by it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import safetensors.torch
import torch
from torch import Tensor

from rote.export.common.temperature import gain_for
from rote.export.requirement import Requirement
from rote.export.runtime import BATCH, Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest
from rote.models.attention_only import Transformer
from rote.models.spec import FORWARD_FLOATS, rows_within

TRANSFORMERS = (
    Requirement("transformers", "transformers", "5.0"),
    Requirement("tokenizers", "tokenizers", "0.21"),
    Requirement("torch", "torch", "2.7"),
)


def write_checkpoint(
    folder: Path, config: dict[str, Any], state: dict[str, Tensor], end: int, longest: int = 1
) -> None:
    """`config.json`, `generation_config.json` and `model.safetensors`; generates `longest` tokens by default."""
    generation = {"eos_token_id": end, "pad_token_id": end, "do_sample": False, "max_new_tokens": longest}
    _write_json(folder / "config.json", {**config, "eos_token_id": end, "pad_token_id": end, "bos_token_id": None})
    _write_json(folder / "generation_config.json", generation)
    tensors = {name: tensor.contiguous() for name, tensor in state.items()}
    (folder / "model.safetensors").write_bytes(safetensors.torch.save(tensors, {"format": "pt"}))


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


@contextmanager
def _without_bars() -> Iterator[None]:
    """transformers shows a bar for twelve tensors."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


class CheckpointRuntime(Runtime):
    """A folder as `AutoModelForCausalLM` and `AutoTokenizer` load it, offline and without any code of the folder's."""

    samples: ClassVar[bool] = True
    """Whether answers are sampled at temperature 1, where a gain that is too small would show. They are not where the
    gain was given and makes some answer less than certain, such as a guess for a key that was never stored."""
    shipped_code: bool = False
    """Whether the model is of rote's own architectures, whose code `rote.export.shipped` has."""

    def __init__(self, folder: Path, subject: ExportSubject, manifest: Manifest, versions: dict[str, str]) -> None:
        from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

        loader: Any = AutoModelForCausalLM
        if self.shipped_code:
            loader = import_module("rote.export.shipped.modeling_rote").RoteForCausalLM
        how = {"local_files_only": True, "trust_remote_code": False, "use_safetensors": True}
        with _without_bars():
            self.model: Any = loader.from_pretrained(folder, dtype="auto", **how).eval()
            self.tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
        words = subject.answer_words(manifest.places)
        self.context, self.longest = subject.spelling.context, words.longest + 1 if words else 1
        self.versions, self.gain = versions, manifest.gain
        self.sampled = self.samples and manifest.gain >= gain_for(replace(subject, gain=None))
        self.places = manifest.ids(len(subject.spelling.tokens))
        self.dtype = manifest.format or str(self.model.dtype).removeprefix("torch.")
        self.cache_dtype = manifest.cache
        self.parameters = sum(parameter.numel() for parameter in self.model.parameters())
        self.vocab = int(self.model.config.vocab_size)
        # Queries, keys and values of all heads at all places stand in memory, some of them twice.
        spec = subject.model.spec
        heads = spec.heads * max(1, spec.head_dim) if isinstance(spec, Transformer) else 1
        self.rows = min(BATCH, rows_within(FORWARD_FLOATS, 8 * self.context * heads))

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer(list(texts))["input_ids"]

    def words(self, tokens: Sequence[int]) -> list[str]:
        return self.tokenizer.batch_decode([[token] for token in tokens])

    def logits(self, ids: Tensor) -> Tensor:
        return self.model(input_ids=ids, **self._cache()).logits[:, -1]

    def _cache(self) -> dict[str, Any]:
        """A new cache of the given dtype; the library makes its own where that is the weights'."""
        return {"past_key_values": half_cache()} if self.cache_dtype == "float16" else {}

    @torch.no_grad()
    def generated(self, texts: Sequence[str]) -> list[str]:
        """What `generate` writes after each text."""
        inputs = self.tokenizer(list(texts), return_tensors="pt", padding=True, padding_side="left")
        how = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0} if self.sampled else {}
        with torch.random.fork_rng():
            torch.manual_seed(0)
            rows = self.model.generate(**inputs, **how, **self._cache(), max_new_tokens=self.longest)
        written = rows[:, inputs["input_ids"].shape[1] :]
        if self.longest > 1:
            # An answer that does not end is none.
            ends = (written == self.tokenizer.eos_token_id).any(1).tolist()
            texts = self.tokenizer.batch_decode(written, skip_special_tokens=True)
            return [text if end else "" for text, end in zip(texts, ends, strict=True)]
        return self.tokenizer.batch_decode(written)


def half_cache() -> Any:
    """transformers' cache with keys and values kept in float16, and read in the model's own dtype."""
    from transformers import DynamicCache

    class HalfCache(DynamicCache):
        def update(self, key_states: Tensor, value_states: Tensor, *rest: Any, **more: Any) -> tuple[Tensor, Tensor]:
            keys, values = super().update(key_states.half(), value_states.half(), *rest, **more)
            return keys.to(key_states.dtype), values.to(value_states.dtype)

    return HalfCache()
