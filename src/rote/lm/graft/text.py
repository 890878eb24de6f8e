"""Control text: passages that gates are kept closed on, passages for the certificate, and words before a fact."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from rote.errors import InputError
from rote.lm.graft.host import Host
from rote.lm.language_model import LanguageModel
from rote.lm.passages import passages, read_text, standard_text

LENGTH = 64
KEPT, HELD_OUT = 1024, 208
"""Passages for the solve and for the certificate. Of a short text, half is held out."""
LEAST = 8
LEAD_WORDS = 16


@dataclass(frozen=True)
class ControlText:
    """A text in two parts: one is used in the solve, the other only in the certificate."""

    solved: Tensor
    held_out: Tensor
    leads: tuple[str, ...]
    """Words to put before a sentence in the solve."""
    held_out_lead: str
    words: str
    """All of it, to draw made-up names from."""
    fingerprint: str
    """Of the words that were used."""


def control_text(model: LanguageModel, path: Path | None) -> ControlText:
    """The text at `path`, or English prose that every Python has."""
    words = (standard_text() if path is None else read_text(path)).split()
    length = min(LENGTH, int(getattr(model.module.config, "max_position_embeddings", LENGTH)))
    text = " ".join(words[: (KEPT + HELD_OUT) * length])
    found = len(model.tokens([text], marks=False)[0]) // length - 1
    if found < LEAST:
        raise InputError(
            f"`control`: {path} has {max(found, 0)} passages of {length} tokens; at least {LEAST} are needed"
        )
    whole = passages(model, text, min(found, KEPT + HELD_OUT), length)
    kept = min(KEPT, max(len(whole) - HELD_OUT, len(whole) // 2))
    words = text.split()
    half = len(words) // 2
    return ControlText(
        whole[:kept], whole[kept:], (_lead(words[:half]), _lead(words[half // 2 : half])), _lead(words[half:]),
        text, f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
    )  # fmt: skip


def _lead(words: list[str]) -> str:
    """Some words, as text before a sentence."""
    start = next((at for at, word in enumerate(words) if word[:1].isupper()), 0)
    return " ".join(words[start : start + LEAD_WORDS]).rstrip(".,;:") + ".\n"


def states_of(host: Host, ids: Tensor, each: Callable[[int], None] = lambda number: None) -> Tensor:
    """Residual states at every token, one passage after another."""
    found = []
    for part in ids.split(16):
        found.append(host.residuals(part).flatten(0, 1))
        each(len(part))
    return torch.cat(found)
