"""Passages of one length, cut from a text: what a probe runs a model on."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from rote.errors import InputError
from rote.lm.language_model import LanguageModel


def standard_text() -> str:
    """English prose that every Python has: the topics of its language reference."""
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics))


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"`text`: {path} cannot be read as text ({error})") from None


def passages(model: LanguageModel, text: str, number: int, tokens: int) -> Tensor:
    """The first `number` passages of `tokens` tokens, marks that the tokenizer puts around a text included."""
    words = text.split()
    sample = " ".join(words[:20])
    (bare,), (marked,) = model.tokens([sample], marks=False), model.tokens([sample])
    if not bare:
        raise InputError(f"`text`: the tokenizer of {model.name} finds no token in {sample[:60]!r}")
    front = next((place for place in range(len(marked)) if marked[place : place + len(bare)] == bare), None)
    if front is None:
        raise InputError(f"{model.name}: its tokenizer changes a text when it marks its ends; is it damaged?")
    before, after = marked[:front], marked[front + len(bare) :]
    inside = tokens - len(before) - len(after)
    if inside < 2:
        raise InputError(f"`tokens`: {tokens} leave no room for text between the tokenizer's marks; give more")
    ids: list[int] = []
    for start in range(0, len(words), 1000):
        if len(ids) >= number * inside:
            break
        ids += model.tokens([" ".join(words[start : start + 1000])], marks=False)[0]
    if len(ids) < number * inside:
        raise InputError(
            f"`text`: {number} passages of {tokens} tokens need {number * inside:,} tokens, given {len(ids):,}; "
            "give a longer text, or fewer `passages`"
        )
    body = torch.tensor(ids[: number * inside]).view(number, inside)
    return torch.cat([torch.tensor(before).expand(number, -1), body, torch.tensor(after).expand(number, -1)], 1).long()
