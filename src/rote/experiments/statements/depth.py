"""More layers at equal parameters: bits held by look-up tables' models and by stacked query attention."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from rote.experiments.statements.encoders import Numbers
from rote.models.attention_only import AttentionOnly, Transformer
from rote.models.mlp_transformer import MlpTransformer
from rote.papers.kinds.statement_settings import DeepQueries, DeepTable
from rote.tasks import AssociationTask, Vocabulary
from rote.training.protocol import Protocol, learning_rates
from rote.training.trials import TrainingTrial, train_here

RATES = (5e-3, 2e-2, 4e-2)
"""Peaks of the learning rate of attention-only models, of which the one with the least loss counts."""
MLP_RATES = (2e-2, 4e-2, 8e-2)
"""Those of MLPs, which bear higher ones."""
QUERY_RATES, QUERY_STEPS = (1e-2, 3e-2), 1500
TRAINING = Protocol(name="depth", steps=3000, beta2=0.95)


def table_numbers(cell: DeepTable, seed: int) -> Numbers:
    """Bits that a trained model holds of more facts than fit, by plain cross-entropy."""
    draw = np.random.default_rng(seed)
    keys = draw.choice(cell.vocab**cell.context, cell.facts, replace=False)
    contexts = np.stack(np.unravel_index(keys, (cell.vocab,) * cell.context), 1)
    task = AssociationTask(contexts, draw.integers(cell.vocab, size=cell.facts), Vocabulary.numbered(cell.vocab))
    spec = _spec(cell)
    tried = {
        peak: train_here(TrainingTrial(task, spec, TRAINING.changed(peak=peak), seed))
        for peak in (MLP_RATES if cell.mlp else RATES)
    }
    sound = {peak: trained for peak, trained in tried.items() if not trained.diverged}
    if not sound:
        return {"parameters": spec.parameters(), "bits_per_parameter": 0, "accuracy": 0, "rate": None}
    rate = min(sound, key=lambda peak: sound[peak].loss)
    held = cell.facts * (math.log(cell.vocab) - sound[rate].loss) / math.log(2)
    return {
        "parameters": spec.parameters(),
        "bits_per_parameter": held / spec.parameters(),
        "accuracy": sound[rate].accuracy,
        "rate": rate,
        "cpu_seconds": sound[rate].seconds,
    }


def _spec(cell: DeepTable) -> Transformer:
    """`heads` heads in all, or one per layer and the others' parameters as neurons."""
    sizes = {
        "vocab": cell.vocab, "context": cell.context, "dim": cell.dim, "head_dim": cell.dim, "layers": cell.layers,
        "scale_scores": True,
    }  # fmt: skip
    if not cell.mlp:
        return AttentionOnly(**sizes, heads=cell.heads // cell.layers)
    spare = 4 * cell.dim**2 * (cell.heads - cell.layers)
    return MlpTransformer(**sizes, heads=1, width=round(spare / cell.layers / (2 * cell.dim + 1)))


def query_numbers(cell: DeepQueries, seed: int) -> Numbers:
    """Bits held of random labels of random queries over one shared context."""
    generator = torch.Generator().manual_seed(seed)
    context = torch.randn(cell.context, cell.dim, generator=generator)
    queries = torch.randn(cell.facts, cell.dim, generator=generator)
    labels = torch.randint(cell.classes, (cell.facts,), generator=generator)
    losses = {rate: _fitted(cell, context, queries, labels, seed, rate) for rate in QUERY_RATES}
    rate = min(losses, key=lambda rate: losses[rate][0])
    loss, accuracy = losses[rate]
    parameters = sum(tensor.numel() for tensor in stacked_weights(cell, seed))
    held = cell.facts * (math.log(cell.classes) - loss) / math.log(2)
    return {"parameters": parameters, "bits_per_parameter": held / parameters, "accuracy": accuracy, "rate": rate}


def stacked_weights(cell: DeepQueries, seed: int) -> list[Tensor]:
    """Query, key, value and output of every layer, then the readout, random."""
    generator = torch.Generator().manual_seed(1000 + seed)
    heads, d, k = cell.heads // cell.layers, cell.dim, cell.head_dim
    shapes = [(heads, k, d), (heads, k, d), (heads, 1, d), (heads, d, 1)] * cell.layers + [(cell.classes, d)]
    fans = [d, d, d, heads] * cell.layers + [d]
    return [torch.randn(shape, generator=generator) / math.sqrt(fan) for shape, fan in zip(shapes, fans, strict=True)]


def stacked_logits(weights: list[Tensor], context: Tensor, queries: Tensor) -> Tensor:
    """Layers of query attention: each adds its output to the query that the next layer asks with.

    The readout reads the last layer's output alone, so that one layer is the model of Mahdavi et al. 2024 with one
    value per head and scores divided by sqrt(d).
    """
    *layers, readout = weights
    asked, added = queries, queries
    for query, key, value, output in zip(*[iter(layers)] * 4, strict=True):
        keys = key @ context.T / math.sqrt(context.shape[1])
        pattern = (asked @ query.transpose(1, 2) @ keys).softmax(2)  # heads x examples x n
        added = torch.einsum("hen,nh->eh", pattern, context @ value[:, 0].T) @ output[..., 0]
        asked = asked + added
    return added @ readout.T


def _fitted(
    cell: DeepQueries, context: Tensor, queries: Tensor, labels: Tensor, seed: int, peak: float
) -> tuple[float, float]:
    """Loss in nats and accuracy after Adam on all examples per step."""
    weights = [tensor.requires_grad_() for tensor in stacked_weights(cell, seed)]
    adam = torch.optim.Adam(weights, betas=(0.9, 0.95))
    for rate in learning_rates("cosine", QUERY_STEPS, peak, 0.0, 0.05, 1):
        adam.param_groups[0]["lr"] = float(rate)
        adam.zero_grad()
        functional.cross_entropy(stacked_logits(weights, context, queries), labels).backward()
        adam.step()
    with torch.no_grad():
        last = stacked_logits(weights, context, queries)
        loss = float(functional.cross_entropy(last, labels))
        accuracy = float((last.argmax(1) == labels).float().mean())
    return (loss if math.isfinite(loss) else math.log(cell.classes)), accuracy
