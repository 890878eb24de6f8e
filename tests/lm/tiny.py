"""Tiny language models for tests: random weights, a tokenizer of whole words, saved as a Hugging Face folder."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    PreTrainedTokenizerFast,
)

WORDS = [
    "the", "The", "capital", "of", "this", "country", "is", "called", "and", "what", "key", "red", "green", "blue",
    "Paris", "Rome", "Lima", "Oslo", "New", "York", "France", "Italy", "Peru", "Norway", "America", "dark", "light",
]  # fmt: skip


def tokenizer(words: list[str] | None = None) -> PreTrainedTokenizerFast:
    """One token per word, joined by spaces."""
    vocab = {word: place for place, word in enumerate(["<unk>", "<eos>", *(words or WORDS)])}
    backend = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", eos_token="<eos>")


def save_gpt2(folder: Path, words: list[str] | None = None) -> Path:
    """GPT-2 of about 5,000 parameters."""
    tokens = tokenizer(words)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokens), n_positions=32, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1,
        initializer_range=0.4,
    )  # fmt: skip
    GPT2LMHeadModel(config).eval().save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_mamba(folder: Path) -> Path:
    """A state-space model, which has no attention and no cache of keys and values."""
    tokens = tokenizer()
    torch.manual_seed(0)
    config = MambaConfig(
        vocab_size=len(tokens), hidden_size=8, num_hidden_layers=1, state_size=4, bos_token_id=1, eos_token_id=1,
        pad_token_id=1, initializer_range=0.4,
    )  # fmt: skip
    MambaForCausalLM(config).eval().save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_bert(folder: Path) -> Path:
    """An encoder."""
    tokens = tokenizer()
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32,
    )  # fmt: skip
    BertModel(config).eval().save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_llama(folder: Path) -> Path:
    """A Llama of two layers whose four heads share two of keys and values."""
    tokens = tokenizer()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokens), hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32, bos_token_id=1, eos_token_id=1, initializer_range=0.4,
        tie_word_embeddings=False,
    )  # fmt: skip
    LlamaForCausalLM(config).eval().save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_llama_like(folder: Path, model_type: str = "llama", words: list[str] | None = None, **sizes: int) -> Path:
    """Llama, Mistral or Qwen2 with 8 neurons per layer, so that a graft of more takes several layers."""
    from transformers import AutoConfig, AutoModelForCausalLM

    tokens = tokenizer(words)
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        model_type, vocab_size=len(tokens), hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=64, bos_token_id=1, eos_token_id=1, initializer_range=0.3,
        **{"intermediate_size": 8, "sliding_window": None, **sizes},
    )  # fmt: skip
    AutoModelForCausalLM.from_config(config).eval().save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_wide_gpt2(folder: Path) -> Path:
    """GPT-2 whose states have room for a graft."""
    tokens = tokenizer()
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokens), n_positions=32, n_embd=64, n_layer=2, n_head=2, n_inner=8, bos_token_id=1,
        eos_token_id=1, initializer_range=0.3,
    )  # fmt: skip
    GPT2LMHeadModel(config).eval().save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder
