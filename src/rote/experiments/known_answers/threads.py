"""Determinism: results do not depend on the number of threads, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from rote.experiments.known_answers.known_answer import KnownAnswer
from rote.models.attention_only import AttentionOnly
from rote.training import native_engine
from rote.training.protocol import EngineName
from rote.training.train import train

PART = "threads"
SPEC = AttentionOnly(vocab=12, context=2, dim=5, head_dim=5, heads=6, scale_scores=True)
STEPS = 60
FACTS = "random:vocab=12,context=2,facts=100,seed=1"


def threads(device: str) -> Iterator[KnownAnswer]:
    """Four models trained in sequence, again, and in parallel: the same weights."""
    names: list[EngineName] = ["native", "torch"] if device == "cpu" and native_engine.lanes() else ["torch"]
    for engine in names:
        alone, again, together = (_weights(engine, device, workers) for workers in (1, 1, 4))
        question = f"{engine} engine: models trained twice, and four at once, that differ in a bit"
        yield KnownAnswer.exactly(
            PART, question, "0 and 0", f"{_differing(alone, again)} and {_differing(alone, together)}"
        )


def _weights(engine: EngineName, device: str, workers: int) -> list[dict[str, torch.Tensor]]:
    trained = train(FACTS, SPEC, seeds=4, steps=STEPS, engine=engine, device=device, workers=workers)
    return [model.model.weights for model in trained]


def _differing(first: list[dict[str, torch.Tensor]], second: list[dict[str, torch.Tensor]]) -> int:
    return sum(
        any(not torch.equal(one[name], other[name]) for name in one) for one, other in zip(first, second, strict=True)
    )
