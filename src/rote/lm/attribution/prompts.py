"""Prompts of one template in batches of one length, and the role of each token: before the subject, subject, after it.

The tokens that all prompts of a template share at their start are read once; those shared at the end are aligned, so
that a mean over facts is taken at the same word. What lies between is the subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from rote.lm.language_model import LanguageModel, rows_of_cache
from rote.lm.questions import Questions, shared_tokens


@dataclass(frozen=True, eq=False)
class PromptBatch:
    """Prompts of one length, without the tokens that every prompt begins with."""

    places: tuple[int, ...]
    """Which questions of the group they are."""
    tokens: Int[Tensor, "rows tokens"]
    roles: Int[Tensor, " tokens"]
    """For each position its distance from the end, at most `Prompts.after`: that number is the subject. Words before
    the subject that are read with it follow, each with a number of its own."""


@dataclass(frozen=True, eq=False)
class Prompts:
    """The prompts of one template and relation."""

    questions: Questions
    before: int
    """Tokens that all prompts share at their start."""
    after: int
    """Tokens that all prompts share at their end."""
    cache: Any
    """Keys and values of the shared start; none if there is no such start or the model keeps no such cache."""

    @property
    def length_before(self) -> int:
        """Tokens that are read once for all prompts."""
        return 0 if self.cache is None else self.before

    def batches(self, places: Sequence[int], size: int) -> Iterator[PromptBatch]:
        """These questions in batches of one length."""
        lengths: dict[int, list[int]] = {}
        for place in places:
            lengths.setdefault(len(self.questions.prompts[place]), []).append(place)
        for length, group in lengths.items():
            for start in range(0, len(group), size):
                chosen = group[start : start + size]
                tokens = torch.tensor([self.questions.prompts[place][self.length_before :] for place in chosen])
                yield PromptBatch(tuple(chosen), tokens, self._roles(length))

    def _roles(self, length: int) -> Int[Tensor, " tokens"]:
        places = torch.arange(self.length_before, length)
        from_end = (length - 1 - places).clamp(max=self.after)
        return from_end.where(places >= self.before, self.after + 1 + places)

    @property
    def roles(self) -> int:
        """How many roles there are."""
        return self.after + 1 + self.before - self.length_before

    def answers(self, places: Sequence[int]) -> Int[Tensor, " rows"]:
        """The first token of each answer."""
        asked = self.questions
        return torch.tensor([asked.answer_tokens[asked.asked[place]][0] for place in places])

    def run(self, model: LanguageModel, tokens: Int[Tensor, "rows tokens"]) -> Tensor:
        """Logits after each prompt, in float32 or better."""
        tokens = tokens.to(model.device)
        cache = None
        if self.cache is not None:
            cache = rows_of_cache(self.cache, torch.zeros(len(tokens), dtype=torch.long, device=model.device))
        given = model.module(tokens, past_key_values=cache, use_cache=cache is not None, logits_to_keep=1)
        logits = given.logits[:, -1]
        return logits if logits.dtype == torch.float64 else logits.float()


@torch.inference_mode()
def aligned(model: LanguageModel, questions: Questions) -> Prompts:
    """Find what the prompts share at both ends, and read their start once."""
    # One prompt alone shares all of itself; the neutral prompt tells its subject from the rest.
    prompts = list(questions.prompts) if len(set(questions.prompts)) > 1 else [*questions.prompts, questions.neutral]
    before = shared_tokens(prompts)
    shortest = min(len(prompt) for prompt in prompts)
    # At least one token of the subject stays between, and the last token is never read with the start.
    before = min(before, shortest - 1)
    after = shared_tokens([prompt[before:][::-1] for prompt in prompts])
    after = min(after, shortest - before - 1)
    cache = None
    if before:
        given = model.module(torch.tensor([prompts[0][:before]], device=model.device), use_cache=True)
        cache = given.get("past_key_values")
        cache = cache if model.keeps_cache(cache) else None
    return Prompts(questions, before, after, cache)
