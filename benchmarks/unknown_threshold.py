"""A threshold row of W_U against sampled unknown keys: which share of made-up product codes is called unknown?

    python benchmarks/unknown_threshold.py

500 codes such as AA-01234. A model with a multiple of the features that its facts take is given one more dimension,
which is constant, and a row `unknown` that reads it alone. Its logit is set a hundredth below the smallest that any
stored answer has, so that every fact stays recalled; no made-up key is looked at. The figures are in docs/precision.md.
"""

from __future__ import annotations

import numpy as np
import torch

import rote
from rote.constructions.dana2025.gated_adds import with_coordinate
from rote.measure.abstention import STATED_SEED, abstention
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model
from rote.tasks import AssociationTask
from rote.tasks.unknown import UNKNOWN
from rote.tasks.vocabulary import Vocabulary

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWX"


def product_codes(count: int, seed: int) -> dict[str, str]:
    rng = np.random.default_rng(seed)
    codes: dict[str, str] = {}
    while len(codes) < count:
        letters = "".join(LETTERS[each] for each in rng.integers(24, size=2))
        codes[f"{letters}-{rng.integers(100_000):05d}"] = f"class{rng.integers(20)}"
    return codes


def with_threshold(model: Model, task: AssociationTask) -> Model:
    """The same numbers, with a constant dimension and an answer `unknown` of constant logit."""
    spec = model.spec
    if not isinstance(spec, AttentionOnly) or model.vocabulary is None:
        raise TypeError("a threshold is given to attention-only models with a vocabulary")
    answers = torch.from_numpy(task.answers).long()
    logits = torch.cat(list(model.logits_in_parts(task.contexts)))
    level = 0.99 * float(logits.gather(1, answers[:, None]).min())
    wide = with_coordinate(Model(spec, dict(model.weights), model.vocabulary), spec)
    weights = {name: torch.nn.functional.pad(wide.weights[name], (0, 0, 0, 1)) for name in ("tokens", "unembed")}
    weights["unembed"][-1, -1] = level
    grown = wide.spec.model_copy(update={"vocab": spec.vocab + 1})
    return Model(grown, {**wide.weights, **weights}, Vocabulary([*model.vocabulary.tokens, UNKNOWN]))


def main() -> None:
    torch.set_num_threads(1)
    for seed in (0, 1, 2):
        task = rote.facts(product_codes(500, seed), keys="letters")
        fewest = rote.build(task, "dana2025.theorem1", dtype="int8")
        sizes = {name: getattr(fewest.model.spec, name) for name in ("dim", "head_dim")}
        for times in (1, 2, 4, 6):
            heads = times * fewest.model.spec.heads
            built = rote.build(task, "dana2025.theorem1", dtype="int8", heads=heads, **sizes)
            model = with_threshold(built.model, task)
            named = task.in_vocabulary(model.vocabulary) if model.vocabulary else task
            seen = abstention(model, named, 10_000, STATED_SEED)
            recalled = rote.recall(model, named).recalled
            print(f"seed {seed}, {times} times the heads: {recalled} of {task.facts} recalled, int8 weights of "
                  f"{built.model.bytes:,} bytes before the row, {seen.unknown:,} of {seen.asked:,} unknown, "
                  f"{seen.interval.low:.4f} to {seen.interval.high:.4f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
