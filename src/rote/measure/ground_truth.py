"""Ground truth of a built model: for every fact its logit margin, its direct logit attribution, and the heads that can
hold it.

What a head, an MLP or the direct path adds to a logit is exact (`rote.models.forward.decomposition`), computed in
float64 from the model's own weights. A head *holds* a fact when it can tell the fact from others with the same last
token: its output is not zero, and on this key it attends to some token before the last. A head that attends to the last
token alone adds the same vector whatever stands before it, so no solve could have used it for this fact.

Direct logit attribution of a one-layer model is read off the weights, so it agrees with itself whatever the facts are.
`ablations` are interventions: the model is run again without each head and each MLP.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Integer
from torch import Tensor

from rote.measure.inspection import HeadIndex, transformer_of, without_heads
from rote.measure.matching import for_model, stream_logits
from rote.measure.recall import margins
from rote.models.forward.decomposition import Decomposition, decomposed
from rote.models.model import Model
from rote.progress import SILENT
from rote.tasks import AssociationTask

UNSEEN = 2.0**-24
"""Attention to earlier tokens that float32 does not see beside 1."""
BATCH = 64


@dataclass(frozen=True)
class GroundTruth:
    """Attribution of some facts of a task. The last axis of a part is the answer's logit, then the runner-up's."""

    rows: slice
    nearest: Integer[np.ndarray, " batch"]
    """The runner-up: the best other answer."""
    margins: Float[np.ndarray, " batch"]
    skip: Float[np.ndarray, "batch 2"]
    heads: Float[np.ndarray, "batch layers heads 2"]
    mlps: Float[np.ndarray, "batch layers 2"] | None
    holds: Bool[np.ndarray, "batch layers heads"]


def ground_truth(model: Model, task: AssociationTask) -> Iterator[GroundTruth]:
    """Attribution of every fact, a few at a time."""
    spec = transformer_of(model)
    task, exact = for_model(task, model), model.to("float64")
    for start in range(0, task.facts, BATCH):
        rows = slice(start, min(start + BATCH, task.facts))
        contexts = torch.from_numpy(np.ascontiguousarray(task.contexts[rows])).long()
        answers = torch.from_numpy(task.answers[rows]).long()
        with torch.no_grad():
            yield _apart(exact, decomposed(spec, exact.weights, contexts), rows, answers)


def ablations(model: Model, task: AssociationTask) -> tuple[Float[np.ndarray, "facts layers heads"], np.ndarray | None]:
    """Every fact's logit margin without each head, and without each layer's MLP (facts x layers): zero-ablation."""
    spec = transformer_of(model)
    task, exact = for_model(task, model), model.to("float64")
    heads = [
        [_margins(without_heads(exact, [HeadIndex(layer, head)]), task) for head in range(spec.heads)]
        for layer in range(spec.layers)
    ]
    mlps = None
    if spec.width:
        mlps = np.stack([_margins(_without_mlp(exact, layer), task) for layer in range(spec.layers)], 1)
    return np.array(heads).transpose(2, 0, 1), mlps


def _without_mlp(model: Model, layer: int) -> Model:
    name = f"layers.{layer}.mlp_out"
    return replace(model, weights={**model.weights, name: torch.zeros_like(model.weights[name])})


def _margins(model: Model, task: AssociationTask) -> np.ndarray:
    answers = torch.from_numpy(task.answers).long()
    return np.concatenate(
        [margins(logits, answers[rows]).numpy() for rows, logits in stream_logits(model, task, SILENT)]
    )


def _apart(exact: Model, parts: Decomposition, rows: slice, answers: Integer[Tensor, " batch"]) -> GroundTruth:
    unembed = exact.weights["unembed"]
    logits = parts.stream() @ unembed.T
    nearest = logits.scatter(1, answers[:, None], -float("inf")).argmax(1)
    directions = unembed[answers], unembed[nearest]

    def along(vectors: Float[Tensor, "batch dim"]) -> Tensor:
        return torch.stack([(vectors * direction).sum(1) for direction in directions], -1)

    heads = torch.stack(
        [torch.stack([layer.heads_along(direction) for direction in directions], -1) for layer in parts.layers], 1
    )
    mlps = [along(layer.mlp) for layer in parts.layers if layer.mlp is not None]
    holds = torch.stack(
        [
            (layer.attention[:, :, :-1].sum(-1) > UNSEEN) & (layer.outward != 0).flatten(1).any(1)
            for layer in parts.layers
        ],
        1,
    )
    return GroundTruth(
        rows=rows,
        nearest=nearest.numpy(),
        margins=margins(logits, answers).numpy(),
        skip=along(parts.skip).numpy(),
        heads=heads.numpy(),
        mlps=torch.stack(mlps, 1).numpy() if mlps else None,
        holds=holds.numpy(),
    )
