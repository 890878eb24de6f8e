"""Does the theory of memorization by attention describe what the model does? Layer by layer, at the last token.

Theorem 1 of Dana et al.: one attention layer stores as many facts as the rank of its features, heads' values beside the
residual stream, at most H k + d. Measured here, for each layer and the facts of a relation:

- ranks of the features, of the attention output alone and of the MLP output alone, against that guarantee;
- saturation: heads whose last token gives one token more than 0.99 of its attention;
- what a linear readout of one output alone *could* hold (a least-squares solve on all facts), what the model's own
  unembedding *does* read from it, and what a ridge readout fitted on other facts says of held-out ones, with shuffled
  answers as control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rote.lm.attribution.asking import asked_prompts
from rote.lm.attribution.components import recording
from rote.lm.language_model import LanguageModel

FOLDS = 5
RIDGE = 0.1
"""Relative to the mean square of the features."""
SATURATED = 0.99
TOLERANCE = 1e-4
"""Of the largest singular value; below it a direction does not count. Errors of these float32 runs are smaller."""


@dataclass(frozen=True)
class LayerTheory:
    """One layer's outputs at the last token, over the facts of one relation."""

    layer: int
    facts: int
    guarantee: int
    """H k + d."""
    feature_rank: int
    attention_rank: int
    mlp_rank: int
    saturated: float
    attention_could: int
    mlp_could: int
    attention_does: int
    mlp_does: int
    attention_held_out: int
    mlp_held_out: int
    attention_shuffled: int
    mlp_shuffled: int


@torch.inference_mode()
def outputs(model: LanguageModel, relation: str, template: str) -> dict[str, np.ndarray]:
    """Per fact and layer: heads' values, attention and MLP outputs, residual stream, largest attention weights."""
    parts, (run,) = asked_prompts(model, "countries", [template], relation=relation)
    prompts = run.prompts
    kept: dict[int, dict[str, np.ndarray]] = {}
    for block in prompts.batches(run.places, 64):
        with recording(parts) as seen:
            logits = prompts.run(model, block.tokens)
        values = torch.stack([layer[:, -1] for layer in seen.values], 1)
        attended = torch.stack([
            torch.einsum("rhk,hkd->rd", layer[:, -1], parts.outward(number)) for number, layer in enumerate(seen.values)
        ], 1)  # fmt: skip
        found = {
            "values": values.flatten(2), "attention": attended, "mlp": torch.stack([x[:, -1] for x in seen.mlps], 1),
            "stream": torch.stack([x[:, -1] for x in seen.inputs], 1),
            "largest": torch.stack([x[:, :, -1].amax(-1) for x in seen.attention], 1),
            "said": logits.argmax(1),
            "subject_mlp": torch.stack([x[:, -1 - prompts.after] for x in seen.mlps], 1),
        }  # fmt: skip
        for row, at in enumerate(block.places):
            kept[at] = {name: tensor[row].numpy() for name, tensor in found.items()}
    order = sorted(kept)
    gathered = {name: np.stack([kept[at][name] for at in order]) for name in kept[order[0]]}
    gathered["answers"] = prompts.answers(order).numpy()
    gathered["unembedding"] = (parts.unembedding.get_parameter("weight") * parts.norm.get_parameter("weight"))[
        np.unique(gathered["answers"])
    ].numpy()
    return gathered


def theory(found: dict[str, np.ndarray]) -> list[LayerTheory]:
    """Every layer of one relation."""
    classes, labels = np.unique(found["answers"], return_inverse=True)
    targets = found["unembedding"].astype(np.float64)
    targets = targets - targets.mean(0)
    shuffled = np.random.default_rng(0).permutation(labels)
    lines = []
    for layer in range(found["stream"].shape[1]):
        values, stream = found["values"][:, layer], found["stream"][:, layer]
        features = np.concatenate([values / _size(values), stream / _size(stream)], 1)
        by = {}
        for kind in ("attention", "mlp"):
            x = found[kind][:, layer].astype(np.float64)
            by[kind] = {
                "rank": rank(x), "could": solved(x, labels, len(classes)),
                "does": int(((x @ targets.T).argmax(1) == labels).sum()),
                "held_out": held_out(x, targets, labels), "shuffled": held_out(x, targets, shuffled),
            }  # fmt: skip
        attention, mlp = by["attention"], by["mlp"]
        lines.append(
            LayerTheory(
                layer,
                len(labels),
                values.shape[1] + stream.shape[1],
                rank(features),
                attention["rank"],
                mlp["rank"],
                float((found["largest"][:, layer] > SATURATED).mean()),
                attention["could"],
                mlp["could"],
                attention["does"],
                mlp["does"],
                attention["held_out"],
                mlp["held_out"],
                attention["shuffled"],
                mlp["shuffled"],
            )
        )
    return lines


def _size(x: np.ndarray) -> float:
    return float(np.sqrt((x.astype(np.float64) ** 2).mean()))


def rank(x: np.ndarray) -> int:
    """Numerical rank."""
    singular = np.linalg.svd(x.astype(np.float64), compute_uv=False)
    return int((singular > TOLERANCE * singular[0]).sum())


def solved(x: np.ndarray, labels: np.ndarray, classes: int) -> int:
    """Facts that the least-squares readout with a bias recalls, fitted on all of them."""
    wide = np.concatenate([x / _size(x), np.ones((len(x), 1))], 1)
    hot = np.eye(classes)[labels]
    found = wide @ (np.linalg.pinv(wide, rcond=TOLERANCE) @ hot)
    best = np.sort(found, 1)
    return int(((found.argmax(1) == labels) & (best[:, -1] > best[:, -2] + 1e-9)).sum())


def held_out(x: np.ndarray, targets: np.ndarray, labels: np.ndarray) -> int:
    """Facts that a ridge readout into the unembedding's directions recalls, each fitted without it."""
    folds = np.random.default_rng(1).permutation(len(labels)) % FOLDS
    right = 0
    for fold in range(FOLDS):
        rest, out = folds != fold, folds == fold
        mean, scale = x[rest].mean(0), _size(x[rest] - x[rest].mean(0))
        inputs, tried = (x[rest] - mean) / scale, (x[out] - mean) / scale
        aims = targets[labels[rest]]
        gram = inputs @ inputs.T + RIDGE * x.shape[1] * np.eye(len(inputs))
        said = tried @ (inputs.T @ np.linalg.solve(gram, aims - aims.mean(0))) + aims.mean(0)
        right += int(((said @ targets.T - (targets**2).sum(1) / 2).argmax(1) == labels[out]).sum())
    return right


def most(lines: Sequence[LayerTheory], name: str) -> tuple[int, int]:
    """The layer with the largest count, and that count."""
    best = max(lines, key=lambda line: getattr(line, name))
    return best.layer, getattr(best, name)
