"""The certificate of a graft: facts, paraphrases and other text, through the stock library."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rote.lm.graft.record import WEIGHTS, Asked, GraftCertificate
from rote.lm.graft.sentences import Sentence
from rote.lm.language_model import LanguageModel
from rote.progress import Progress, Stage

TOKENS_AT_ONCE = 1024


@dataclass(frozen=True)
class Examined:
    """Everything that a graft is asked."""

    sentences: Sequence[Sentence]
    paraphrases: Mapping[str, Sequence[Sentence]]
    after_text: Sequence[Sentence]
    in_chat: Sequence[Sentence] | None
    never: Sequence[Sequence[int]]
    control: Tensor


def examine(
    original: LanguageModel, grafted: LanguageModel, folder: Path, given: Examined, progress: Progress
) -> tuple[GraftCertificate, list[int]]:
    """The certificate, and the facts that are missed."""
    total = 2 * len(given.sentences) + sum(map(len, given.paraphrases.values())) + len(given.after_text)
    total += len(given.in_chat or ()) + len(given.never) + len(given.control)
    with progress.stage("generating from the grafted model", total) as stage:
        right = _right(grafted, given.sentences, stage)
        missed = sorted({s.fact for s, ok in zip(given.sentences, right, strict=True) if not ok})
        before = _right(original, given.sentences, stage)
        rephrased = {text: _right(grafted, asked, stage) for text, asked in given.paraphrases.items()}
        after, chat = (_right(grafted, asked or (), stage) for asked in (given.after_text, given.in_chat))
        opened = _opened(grafted, original, given.never, stage)
        control = _control(original, grafted, given.control, stage)
    certificate = GraftCertificate(
        weights_fingerprint=fingerprint(folder / WEIGHTS),
        facts=len({sentence.fact for sentence in given.sentences}),
        recalled=len({sentence.fact for sentence in given.sentences}) - len(missed),
        sentences=_asked(right), before=_asked(before),
        paraphrases={text: _asked(found) for text, found in rephrased.items()},
        after_text=_asked(after), in_chat=None if given.in_chat is None else _asked(chat), never_stored=_asked(opened),
        **control,
    )  # fmt: skip
    return certificate, missed


def _asked(found: Sequence[bool]) -> Asked:
    return Asked(asked=len(found), seen=sum(found))


def fingerprint(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"


@torch.inference_mode()
def _right(model: LanguageModel, asked: Sequence[Sentence], stage: Stage) -> list[bool]:
    """Whether `generate` writes each answer; prompts of one length go together, so nothing is padded."""
    found = [False] * len(asked)
    for places in _batches([(len(s.prompt), len(s.answer)) for s in asked]):
        prompts = torch.tensor([asked[place].prompt for place in places], device=model.device)
        count = len(asked[places[0]].answer)
        out = model.module.generate(
            input_ids=prompts, attention_mask=torch.ones_like(prompts), do_sample=False, max_new_tokens=count,
            min_new_tokens=count, pad_token_id=0, repetition_penalty=1.0,
        )  # fmt: skip
        for place, row in zip(places, out[:, prompts.shape[1] :].tolist(), strict=True):
            found[place] = tuple(row) == asked[place].answer
        stage.advance(len(places))
    return found


def _batches(sizes: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """Places of equal sizes, in batches."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for place, size in enumerate(sizes):
        alike.setdefault(size, []).append(place)
    return [
        places[start : start + step]
        for size, places in alike.items()
        for step in (max(1, TOKENS_AT_ONCE // sum(size)),)
        for start in range(0, len(places), step)
    ]


def _opened(
    grafted: LanguageModel, original: LanguageModel, prompts: Sequence[Sequence[int]], stage: Stage
) -> list[bool]:
    """Whether a gate is open at the end of each prompt."""
    found = [False] * len(prompts)
    watch = _Watch(grafted, original)
    for places in _batches([(len(prompt),) for prompt in prompts]):
        _, changed = watch.run(torch.tensor([list(prompts[place]) for place in places]))
        for place, row in zip(places, changed, strict=True):
            found[place] = bool(row[-1])
        stage.advance(len(places))
    return found


class _Watch:
    """Runs a grafted model and sees where the appended layers change the residual state."""

    def __init__(self, grafted: LanguageModel, original: LanguageModel) -> None:
        self._module = grafted.module
        blocks = _blocks(grafted.module)
        self._first, self._last = blocks[len(_blocks(original.module)) - 1], blocks[-1]

    @torch.inference_mode()
    def run(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Logits, and at which tokens a gate is open."""
        seen: list[Tensor] = []

        def keep(module: Any, given: Any, out: Any) -> None:
            seen.append(out[0] if isinstance(out, tuple) else out)

        handles = [block.register_forward_hook(keep) for block in (self._first, self._last)]
        try:
            logits = self._module(input_ids=ids, use_cache=False).logits
        finally:
            for handle in handles:
                handle.remove()
        return logits, (seen[0] != seen[1]).any(-1)


def _blocks(module: Any) -> Any:
    return module.transformer.h if hasattr(module, "transformer") else module.model.layers


@torch.inference_mode()
def _control(original: LanguageModel, grafted: LanguageModel, passages: Tensor, stage: Stage) -> dict[str, Any]:
    watch = _Watch(grafted, original)
    tokens = opened = changed = 0
    divergence, costs = 0.0, [0.0, 0.0]
    for ids in passages.split(4):
        before = original.module(input_ids=ids, use_cache=False).logits
        after, open_at = watch.run(ids)
        tokens, opened = tokens + open_at.numel(), opened + int(open_at.sum())
        changed += int(((before != after).any(-1) & ~open_at).sum())
        logs = [logits.float().log_softmax(-1) for logits in (before, after)]
        divergence += float((logs[0].exp() * (logs[0] - logs[1])).sum())
        for side, log in enumerate(logs):
            costs[side] -= float(log[:, :-1].gather(2, ids[:, 1:, None]).sum())
        stage.advance(len(ids))
    predicted = passages[:, 1:].numel()
    return {
        "control_open": Asked(asked=tokens, seen=opened),
        "control_changed": Asked(asked=tokens - opened, seen=changed),
        "control_divergence": divergence / tokens,
        "control_perplexity": tuple(math.exp(cost / predicted) for cost in costs),
    }
