"""The certificate of a graft: facts, paraphrases and other text, through the stock library."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rote.lm.graft.parts import NOTHING_KEPT, Parts
from rote.lm.graft.record import WEIGHTS, Asked, GraftCertificate
from rote.lm.graft.sentences import Sentence
from rote.lm.language_model import LanguageModel, transformers
from rote.progress import Progress, Stage

TOKENS_AT_ONCE = 1024
MOST_ENDS = 64
"""Tokens that end a text."""


@dataclass(frozen=True)
class Examined:
    """Everything that a graft is asked."""

    sentences: Sequence[Sentence]
    paraphrases: Mapping[str, Sequence[Sentence]]
    after_text: Sequence[Sentence]
    in_chat: Sequence[Sentence] | None
    never: Sequence[Sequence[int]]
    similar: Sequence[Sequence[int]]
    control: Tensor


def examine(
    original: LanguageModel,
    grafted: LanguageModel,
    folder: Path,
    given: Examined,
    before: Sequence[bool],
    progress: Progress,
    parts: Parts = NOTHING_KEPT,
) -> tuple[GraftCertificate, list[int]]:
    """The certificate, and the facts that are missed. `before`: which sentences the original says."""
    total = len(given.sentences) + sum(map(len, given.paraphrases.values())) + len(given.after_text)
    total += len(given.in_chat or ()) + len(given.never) + len(given.similar) + len(given.control)
    with progress.stage("generating from the grafted model", total) as stage:
        right = answered(grafted, given.sentences, stage, parts, "stored")
        missed = sorted({s.fact for s, ok in zip(given.sentences, right, strict=True) if not ok})
        rephrased = {
            text: answered(grafted, asked, stage, parts, f"paraphrase-{number}")
            for number, (text, asked) in enumerate(given.paraphrases.items())
        }
        after = answered(grafted, given.after_text, stage, parts, "after")
        chat = answered(grafted, given.in_chat or (), stage, parts, "chat")
        opened = parts("never", lambda: _opened(grafted, original, given.never, stage))
        alike = parts("similar", lambda: _opened(grafted, original, given.similar, stage))
        control = _control(original, grafted, given.control, stage, parts)
    certificate = GraftCertificate(
        weights_fingerprint=fingerprint(folder / WEIGHTS),
        facts=len({sentence.fact for sentence in given.sentences}),
        recalled=len({sentence.fact for sentence in given.sentences}) - len(missed),
        sentences=_asked(right), before=_asked(before),
        paraphrases={text: _asked(found) for text, found in rephrased.items()},
        after_text=_asked(after), in_chat=None if given.in_chat is None else _asked(chat), never_stored=_asked(opened),
        similar_subjects=_asked(alike),
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
def answered(
    model: LanguageModel, asked: Sequence[Sentence], stage: Stage, parts: Parts = NOTHING_KEPT, name: str = ""
) -> list[bool]:
    """Whether `generate` writes each answer; prompts of one length go together, so nothing is padded.

    Answers of a batch may differ in length: the longest is generated, and of the others what follows is not read.
    """
    found = [False] * len(asked)
    batches = _batches([len(s.prompt) for s in asked], [len(s.answer) for s in asked])
    for number, places in enumerate(batches):
        batch = [asked[place] for place in places]
        rows = parts(f"{name}-{number}", lambda batch=batch: _generated(model, batch))
        for place, row in zip(places, rows, strict=True):
            found[place] = tuple(row[: len(asked[place].answer)]) == asked[place].answer
        stage.advance(len(places))
    return found


def _generated(model: LanguageModel, batch: Sequence[Sentence]) -> list[list[int]]:
    """The tokens that `generate` writes after prompts of one length."""
    prompts = torch.tensor([sentence.prompt for sentence in batch], device=model.device)
    count = max(len(sentence.answer) for sentence in batch)
    with _greedy(model) as how:
        how.max_new_tokens = how.min_new_tokens = count
        out = model.module.generate(input_ids=prompts, attention_mask=torch.ones_like(prompts), generation_config=how)
    return out[:, prompts.shape[1] :].tolist()


@contextmanager
def _greedy(model: LanguageModel) -> Iterator[Any]:
    """Settings for greedy generation. Of the folder's own only the end mark is kept. The others are put away: beams,
    samples and processors that it names would be used where these settings say nothing."""
    own = getattr(model.module, "generation_config", None)
    plain = transformers().GenerationConfig
    end = getattr(own, "eos_token_id", None)
    ends = end if isinstance(end, list) else [end]
    known = len(ends) <= MOST_ENDS and all(isinstance(one, int) for one in ends)
    model.module.generation_config = plain()
    try:
        yield plain(do_sample=False, pad_token_id=0, eos_token_id=end if known else None)
    finally:
        model.module.generation_config = own


def _batches(prompts: Sequence[int], answers: Sequence[int]) -> list[list[int]]:
    """Places of equal prompt lengths, in batches, short answers first."""
    alike: dict[int, list[int]] = {}
    for place, length in enumerate(prompts):
        alike.setdefault(length, []).append(place)
    batches = []
    for length, places in alike.items():
        places.sort(key=answers.__getitem__)
        while places:
            step = max(1, TOKENS_AT_ONCE // (length + answers[places[-1]]))
            batches.append(places[:step])
            del places[:step]
    return batches


def _opened(
    grafted: LanguageModel, original: LanguageModel, prompts: Sequence[Sequence[int]], stage: Stage
) -> list[bool]:
    """Whether a gate is open at the end of each prompt."""
    found = [False] * len(prompts)
    watch = Watch(grafted, original)
    for places in _batches([len(prompt) for prompt in prompts], [0] * len(prompts)):
        _, changed = watch.run(torch.tensor([list(prompts[place]) for place in places]))
        for place, row in zip(places, changed, strict=True):
            found[place] = bool(row[-1])
        stage.advance(len(places))
    return found


class Watch:
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
def _control(
    original: LanguageModel, grafted: LanguageModel, passages: Tensor, stage: Stage, parts: Parts
) -> dict[str, Any]:
    watch = Watch(grafted, original)
    sums = [0.0] * 6
    for number, ids in enumerate(passages.split(4)):
        found = parts(f"control-{number}", lambda ids=ids: _passages(original, watch, ids))
        sums = [before + more for before, more in zip(sums, found, strict=True)]
        stage.advance(len(ids))
    tokens, opened, changed, divergence, *costs = sums
    predicted = passages[:, 1:].numel()
    return {
        "control_open": Asked(asked=int(tokens), seen=int(opened)),
        "control_changed": Asked(asked=int(tokens - opened), seen=int(changed)),
        "control_divergence": divergence / tokens,
        "control_perplexity": tuple(math.exp(cost / predicted) for cost in costs),
    }


def _passages(original: LanguageModel, watch: Watch, ids: Tensor) -> list[float]:
    """Tokens, those with an open gate, others with a changed logit, divergence, and both models' nats."""
    before = original.module(input_ids=ids, use_cache=False).logits
    after, open_at = watch.run(ids)
    changed = int(((before != after).any(-1) & ~open_at).sum())
    logs = [logits.float().log_softmax(-1) for logits in (before, after)]
    divergence = float((logs[0].exp() * (logs[0] - logs[1])).sum())
    costs = [-float(log[:, :-1].gather(2, ids[:, 1:, None]).sum()) for log in logs]
    return [open_at.numel(), int(open_at.sum()), changed, divergence, *costs]
